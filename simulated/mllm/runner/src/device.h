// What the device is and what its libraries say of themselves.
#pragma once

#include "context.h"

// The build id in libQnnHtp.so, which is searched for along LD_LIBRARY_PATH. Ends the program when it is not there.
Str backend_build_id();

// The first build id (v2.41.0.251128145156_191518) among some bytes; empty when there is none.
Str find_build_id(Str bytes);

// Compares the backend with this device and with the libraries that a real one needs to reach the DSP: the SoC must be one that it
// knows, and build ids must be one. Ends the program when it cannot run here.
void check_libraries(Str backend_id);

// Compares what a context was compiled for with this device and its libraries: build ids, arch, VTCM, SoC model. Ends the
// program when it cannot run here.
void check_device(const Context *context, Str backend_id);

// Whether this side's library of an op package can be registered. Ends the program when it cannot.
void check_op_package(Str package);
