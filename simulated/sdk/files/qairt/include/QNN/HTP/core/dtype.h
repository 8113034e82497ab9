// Element types of tensors.
// hexmage simulated: the numbers are those of simulated_abi.h.
#pragma once

#include <stddef.h>

#include "simulated_abi.h"

enum class DType : unsigned {
  UNKNOWN = 0,
  QUInt8 = OPEN_DTYPE_QUINT8,
  QUInt16 = OPEN_DTYPE_QUINT16,
  Float32 = OPEN_DTYPE_FLOAT32,
  Float16 = OPEN_DTYPE_FLOAT16,
  Int32 = OPEN_DTYPE_INT32,
  QInt8 = OPEN_DTYPE_QINT8,
  QInt16 = OPEN_DTYPE_QINT16,
};

// What the stored elements of a tensor stand for: real = scale * (q - offset).
struct DTypeScaleOff {
  DType dtype;
  int offset;
  float scale;
};

// Bytes of one element; 0 for a type this simulation does not know.
constexpr size_t dtype_size(DType type) {
  switch (type) {
    case DType::QUInt8:
    case DType::QInt8: return 1;
    case DType::QUInt16:
    case DType::QInt16:
    case DType::Float16: return 2;
    case DType::Float32:
    case DType::Int32: return 4;
    default: return 0;
  }
}
