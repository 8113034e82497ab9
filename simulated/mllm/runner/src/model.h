// The toy language model of simulated/mllm/toymodel/README.md: all its work is the op package's norm, on the DSP.
#pragma once

#include "context.h"
#include "fastrpc.h"

class Model {
 public:
  Model(const Context *context, DspLibrary *dsp);

  // Takes tokens in at positions from 0 on, in chunks. Only the first real ones leave a trace; the others fill a chunk up.
  void prefill(const u32 *ids, u32 n, u32 real, u32 chunk);
  // Takes one token in.
  void decode(u32 id, u32 position);
  // The token that follows what was taken in.
  u32 next() const;

 private:
  void take_in(const u32 *ids, u32 n, u32 real, u32 position, bool mixed);

  const Context *context_;
  DspLibrary *dsp_;
  u16 *state_;
};
