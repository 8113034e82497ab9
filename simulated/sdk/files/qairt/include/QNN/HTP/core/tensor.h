// Tensors as ops see them: four dimensions, real values through operator(), raw memory through raw_data.
// hexmage simulated: a thin view of an open_tensor (simulated_abi.h); owns nothing, allocates nothing.
#pragma once

#include <array>
#include <cstring>

#include "dtype.h"
#include "graph_status.h"
#include "half.h"
#include "simulated_abi.h"

// Element access is exact arithmetic, also where a package is compiled with -ffast-math.
#ifndef __hexagon__  // whose compiler does not know it, and whose builds have no -ffast-math
#pragma float_control(precise, on, push)
#endif
#pragma clang fp contract(off)

typedef size_t Idx;

class Tensor;

// TensorRef is one element of a writable tensor: reads give the real value, writes quantise.
class TensorRef {
 public:
  TensorRef(Tensor &tensor, size_t index) : tensor_(tensor), index_(index) {}
  TensorRef(const TensorRef &) = default;
  inline operator float() const;
  inline TensorRef &operator=(float value);
  TensorRef &operator=(const TensorRef &other) { return *this = static_cast<float>(other); }

 private:
  Tensor &tensor_;
  size_t index_;
};

// Tensor is an input, a parameter (both const) or an output of an op.
class Tensor {
 public:
  explicit Tensor(const open_tensor &desc) : desc_(desc) {}

  DType get_dtype() const { return static_cast<DType>(desc_.dtype); }
  DTypeScaleOff get_dtype_intfc() const { return {get_dtype(), desc_.zero_point, desc_.scale}; }
  size_t rank() const { return 4; }
  size_t dim(size_t i) const { return i < 4 ? desc_.dims[i] : 1; }
  std::array<size_t, 4> dims() const { return {{dim(0), dim(1), dim(2), dim(3)}}; }
  size_t total_storage_elements() const { return dim(0) * dim(1) * dim(2) * dim(3); }
  float interface_scale() const { return desc_.scale; }
  float interface_scale_recip() const { return 1.0f / desc_.scale; }
  int32_t interface_offset() const { return desc_.zero_point; }

  // Gives an output its dims. They must fit the memory that the caller provided.
  GraphStatus set_dims(const size_t (&dims)[4]) {
    uint64_t bytes = dtype_size(get_dtype());
    for (size_t i = 0; i < 4; i++) {
      if (dims[i] > 0xffffffffu || (dims[i] != 0 && bytes > 0xffffffffu / dims[i])) bytes = uint64_t(1) << 32;
      bytes *= bytes >> 32 ? 1 : dims[i];
      desc_.dims[i] = static_cast<uint32_t>(dims[i]);
    }
    too_small_ = bytes > desc_.bytes;
    return too_small_ ? GraphStatus::ErrorDimensions : GraphStatus::Success;
  }
  GraphStatus set_dims(const Tensor &prototype) {
    const size_t dims[4] = {prototype.dim(0), prototype.dim(1), prototype.dim(2), prototype.dim(3)};
    return set_dims(dims);
  }

  const void *raw_data_const() const { return desc_.data; }
  // Memory of an output. An op that writes after set_dims failed would overwrite what is not its own: it stops here.
  void *raw_data() {
    if (too_small_) __builtin_trap();
    return desc_.data;
  }

  float operator()(Idx b, Idx h, Idx w, Idx d) const { return load(index(b, h, w, d)); }
  TensorRef operator()(Idx b, Idx h, Idx w, Idx d) { return TensorRef(*this, index(b, h, w, d)); }

  // The leading indices that are left out are 0.
  float operator()(Idx d) const { return (*this)(0, 0, 0, d); }
  float operator()(Idx w, Idx d) const { return (*this)(0, 0, w, d); }
  float operator()(Idx h, Idx w, Idx d) const { return (*this)(0, h, w, d); }
  TensorRef operator()(Idx d) { return (*this)(0, 0, 0, d); }
  TensorRef operator()(Idx w, Idx d) { return (*this)(0, 0, w, d); }
  TensorRef operator()(Idx h, Idx w, Idx d) { return (*this)(0, h, w, d); }

  // Memory from one element on, which rank indices name, the last one of d.
  const void *element_ptr(size_t rank, const long indices[]) const {
    size_t at = 0;
    for (size_t i = 0; i < 4; i++) at = at * dim(i) + (i + rank < 4 ? 0 : static_cast<size_t>(indices[i + rank - 4]));
    return static_cast<const char *>(desc_.data) + at * dtype_size(get_dtype());
  }
  void *element_ptr(size_t rank, const long indices[]) {
    if (too_small_) __builtin_trap();
    return const_cast<void *>(static_cast<const Tensor *>(this)->element_ptr(rank, indices));
  }

  // For the simulation only.
  const open_tensor &open_desc() const { return desc_; }
  size_t open_index(Idx b, Idx h, Idx w, Idx d) const { return index(b, h, w, d); }
  bool open_too_small() const { return too_small_; }

 private:
  friend class TensorRef;

  size_t index(Idx b, Idx h, Idx w, Idx d) const { return ((b * dim(1) + h) * dim(2) + w) * dim(3) + d; }
  template <class T>
  const T &at(size_t i) const {
    return static_cast<const T *>(desc_.data)[i];
  }
  inline float load(size_t i) const;
  inline void store(size_t i, float value);
  template <class T>
  inline void quantise(size_t i, float value, int32_t low, int32_t high);

  open_tensor desc_;
  bool too_small_ = false;
};

// OpenTyped is a tensor of elements of one type in rows: flat, in Qualcomm's words. Crouton layouts are not simulated.
template <class T>
class OpenTyped : public Tensor {
 public:
  using Tensor::Tensor;

  T *data_ptr() const { return static_cast<T *>(open_desc().data); }
  T *get_raw_addr(Idx b, Idx h, Idx w, Idx d) const { return data_ptr() + open_index(b, h, w, d); }
};

// Each type is its own, and so is the one in the DSP's tightly coupled memory, which the simulation does not have.
#define OPEN_HTP_TENSOR(NAME, T)         \
  class NAME : public OpenTyped<T> {     \
   public:                               \
    using OpenTyped<T>::OpenTyped;       \
  };                                     \
  class NAME##_TCM : public NAME {       \
   public:                               \
    using NAME::NAME;                    \
  };
OPEN_HTP_TENSOR(PlainFloatTensor, float)
OPEN_HTP_TENSOR(PlainFloat16Tensor, Float16)
OPEN_HTP_TENSOR(QuantUint8Tensor, uint8_t)
OPEN_HTP_TENSOR(QuantInt8Tensor, int8_t)
OPEN_HTP_TENSOR(QuantUint16Tensor, uint16_t)
OPEN_HTP_TENSOR(QuantInt16Tensor, int16_t)
OPEN_HTP_TENSOR(Int32Tensor, int32_t)

inline float Tensor::load(size_t i) const {
  int32_t q = 0;
  switch (get_dtype()) {
    case DType::Float32: return at<float>(i);
    case DType::Float16: return open_half_to_float(at<uint16_t>(i));
    case DType::Int32: return static_cast<float>(at<int32_t>(i));
    case DType::QUInt8: q = at<uint8_t>(i); break;
    case DType::QInt8: q = at<int8_t>(i); break;
    case DType::QUInt16: q = at<uint16_t>(i); break;
    case DType::QInt16: q = at<int16_t>(i); break;
    default: return 0.0f;
  }
  return desc_.scale * static_cast<float>(q - desc_.zero_point);
}

// q = round(value * (1 / scale)) + zero_point, half to even, saturating; a NaN gives the lowest value. One over the scale
// is rounded on its own: that, not value / scale, is what op sources compute when they write raw memory.
template <class T>
inline void Tensor::quantise(size_t i, float value, int32_t low, int32_t high) {
  const float bound = 131072.0f;
  const float inverse = 1.0f / desc_.scale;
  float q = value * inverse;
  if (!(q > -bound)) q = -bound;
  if (q > bound) q = bound;
  int32_t n = static_cast<int32_t>(q);
  const float rest = q - static_cast<float>(n);
  if (rest > 0.5f || (rest == 0.5f && (n & 1))) n++;
  if (rest < -0.5f || (rest == -0.5f && (n & 1))) n--;
  n += desc_.zero_point;
  if (n < low) n = low;
  if (n > high) n = high;
  static_cast<T *>(desc_.data)[i] = static_cast<T>(n);
}

inline void Tensor::store(size_t i, float value) {
  if (too_small_) return;
  switch (get_dtype()) {
    case DType::Float32: static_cast<float *>(desc_.data)[i] = value; break;
    case DType::Float16: static_cast<uint16_t *>(desc_.data)[i] = open_float_to_half(value); break;
    case DType::Int32: static_cast<int32_t *>(desc_.data)[i] = static_cast<int32_t>(value); break;
    case DType::QUInt8: quantise<uint8_t>(i, value, 0, 255); break;
    case DType::QInt8: quantise<int8_t>(i, value, -128, 127); break;
    case DType::QUInt16: quantise<uint16_t>(i, value, 0, 65535); break;
    case DType::QInt16: quantise<int16_t>(i, value, -32768, 32767); break;
    default: break;
  }
}

inline TensorRef::operator float() const { return tensor_.load(index_); }
inline TensorRef &TensorRef::operator=(float value) {
  tensor_.store(index_, value);
  return *this;
}

#ifndef __hexagon__
#pragma float_control(pop)
#endif
