// A library on the DSP, reached through the device node. The protocol is fastrpc_wire.h's.
#pragma once

#include "context.h"

class DspLibrary {
 public:
  // Connects to the device and opens the library, which is searched for as the DSP's loader does. Ends the program on failure.
  DspLibrary(const char *device, Str name);

  Str build_id() const { return build_id_; }
  bool has_op(Str name) const;

  // Runs an op of two inputs and one output.
  void execute(Str op, const Rows &out, const Rows &in, const Rows &weight);

 private:
  Str call(u32 kind, Str what);  // sends request_, returns what follows a good status
  void receive(void *to, size_t bytes);

  i32 fd_ = -1;
  u32 sequence_ = 0, handle_ = 0, n_ops_ = 0;
  Str build_id_, *ops_ = nullptr;
  Text request_;
  u8 *answer_ = nullptr;
  size_t answer_capacity_ = 0;
};

// The op package's library, which has the norm. Ends the program on failure.
DspLibrary *connect_dsp(Str op_package);
