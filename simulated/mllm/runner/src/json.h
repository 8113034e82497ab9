// JSON as config.json and tokenizer.json use it.
#pragma once

#include "base.h"

namespace json {

enum class Kind : u8 { null, boolean, number, string, array, object };

// A value. Members of an array or object are a list in the file's order.
struct Value {
  Kind kind = Kind::null;
  bool truth = false;
  bool whole = false;   // a number without fraction and exponent that fits an i64
  i64 integer = 0;
  Str text;             // a string decoded to UTF-8; a number as it is written
  Str key;              // in an object
  const Value *first = nullptr, *next = nullptr;
  u32 count = 0;

  const Value *get(Str name) const;  // of an object; nullptr when there is none
};

// Parses the whole of a text, or ends the program saying where in the named file it is wrong.
const Value *parse(Str text, Str file);

// A member that must be there; each ends the program when it is not.
const Value *need(const Value *object, Str name, Kind kind, Str file);
i64 need_integer(const Value *object, Str name, i64 least, i64 most, Str file);

// Appends a quoted string; each run of bytes that are not UTF-8 becomes one U+FFFD.
void quote(Text &out, Str text);

// Appends a code point as UTF-8.
void utf8(Text &out, u32 code_point);

// Takes one code point off a UTF-8 string; MALFORMED and one byte when it is not UTF-8.
constexpr u32 MALFORMED = 0xffffffff;
u32 next_code_point(Str &text);

}  // namespace json
