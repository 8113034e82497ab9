# llama.cpp's Hexagon back end.

failure "ggml-hexagon-catalog" {
  where    = ["device", "logcat"]
  patterns = ["(?:ggml-hex: .*|HTP[0-9]+ )failed to open session ?[0-9]* ?: error 0x80000406"]
  cause    = "The DSP did not load ggml's own library for it (libggml-htp-v73.so and its like). On Windows the driver loads only libraries that a signed catalog (.cat) lists: the catalog is missing, stale, beside another library, or signed with a certificate that Windows does not trust."
  remedy   = "On Windows: build the catalog anew from these libraries, sign it, install its certificate (test certificates need test signing on), and keep libraries and .cat in one folder. On a phone: push ggml's library for the DSP, and have ADSP_LIBRARY_PATH name its folder."
  source   = "ggml-org/llama.cpp#28288"
  explains = ["skel-not-loaded", "dsp-session-broken"]
  examples = ["ggml-hex: HTP0 allocating new session\nggml-hex: HTP0 failed to open session : error 0x80000406"]
}

failure "ggml-hexagon-driver" {
  where    = ["device", "logcat"]
  patterns = ["ggml-hex: failed to open session ?[0-9]* ?: error 0x72"]
  also     = ["DriverStore"]
  cause    = "This is Windows, and the NPU driver does not take the session: the driver and the signed libraries (with their .cat) are of different releases."
  remedy   = "Install another release of the NPU driver (update it, or go back to the previous one), or build and sign the libraries for the driver that is installed."
  source   = "ggml-org/llama.cpp#22204"
  explains = ["dsp-session-broken", "ggml-assert"]
  examples = ["ggml-hex: Loading driver C:\\windows\\System32\\DriverStore\\FileRepository\\qcnspmcdm8380.inf_arm64_553f\\libcdsprpc.dll\nggml-hex: failed to open session 0 : error 0x72"]
}

failure "ggml-assert" {
  where    = ["device", "tool"]
  patterns = ["GGML_ASSERT[(](?P<what>[^)]*)[)] failed"]
  rank     = "consequence"
  cause    = "llama.cpp ended itself, because its check {what} failed."
  remedy   = "Look for the first error above it."
  source   = "ggml-org/llama.cpp#22204"
  examples = ["GGML_ASSERT(device) failed"]
}

failure "ggml-hexagon-device" {
  where    = ["device", "logcat"]
  patterns = ["ggml-hex: failed to create device/session [0-9]+"]
  rank     = "consequence"
  cause    = "llama.cpp's Hexagon back end could not open the DSP."
  remedy   = "Look at the line before it, which has the error's number."
  source   = "ggml-org/llama.cpp#16911, #22204"
  explains = ["ggml-assert"]
  examples = ["ggml-hex: failed to create device/session 0"]
}

failure "ggml-hexagon-arch" {
  where    = ["device", "logcat"]
  patterns = ["ggml-hex: failed to query HTP version [(]err (?P<error>-?[0-9]+)[)] defaulting to (?P<arch>v[0-9]+)"]
  severity = "warning"
  cause    = "The driver does not say which Hexagon arch the device has, and llama.cpp takes {arch}."
  remedy   = "Set GGML_HEXAGON_ARCH to the device's arch (such as 79), or update the NPU driver."
  source   = "ggml-org/llama.cpp#22204"
  examples = ["ggml-hex: failed to query HTP version (err -1) defaulting to v73"]
}
