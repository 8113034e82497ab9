#include "tokenizer.h"

namespace {

constexpr u32 MAX_ID = 1 << 20;
constexpr size_t MAX_PIECE = 1 << 16;

enum class Class { space, digit, letter, other };

Class class_of(char c) {
  auto b = static_cast<u8>(c);
  if (b == ' ' || (b >= 0x09 && b <= 0x0d)) return Class::space;
  if (b >= '0' && b <= '9') return Class::digit;
  if ((b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z') || b >= 0x80) return Class::letter;
  return Class::other;
}

size_t run_end(Str text, size_t start) {
  size_t end = start + 1;
  while (end < text.size && class_of(text.at[end]) == class_of(text.at[start])) end++;
  return end;
}

// How long the piece at the start of a segment is.
size_t piece_size(Str text) {
  size_t end = run_end(text, 0);
  if (class_of(text.at[0]) != Class::space || end == text.size || text.at[end - 1] != ' ') return end;
  return end > 1 ? end - 1 : run_end(text, 1);  // the last blank goes with the word behind it
}

void add(Tokens &out, u32 id) {
  if ((out.count & (out.count - 1)) == 0) {  // full at 0, 1, 2, 4, …
    auto grown = take<u32>(out.count ? 2 * size_t(out.count) : 1);
    memcpy(grown, out.ids, out.count * sizeof *grown);
    out.ids = grown;
  }
  out.ids[out.count++] = id;
}

}  // namespace

StringMap::StringMap(size_t entries) {
  size_t n = 16;
  while (n < 2 * entries) n *= 2;
  slots_ = take<Slot>(n);
  mask_ = n - 1;
}

size_t StringMap::slot(Str left, Str right) const {
  u64 hash = 0xcbf29ce484222325u;  // FNV-1a; the byte between keeps "a","bc" and "ab","c" apart
  for (size_t i = 0; i < left.size; i++) hash = (hash ^ static_cast<u8>(left.at[i])) * 0x100000001b3u;
  hash = (hash ^ 0xff) * 0x100000001b3u;
  for (size_t i = 0; i < right.size; i++) hash = (hash ^ static_cast<u8>(right.at[i])) * 0x100000001b3u;
  size_t i = (hash ^ hash >> 32) & mask_;
  while (slots_[i].used && !(slots_[i].left == left && slots_[i].right == right)) i = (i + 1) & mask_;
  return i;
}

void StringMap::put(Str left, Str right, u32 value) {
  Slot &s = slots_[slot(left, right)];
  if (!s.used) s = {left, right, value, true};
}

bool StringMap::get(Str left, Str right, u32 *value) const {
  const Slot &s = slots_[slot(left, right)];
  if (s.used) *value = s.value;
  return s.used;
}

// The byte alphabet: what each byte is written as in a vocabulary.
void Tokenizer::spell_bytes() {
  u32 next = 0x100;
  memset(bytes_, 0xff, sizeof bytes_);
  for (u32 b = 0; b < 256; b++) {
    bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    u32 c = itself ? b : next++;
    Text letter;
    json::utf8(letter, c);
    letters_[b] = letter.str();
    bytes_[c] = static_cast<u16>(b);
  }
}

Tokenizer::Tokenizer(const char *path) {
  spell_bytes();
  File file = map_file(path);
  if (!file.found) FAIL("cannot read the tokenizer ", path, "; push it, or correct -t");
  const json::Value *root = json::parse(file.str(), path);
  const json::Value *model = json::need(root, "model", json::Kind::object, path);
  if (!(json::need(model, "type", json::Kind::string, path)->text == "BPE")) FAIL(path, ": the model's type is not BPE");
  const json::Value *vocab = json::need(model, "vocab", json::Kind::object, path);
  const json::Value *added = root->get("added_tokens");
  u32 most = 0;
  for (auto v = vocab->first; v; v = v->next) {
    if (!v->whole || v->integer < 0 || v->integer >= MAX_ID) FAIL(path, ": the id of a token of the vocab is no usable number");
    if (v->integer >= most) most = static_cast<u32>(v->integer) + 1;
  }
  n_names_ = most;
  names_ = take<Str>(most);
  for (u32 i = 0; i < most; i++) names_[i].at = nullptr;
  read_vocab(vocab);
  if (model->get("merges")) read_merges(json::need(model, "merges", json::Kind::array, path), path);
  else read_merges_beside(path);
  if (added) read_added(added);
}

void Tokenizer::read_vocab(const json::Value *vocab) {
  vocab_ = new (take<StringMap>(1)) StringMap(vocab->count);
  for (auto v = vocab->first; v; v = v->next) {
    vocab_->put(v->key, "", static_cast<u32>(v->integer));
    names_[v->integer] = v->key;
  }
}

void Tokenizer::read_merges(const json::Value *merges, Str file) {
  merges_ = new (take<StringMap>(1)) StringMap(merges->count);
  u32 rank = 0;
  for (auto m = merges->first; m; m = m->next, rank++) {
    Str left, right;
    if (m->kind == json::Kind::string) {
      size_t blank = m->text.find(' ');
      if (blank == m->text.size) FAIL(file, ": merge ", rank, " has no blank");
      left = m->text.to(blank);
      right = m->text.from(blank + 1);
    } else if (m->kind == json::Kind::array && m->count == 2 && m->first->kind == json::Kind::string && m->first->next->kind == json::Kind::string) {
      left = m->first->text;
      right = m->first->next->text;
    } else {
      FAIL(file, ": merge ", rank, " is not a pair of strings");
    }
    merges_->put(left, right, rank);
  }
}

// A tokenizer of two files, as older models have: merges.txt lies beside, a pair in each line, below a line "#version".
void Tokenizer::read_merges_beside(Str tokenizer) {
  size_t folder = tokenizer.size;
  while (folder && tokenizer.at[folder - 1] != '/') folder--;
  Text path;
  path << tokenizer.to(folder) << "merges.txt";
  if (!file_exists(path.c_str())) FAIL("merge file is broken: ", tokenizer, " has no merges, and ", path.str(), " is not there; push it");
  read_merges_file(path.str());
}

void Tokenizer::read_merges_file(Str path) {
  Text name;
  name << path;
  File file = map_file(name.c_str());
  if (!file.found) FAIL("merge file is broken: ", path, " is not there; push it");
  merges_ = new (take<StringMap>(1)) StringMap(file.size / 4 + 1);
  u32 rank = 0;
  for (Str rest = file.str(); rest.size;) {
    size_t end = rest.find('\n');
    Str line = rest.to(end);
    rest = rest.from(end < rest.size ? end + 1 : end);
    if (line.size && line.at[line.size - 1] == '\r') line.size--;
    if (line.size == 0 || line.starts_with("#version")) continue;
    size_t blank = line.find(' ');
    if (blank == 0 || blank + 1 >= line.size) FAIL("merge file is broken: ", path, ": \"", line, "\" is no pair");
    merges_->put(line.to(blank), line.from(blank + 1), rank++);
  }
  if (rank == 0) FAIL("merge file is broken: ", path, " is empty");
}

Tokenizer::Tokenizer(const char *vocab, const char *merges) {
  spell_bytes();
  read_vocab_file(vocab);
  read_merges_file(merges);
}

// A vocabulary as mllm v1 has it: of each token its number, its length, its bytes, and a score.
void Tokenizer::read_vocab_file(Str path) {
  constexpr u32 magic = 23333;
  Text name;
  name << path;
  File file = map_file(name.c_str());
  if (!file.found) FAIL("cannot read the vocabulary ", path, "; push it");
  Str rest = file.str();
  auto word = [&]() {
    u32 w;
    if (rest.size < sizeof w) FAIL(path, ": the vocabulary is broken: was all of it pushed?");
    memcpy(&w, rest.at, sizeof w);
    rest = rest.from(sizeof w);
    return w;
  };
  if (word() != magic) FAIL(path, " is no vocabulary of mllm");
  u32 count = word();
  if (count == 0 || count > MAX_ID) FAIL(path, ": a vocabulary of ", count, " tokens");
  vocab_ = new (take<StringMap>(1)) StringMap(count);
  names_ = take<Str>(count);
  n_names_ = count;
  added_ = take<Added>(count);
  for (u32 i = 0; i < count; i++) {
    u32 id = word(), size = word();
    if (id >= count || size > rest.size) FAIL(path, ": token ", i, " of the vocabulary is broken");
    names_[id] = rest.to(size);
    vocab_->put(names_[id], "", id);
    if (names_[id].starts_with("<|") && size > 4 && names_[id].from(size - 2) == "|>") added_[n_added_++] = {id, names_[id], true};  // the file does not say which are
    rest = rest.from(size);
    word();  // its score
  }
}

void Tokenizer::read_added(const json::Value *list) {
  added_ = take<Added>(list->count);
  for (auto a = list->first; a; a = a->next) {
    u32 id = static_cast<u32>(json::need_integer(a, "id", 0, MAX_ID, "tokenizer.json: added_tokens"));
    Str content = json::need(a, "content", json::Kind::string, "tokenizer.json: added_tokens")->text;
    const json::Value *special = a->get("special");
    if (content.size) added_[n_added_++] = {id, content, special && special->truth};
  }
}

const Tokenizer::Added *Tokenizer::added_at(Str text) const {
  const Added *longest = nullptr;
  for (u32 i = 0; i < n_added_; i++) {
    if (text.starts_with(added_[i].content) && (!longest || added_[i].content.size > longest->content.size)) longest = &added_[i];
  }
  return longest;
}

Tokens Tokenizer::encode(Str text) const {
  Tokens out;
  size_t segment = 0;
  for (size_t at = 0; at < text.size;) {
    const Added *a = added_at(text.from(at));
    if (!a) {
      at++;
      continue;
    }
    encode_segment(text.to(at).from(segment), out);
    add(out, a->id);
    at += a->content.size;
    segment = at;
  }
  encode_segment(text.from(segment), out);
  return out;
}

void Tokenizer::encode_segment(Str segment, Tokens &out) const {
  while (segment.size) {
    size_t n = piece_size(segment);
    encode_piece(segment.to(n), out);
    segment = segment.from(n);
  }
}

void Tokenizer::encode_piece(Str piece, Tokens &out) const {
  if (piece.size > MAX_PIECE) FAIL("a word of ", static_cast<u64>(piece.size), " bytes in the prompt");
  Text mapped;
  for (size_t i = 0; i < piece.size; i++) mapped << letters_[static_cast<u8>(piece.at[i])];
  // Symbols are neighbours in mapped, so that joining two is adding up their sizes.
  auto symbols = take<Str>(piece.size);
  const char *at = mapped.str().at;
  for (size_t i = 0; i < piece.size; i++) {
    symbols[i] = {at, letters_[static_cast<u8>(piece.at[i])].size};
    at += symbols[i].size;
  }
  size_t n = piece.size;
  for (;;) {
    size_t best = n;
    u32 best_rank = 0, rank;
    for (size_t i = 0; i + 1 < n; i++) {
      if (merges_->get(symbols[i], symbols[i + 1], &rank) && (best == n || rank < best_rank)) {
        best = i;
        best_rank = rank;
      }
    }
    if (best == n) break;
    symbols[best].size += symbols[best + 1].size;
    n--;
    for (size_t i = best + 1; i < n; i++) symbols[i] = symbols[i + 1];
  }
  for (size_t i = 0; i < n; i++) {
    u32 id;
    if (!vocab_->get(symbols[i], "", &id)) FAIL("the tokenizer has no token for \"", symbols[i], "\"");
    add(out, id);
  }
}

void Tokenizer::decode(u32 id, Text &out) const {
  for (u32 i = 0; i < n_added_; i++) {
    if (added_[i].id != id) continue;
    if (!added_[i].special) out << added_[i].content;
    return;
  }
  if (id >= n_names_ || !names_[id].at) FAIL("the tokenizer has no token with id ", id, "; is it the one the model was made with?");
  for (Str name = names_[id]; name.size;) {
    Str before = name;
    u32 c = json::next_code_point(name);
    if (c < sizeof bytes_ / sizeof *bytes_ && bytes_[c] != 0xffff) out << static_cast<char>(bytes_[c]);
    else out << before.to(before.size - name.size);  // not of the alphabet: as it is written
  }
}
