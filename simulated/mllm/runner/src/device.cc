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

// Whether a library says that it knows the number: it lists them behind a key, "open_socs=30,36;". One that lists none is asked no more.
bool lists(Str bytes, Str key, u32 wanted) {
  for (size_t at = 0; at < bytes.size; at++) {
    if (bytes.at[at] != key.at[0] || !bytes.from(at).starts_with(key)) continue;
    for (Str rest = bytes.from(at + key.size); digit(rest, 0); rest = rest.from(rest.at[0] == ',')) {
      if (number(rest) == wanted) return true;
      rest = rest.from(digits(rest, 0));
      if (rest.size == 0) break;
    }
    return false;
  }
  return true;
}

// What the simulated phone says of itself; found is false anywhere else.
struct SoC {
  bool found = false;
  Str arch;  // "79"
  u32 model = 0, vtcm_mb = 0;
};

SoC soc_of_device() {
  File file = map_file("/vendor/etc/open_soc");
  SoC soc;
  soc.found = file.found;
  if (!file.found) return soc;
  Str arch = setting(file.str(), "arch");
  if (arch.size) soc.arch = arch.from(arch.at[0] == 'v');
  soc.model = number(setting(file.str(), "soc_model"));
  soc.vtcm_mb = number(setting(file.str(), "vtcm_mb"));
  return soc;
}

void same_sdk(Str what, Str id, Str backend_id) {
  if (!(id == backend_id)) FAIL(what, " lib id mismatch: expected (", backend_id, "), detected (", id, "); push libraries of one SDK only");
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
  same_sdk("Stub", file_build_id(stub_path), backend_id);
  Str skel_path = find_dsp_library(skel.str());
  if (skel_path.size == 0)
    FAIL("DspTransport.openSession qnn_open failed, 0x80000406: ", skel.str(), " is in no folder of ", dsp_library_path(), "; push it from lib/hexagon-v",
         arch, "/unsigned of the SDK and set ADSP_LIBRARY_PATH (entries separated by ';')");
  Str skel_id = file_build_id(skel_path);
  if (skel_path.starts_with("/vendor/") && !(skel_id == backend_id))
    FAIL("DspTransport.openSession qnn_open failed, 0x80000600, prio 100: ", skel_path, " is the vendor's, of ", skel_id, "; push the SDK's, of ", backend_id);
  same_sdk("Skel", skel_id, backend_id);
  Str prepare_path = find_library("libQnnHtpPrepare.so");
  if (prepare_path.size) same_sdk("Prepare", file_build_id(prepare_path), backend_id);
}

// Compares "v2.41.0.…" with another, by their numbers.
bool newer(Str a, Str b) {
  a = a.from(a.size > 0);
  b = b.from(b.size > 0);
  for (int group = 0; group < 3; group++) {
    u32 x = number(a), y = number(b);
    if (x != y) return x > y;
    a = a.from(digits(a, 0) + (digits(a, 0) < a.size));
    b = b.from(digits(b, 0) + (digits(b, 0) < b.size));
  }
  return false;
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

void check_libraries(Str backend_id) {
  SoC soc = soc_of_device();
  if (!soc.found) return;  // not the simulated phone: nothing to compare with
  Text name;
  name << find_library("libQnnHtp.so");
  if (soc.model && !lists(map_file(name.c_str()).str(), "open_socs=", soc.model))
    FAIL("Dsp startup: SoC model (SnapdragonModel) is unknown: this device is ", soc.model, ", which ", name.str(), " of ", backend_id, " does not know");
  if (soc.arch.size) check_transport(soc.arch, backend_id);
}

void check_device(const Context *context, Str backend_id) {
  if (!(context->build_id == backend_id)) {
    if (newer(context->build_id, backend_id)) LOG_ERROR("Can't create context from binary. Error 5000: Using newer context binary on old SDK");
    FAIL("Could not create context from binary. Mostly due to binary's qnn version mismatch with backend's qnn version. The binary is of ", context->build_id,
         ", the backend of ", backend_id);
  }
  SoC soc = soc_of_device();
  if (soc.arch.size && number(soc.arch) != context->arch)
    FAIL("Request feature arch with value ", context->arch, " unsupported: Failed to create context from binary with err 0x138d: it was compiled for v", context->arch,
         ", this device's DSP is v", soc.arch, "; set htp_arch in the compiler's config");
  if (soc.vtcm_mb && context->vtcm_mb > soc.vtcm_mb)
    FAIL("Request feature vtcm size with value ", u64(context->vtcm_mb) << 20, " unsupported: Failed to create context from binary with err 0x138d: this device has ",
         u64(soc.vtcm_mb) << 20, "; set htp_vtcm_capability_in_mb in the compiler's config");
  if (soc.model && soc.model != context->soc_model)
    FAIL("Failed to create context from binary with err 0x138d: it was compiled for the SoC model ", context->soc_model, ", this device is ", soc.model,
         "; set htp_chipset in the compiler's config");
}

void check_op_package(Str package) {
  if (!soc_of_device().found) return;
  Text name, provider, failed;
  name << "libQnn" << package << "_CPU.so";
  provider << package << "InterfaceProvider";
  failed << "Could not register Op Package: " << name.str() << " and interface provider: " << provider.str();
  Text path;
  path << find_library(name.str());
  if (path.str().size == 0)
    FAIL(failed.str(), ", error 4005: it is in no folder of LD_LIBRARY_PATH (\"", environment("LD_LIBRARY_PATH"), "\"); push the AArch64 build of the op package");
  Str bytes = map_file(path.c_str()).str();
  constexpr u32 aarch64 = 183;
  u32 machine = bytes.size > 19 && bytes.starts_with("\177ELF") ? u32(u8(bytes.at[18])) | u32(u8(bytes.at[19])) << 8 : 0;
  if (machine != aarch64) FAIL(failed.str(), ": dlopen failed: \"", path.str(), "\" has unexpected e_machine: ", machine);
  for (size_t at = 0; at < bytes.size; at++) {
    if (bytes.at[at] == provider.str().at[0] && bytes.from(at).starts_with(provider.str())) return;
  }
  FAIL(failed.str(), ", error 4006: the library has no such function");
}
