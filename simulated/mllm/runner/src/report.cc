#include "report.h"

namespace {

void coloured(Text &out, const char *colour, Str text) { out << "\x1b[" << colour << "m" << text << "\x1b[0m"; }

void label(Text &out, Str name) {
  Text text;
  text << name;
  for (size_t n = name.size; n < 20; n++) text << ' ';
  text << ": ";
  coloured(out, COLOUR_WHITE, text.str());
}

void time_line(Text &out, Str name, u64 us, u64 tokens) {
  label(out, name);
  Text time;
  time.hundredths(us * 100, 10) << " μs";
  coloured(out, COLOUR_YELLOW, time.str());
  if (us > 0 && tokens > 0) {
    Text rate;
    rate << " (";
    rate.hundredths((tokens * 100000000u + us / 2) / us, 6) << " tokens/s)";
    coloured(out, COLOUR_WHITE, rate.str());
  }
  out << '\n';
}

void count_line(Text &out, Str name, u64 n) {
  label(out, name);
  Text digits, count;
  digits << n;
  count.right(digits.str(), 10) << '\n';
  coloured(out, COLOUR_GREEN, count.str());
}

void numbers(Text &out, Tokens tokens) {
  out << '[';
  for (u32 i = 0; i < tokens.count; i++) {
    if (i) out << ',';
    out << tokens.ids[i];
  }
  out << ']';
}

}  // namespace

void print_summary(const Times &times) {
  Text out;
  coloured(out, COLOUR_CYAN, "\n============== Performance Summary ===============\n");
  time_line(out, "Prefill time", times.prefill_us, times.prefill_tokens);
  time_line(out, "Decode time", times.decode_us, times.decode_tokens);
  count_line(out, "Prefill tokens", times.prefill_tokens);
  count_line(out, "Decode tokens", times.decode_tokens);
  print(out.str());
}

void write_results(Tokens prompt, const Answer &answer) {
  Str path = environment("OPEN_RUNNER_RESULTS"), text = answer.text();
  if (path.size == 0) return;
  Text out, name;
  out << "{\"prompt_tokens\":";
  numbers(out, prompt);
  out << ",\"tokens\":";
  numbers(out, answer.tokens());
  out << ",\"text\":\"";
  for (size_t i = 0; i < text.size; i++) {
    if (text.at[i] == '"' || text.at[i] == '\\') out << '\\';
    out << text.at[i];
  }
  out << "\"}\n";

  size_t folder = path.size;
  while (folder && path.at[folder - 1] != '/') folder--;
  if (folder > 1) {
    name << path.to(folder - 1);
    sys::make_dir(name.c_str());  // fails where it exists, which is as good
    name.clear();
  }
  name << path;
  i32 fd = sys::create(name.c_str());
  if (fd < 0) FAIL("cannot create ", path, ": errno ", -fd);
  for (Str rest = out.str(); rest.size;) {
    i64 n = sys::write(fd, rest.at, rest.size);
    if (n <= 0) FAIL("cannot write ", path, ": errno ", static_cast<i32>(-n), "; is the device full?");
    rest = rest.from(static_cast<size_t>(n));
  }
  sys::close(fd);
}
