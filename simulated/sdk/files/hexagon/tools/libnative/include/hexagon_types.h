// HVX on a machine that has none: one vector type and what reference builds of ops call.
// hexmage simulated: written from call sites alone. Not an emulation of HVX.
#ifndef HEXAGON_TYPES_H
#define HEXAGON_TYPES_H

#include <stdint.h>

typedef int32_t HVX_Vector __attribute__((vector_size(128)));

static inline HVX_Vector open_native_vzero(void) {
  HVX_Vector zero = {0};
  return zero;
}
#define Q6_V_vzero() open_native_vzero()

#endif
