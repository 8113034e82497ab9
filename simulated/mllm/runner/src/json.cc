#include "json.h"

namespace json {
namespace {

constexpr int MAX_DEPTH = 32;

struct Parser {
  Str text, file;
  size_t at = 0;

  [[noreturn]] void wrong(const char *what) { FAIL(file, ": not JSON at byte ", static_cast<u64>(at), ": ", what); }

  char peek() { return at < text.size ? text.at[at] : '\0'; }

  void space() {
    while (at < text.size && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) at++;
  }

  void expect(char c, const char *what) {
    if (peek() != c || at >= text.size) wrong(what);
    at++;
  }

  void word(Str w) {
    if (!text.from(at).starts_with(w)) wrong("an unknown word");
    at += w.size;
  }

  u32 hex4() {
    u32 n = 0;
    for (int i = 0; i < 4; i++, at++) {
      char c = peek();
      u32 digit = c >= '0' && c <= '9' ? u32(c - '0') : c >= 'a' && c <= 'f' ? u32(c - 'a' + 10) : c >= 'A' && c <= 'F' ? u32(c - 'A' + 10) : 16;
      if (digit == 16) wrong("four hexadecimal digits expected after \\u");
      n = n << 4 | digit;
    }
    return n;
  }

  u32 unicode_escape() {
    u32 unit = hex4();
    if (unit >= 0xd800 && unit < 0xdc00 && text.from(at).starts_with("\\u")) {
      size_t before = at;
      at += 2;
      u32 low = hex4();
      if (low >= 0xdc00 && low < 0xe000) return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
      at = before;
    }
    return unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit;  // half a pair stands for nothing
  }

  Str string() {
    expect('"', "a string expected");
    size_t start = at;
    while (at < text.size && peek() != '"' && peek() != '\\') at++;
    if (peek() == '"' && at < text.size) return {text.at + start, at++ - start};  // most strings: as they are in the file
    Text decoded;
    decoded << Str(text.at + start, at - start);
    for (;;) {
      if (at >= text.size) wrong("a string that does not end");
      char c = text.at[at++];
      if (c == '"') return decoded.str();
      if (c != '\\') {
        decoded << c;
        continue;
      }
      char escape = peek();
      at++;
      switch (escape) {
        case '"':
        case '\\':
        case '/': decoded << escape; break;
        case 'b': decoded << '\b'; break;
        case 'f': decoded << '\f'; break;
        case 'n': decoded << '\n'; break;
        case 'r': decoded << '\r'; break;
        case 't': decoded << '\t'; break;
        case 'u': utf8(decoded, unicode_escape()); break;
        default: wrong("an unknown escape");
      }
    }
  }

  void number(Value *v) {
    size_t start = at;
    while (at < text.size && ((peek() >= '0' && peek() <= '9') || peek() == '-' || peek() == '+' || peek() == '.' || peek() == 'e' || peek() == 'E')) at++;
    v->kind = Kind::number;
    v->text = {text.at + start, at - start};
    Str digits = v->text;
    bool negative = digits.size && digits.at[0] == '-';
    if (negative) digits = digits.from(1);
    if (digits.size == 0) wrong("a value expected");
    v->whole = digits.size <= 18;
    for (size_t i = 0; i < digits.size && v->whole; i++) {
      if (digits.at[i] < '0' || digits.at[i] > '9') v->whole = false;
      else v->integer = v->integer * 10 + (digits.at[i] - '0');
    }
    if (negative) v->integer = -v->integer;
  }

  void members(Value *v, char close, int depth) {
    at++;
    const Value **tail = &v->first;
    space();
    if (peek() == close) {
      at++;
      return;
    }
    for (;;) {
      space();
      Str key;
      if (v->kind == Kind::object) {
        key = string();
        space();
        expect(':', "a colon expected");
      }
      Value *member = value(depth + 1);
      member->key = key;
      *tail = member;
      tail = &member->next;
      v->count++;
      space();
      if (peek() == close) break;
      expect(',', "a comma or the end of the list expected");
    }
    at++;
  }

  Value *value(int depth) {
    if (depth > MAX_DEPTH) wrong("nested too deeply");
    space();
    auto v = new_value();
    switch (peek()) {
      case '{':
        v->kind = Kind::object;
        members(v, '}', depth);
        break;
      case '[':
        v->kind = Kind::array;
        members(v, ']', depth);
        break;
      case '"':
        v->kind = Kind::string;
        v->text = string();
        break;
      case 't':
        word("true");
        v->kind = Kind::boolean;
        v->truth = true;
        break;
      case 'f':
        word("false");
        v->kind = Kind::boolean;
        break;
      case 'n': word("null"); break;
      default: number(v);
    }
    return v;
  }

  // Values come in blocks, since take_memory rounds each piece up.
  Value *block = nullptr;
  size_t left = 0;
  Value *new_value() {
    if (left == 0) {
      left = 256;
      block = take<Value>(left);
    }
    left--;
    *block = Value();
    return block++;
  }
};

const char *kind_name(Kind kind) {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "true or false";
    case Kind::number: return "a number";
    case Kind::string: return "a string";
    case Kind::array: return "a list";
    case Kind::object: return "an object";
  }
  return "";
}

}  // namespace

const Value *Value::get(Str name) const {
  if (kind != Kind::object) return nullptr;
  const Value *found = nullptr;
  for (auto v = first; v; v = v->next) {
    if (v->key == name) found = v;  // the last one counts, as in most readers
  }
  return found;
}

const Value *parse(Str text, Str file) {
  Parser parser{text, file};
  const Value *v = parser.value(0);
  parser.space();
  if (parser.at != text.size) parser.wrong("something after the end");
  return v;
}

const Value *need(const Value *object, Str name, Kind kind, Str file) {
  const Value *v = object->get(name);
  if (!v) FAIL(file, ": \"", name, "\" is missing");
  if (v->kind != kind) FAIL(file, ": \"", name, "\" must be ", kind_name(kind));
  return v;
}

i64 need_integer(const Value *object, Str name, i64 least, i64 most, Str file) {
  const Value *v = need(object, name, Kind::number, file);
  if (!v->whole || v->integer < least || v->integer > most)
    FAIL(file, ": \"", name, "\" is ", v->text, ", wanted ", static_cast<u64>(least), "..", static_cast<u64>(most));
  return v->integer;
}

void utf8(Text &out, u32 c) {
  if (c < 0x80) {
    out << static_cast<char>(c);
  } else if (c < 0x800) {
    out << static_cast<char>(0xc0 | c >> 6) << static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out << static_cast<char>(0xe0 | c >> 12) << static_cast<char>(0x80 | (c >> 6 & 63)) << static_cast<char>(0x80 | (c & 63));
  } else {
    out << static_cast<char>(0xf0 | c >> 18) << static_cast<char>(0x80 | (c >> 12 & 63)) << static_cast<char>(0x80 | (c >> 6 & 63))
        << static_cast<char>(0x80 | (c & 63));
  }
}

u32 next_code_point(Str &text) {
  auto byte = [&](size_t i) -> u32 { return i < text.size ? static_cast<u8>(text.at[i]) : 0; };
  u32 c = byte(0), extra = c < 0x80 ? 0 : c < 0xc2 ? 9 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : 9;
  u32 value = extra == 0 ? c : c & (0x3fu >> extra);
  bool good = extra < 9;
  for (u32 i = 1; good && i <= extra; i++) {
    good = (byte(i) & 0xc0) == 0x80;
    value = value << 6 | (byte(i) & 0x3f);
  }
  if (good && ((extra == 2 && value < 0x800) || (extra == 3 && (value < 0x10000 || value > 0x10ffff)) || (value >= 0xd800 && value < 0xe000))) good = false;
  text = text.from(good ? extra + 1 : 1);
  return good ? value : MALFORMED;
}

void quote(Text &out, Str text) {
  out << '"';
  for (bool malformed = false; text.size;) {
    u32 c = next_code_point(text);
    bool again = malformed && c == MALFORMED;
    malformed = c == MALFORMED;
    if (again) continue;
    if (malformed) c = 0xfffd;
    if (c == '"' || c == '\\') out << '\\' << static_cast<char>(c);
    else if (c == '\n') out << "\\n";
    else if (c < 0x20) out << "\\u00" << "0123456789abcdef"[c >> 4] << "0123456789abcdef"[c & 15];
    else utf8(out, c);
  }
  out << '"';
}

}  // namespace json
