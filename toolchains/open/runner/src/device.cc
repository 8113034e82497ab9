#include "device.h"

namespace {

bool digit(Str s, size_t i) { return i < s.size && s.at[i] >= '0' && s.at[i] <= '9'; }

size_t digits(Str s, size_t at) {
  size_t n = 0;
  while (digit(s, at + n)) n++;
  return n;
}

u32 number(Str s) {
  u32 n = 0;
  for (size_t i = 0; digit(s, i) && i < 9; i++) n = n * 10 + static_cast<u32>(s.at[i] - '0');
  return n;
}

// A value out of a file of key=value lines; empty when there is none.
Str setting(Str lines, Str key) {
  while (lines.size) {
    size_t end = lines.find('\n');
    Str line = lines.to(end);
    lines = lines.from(end < lines.size ? end + 1 : end);
    if (line.starts_with(key) && line.size > key.size && line.at[key.size] == '=') {
      line = line.from(key.size + 1);
      while (line.size && (line.at[line.size - 1] == '\r' || line.at[line.size - 1] == ' ')) line.size--;
      return line;
    }
  }
  return {};
}

}  // namespace

Str find_build_id(Str bytes) {
  for (size_t start = 0; start < bytes.size; start++) {
    if (bytes.at[start] != 'v') continue;
    size_t at = start + 1;
    int groups = 0;
    for (size_t n; groups < 3 && (n = digits(bytes, at)) > 0 && at + n < bytes.size && bytes.at[at + n] == '.'; groups++) at += n + 1;
    if (groups < 3 || digits(bytes, at) != 12) continue;
    at += 12;
    if (at < bytes.size && bytes.at[at] == '_' && digits(bytes, at + 1)) at += 1 + digits(bytes, at + 1);
    return bytes.to(at).from(start);
  }
  return {};
}

Str backend_build_id() {
  Str path = environment("LD_LIBRARY_PATH");
  for (Str rest = path; rest.size;) {
    size_t end = rest.find(':');
    Text candidate;
    candidate << (end ? rest.to(end) : Str(".")) << "/libQnnHtp.so";
    rest = rest.from(end < rest.size ? end + 1 : end);
    File file = map_file(candidate.c_str());
    if (!file.found) continue;
    Str id = find_build_id(file.str());
    if (id.size == 0) FAIL("Failed to open QNN libs. ", candidate.str(), " holds no build id: is it the whole file?");
    return id;
  }
  FAIL("Failed to open QNN libs. libQnnHtp.so is in no folder of LD_LIBRARY_PATH (\"", path, "\"); push lib/aarch64-android of the SDK and set it");
}

void check_device(const Context *context, Str backend_id) {
  if (!(context->build_id == backend_id))
    FAIL("Could not create context from binary. Mostly due to binary's qnn version mismatch with backend's qnn version. The binary is of ", context->build_id,
         ", the backend of ", backend_id);
  File soc = map_file("/vendor/etc/open_soc");
  if (!soc.found) return;  // not the emulated phone: nothing to compare with
  Str arch = setting(soc.str(), "arch"), model = setting(soc.str(), "soc_model");
  if (arch.size && number(arch.from(arch.at[0] == 'v')) != context->arch)
    FAIL("Failed to create context from binary with err 0x138d: it was compiled for v", context->arch, ", this device's DSP is ", arch,
         "; set htp_arch in the compiler's config");
  if (model.size && number(model) != context->soc_model)
    FAIL("Failed to create context from binary with err 0x138d: it was compiled for the SoC model ", context->soc_model, ", this device is ", model,
         "; set htp_chipset in the compiler's config");
}
