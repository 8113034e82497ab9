#include "paths.h"

namespace {

Str find(Str folders, char separator, Str name, bool absolute) {
  for (Str rest = folders; rest.size;) {
    size_t end = rest.find(separator);
    Str folder = rest.to(end);
    rest = rest.from(end < rest.size ? end + 1 : end);
    if (folder.size == 0) continue;
    Text path;
    char here[4096];
    if (absolute && folder.at[0] != '/' && sys::working_dir(here, sizeof here) > 0) path << here << '/';
    path << folder << '/' << name;
    if (file_exists(path.c_str())) return path.str();
  }
  return {};
}

}  // namespace

Str find_library(Str name) { return find(environment("LD_LIBRARY_PATH"), ':', name, false); }

namespace {

bool uses_dsp_library_path() { return environment("DSP_LIBRARY_PATH").size != 0; }

Str dsp_folders() {
  Text path;
  path << environment(uses_dsp_library_path() ? "DSP_LIBRARY_PATH" : "ADSP_LIBRARY_PATH") << ";/vendor/lib/rfsa/adsp;/vendor/dsp";
  return path.str();
}

}  // namespace

Str dsp_library_path() {
  Text text;
  text << (uses_dsp_library_path() ? "DSP_LIBRARY_PATH=\"" : "ADSP_LIBRARY_PATH=\"") << dsp_folders() << '"';
  return text.str();
}

Str find_dsp_library(Str name) { return find(dsp_folders(), ';', name, true); }
