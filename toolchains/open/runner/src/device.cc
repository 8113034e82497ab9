#include "device.h"

#include "paths.h"

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

Str file_build_id(Str path) {
  Text name;
  name << path;
  return find_build_id(map_file(name.c_str()).str());
}

// The libraries between the backend and the DSP, which a real backend loads by the device's arch: one on this side, one on that.
void check_transport(Str arch, Str backend_id) {
  Text stub, skel;
  stub << "libQnnHtpV" << arch << "Stub.so";
  skel << "libQnnHtpV" << arch << "Skel.so";
  Str stub_path = find_library(stub.str());
  if (stub_path.size == 0)
    FAIL("Failed to create transport for device, error: 4000: ", stub.str(), " is in no folder of LD_LIBRARY_PATH (\"", environment("LD_LIBRARY_PATH"),
         "\"); push it from lib/aarch64-android of the SDK");
  Str skel_path = find_dsp_library(skel.str());
  if (skel_path.size == 0)
    FAIL("DspTransport.openSession qnn_open failed, 0x80000406: ", skel.str(), " is in no folder of \"", dsp_library_path(), "\"; push it from lib/hexagon-v",
         arch, "/unsigned of the SDK and set ADSP_LIBRARY_PATH (entries separated by ';')");
  Str stub_id = file_build_id(stub_path), skel_id = file_build_id(skel_path);
  if (!(stub_id == backend_id)) FAIL("Stub lib id mismatch: expected (", backend_id, "), detected (", stub_id, "); push libraries of one SDK only");
  if (!(skel_id == backend_id)) FAIL("Skel lib id mismatch: expected (", backend_id, "), detected (", skel_id, "); push libraries of one SDK only");
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
  Str path = find_library("libQnnHtp.so");
  if (path.size == 0)
    FAIL("Failed to open QNN libs. libQnnHtp.so is in no folder of LD_LIBRARY_PATH (\"", environment("LD_LIBRARY_PATH"),
         "\"); push lib/aarch64-android of the SDK and set it");
  Str id = file_build_id(path);
  if (id.size == 0) FAIL("Failed to open QNN libs. ", path, " holds no build id: is it the whole file?");
  return id;
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
  if (arch.size) check_transport(arch.from(arch.at[0] == 'v'), backend_id);
}
