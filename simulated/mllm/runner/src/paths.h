// Where a device's loaders look for libraries.
#pragma once

#include "base.h"

// The library in the first folder of LD_LIBRARY_PATH (separated by ':') that has it; empty when none has.
Str find_library(Str name);

// The same for the DSP's libraries: DSP_LIBRARY_PATH or, without it, ADSP_LIBRARY_PATH, separated by ';', and then the vendor's
// folders. The path is absolute, since the domain on the DSP has no working directory of ours.
Str find_dsp_library(Str name);

// What find_dsp_library searches, for messages: the variable and its value.
Str dsp_library_path();
