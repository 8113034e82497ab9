// RoPE: turns pairs of elements (i, i + d/2) by an angle that grows with the position.
//
// out_0     QUINT16 [b,n,heads,d]
// in_0      QUINT16 [b,n,heads,d], d even
// sin, cos  QUINT16 [1,1,positions,d], both with the same scale
// h_cnt     INT32 [1,1,1,1]: the position of the first of the n tokens
// pose_type parameter: 0, the only way this package knows

#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "HTP/core/tensor.h"
#include "QnnOpPackage.h"

#include "exact.h"
#ifndef REFERENCE_OP
#include "lanes.h"
#endif

BEGIN_PKG_OP_DEFINITION(PKG_RoPE);

template <typename TensorType, typename TensorType1>
GraphStatus ropeImpl(TensorType &out_0, const TensorType &in_0, const TensorType &sin, const TensorType &cos,
                     const TensorType1 &h_cnt, const Tensor &pose_type);

DEF_PACKAGE_OP((ropeImpl<Tensor, Tensor>), "RoPE")

DEF_PACKAGE_PARAM_ORDER("RoPE", "pose_type", true, nullptr)

// One head of one token. The products and their sum are exact; they need more than 32 bits, so lanes do not help there.
template <typename Value>
static void turn(Value value, const uint16_t *sin, int32_t sin_zero, const uint16_t *cos, int32_t cos_zero, size_t half,
                 int64_t *low, int64_t *high) {
  for (size_t i = 0; i < half; i++) {
    const int64_t a = value(i), b = value(i + half), c = cos[i] - cos_zero, s = sin[i] - sin_zero;
    low[i] = a * c - b * s;
    high[i] = b * c + a * s;
  }
}

template <typename TensorType, typename TensorType1>
GraphStatus ropeImpl(TensorType &out_0, const TensorType &in_0, const TensorType &sin, const TensorType &cos,
                     const TensorType1 &h_cnt, const Tensor &pose_type) {
  constexpr size_t most = 256;  // elements of a head
  const DType type = DType::QUInt16;
  if (in_0.get_dtype() != type || sin.get_dtype() != type || cos.get_dtype() != type || out_0.get_dtype() != type ||
      pose_type(0, 0, 0, 0) != 0.0f) {
    return GraphStatus::ErrorUnsupported;
  }
  auto [b_in, h_in, w_in, d_in] = in_0.dims();
  const float first = h_cnt(0, 0, 0, 0);
  if (d_in == 0 || d_in % 2 || d_in > most || sin.dim(3) != d_in || cos.dim(3) != d_in || sin.dim(2) != cos.dim(2) ||
      !(first >= 0) || first + static_cast<float>(h_in) > static_cast<float>(cos.dim(2))) {
    return GraphStatus::ErrorDimensions;
  }
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;

  const size_t half = d_in / 2, start = static_cast<size_t>(first);
  const float factor = exact::multiply(in_0.get_interface_scale(), cos.get_interface_scale());
  const float inverse = exact::divide(1.0f, out_0.get_interface_scale());
  const int32_t zero = in_0.get_interface_offset(), out_zero = out_0.get_interface_offset();
  const int32_t sin_zero = sin.get_interface_offset(), cos_zero = cos.get_interface_offset();
  const uint16_t *x = static_cast<const uint16_t *>(in_0.raw_data_const());
  const uint16_t *sines = static_cast<const uint16_t *>(sin.raw_data_const());
  const uint16_t *cosines = static_cast<const uint16_t *>(cos.raw_data_const());
  uint16_t *out = static_cast<uint16_t *>(out_0.raw_data());

  int64_t turned[most];
  auto element = [&](size_t i) {
    return exact::rne(exact::multiply(exact::multiply(static_cast<float>(turned[i]), factor), inverse)) + out_zero;
  };
  for (size_t row = 0; row < b_in * h_in * w_in; row++, x += d_in, out += d_in) {
    const size_t position = start + row / w_in % h_in;
    const uint16_t *s = sines + position * d_in, *c = cosines + position * d_in;
#ifdef REFERENCE_OP
    turn([&](size_t i) { return x[i] - zero; }, s, sin_zero, c, cos_zero, half, turned, turned + half);
    for (size_t i = 0; i < d_in; i++) out[i] = static_cast<uint16_t>(exact::clamp(element(i), 0, 65535));
#else
    lanes::Block block[most / lanes::count];
    for (size_t i = 0; i < d_in; i += lanes::count) {
      lanes::centre(block[i / lanes::count], x + i, lanes::at_most(d_in - i), zero);
    }
    auto centred = [&](size_t i) { return block[i / lanes::count].value[i % lanes::count]; };
    turn(centred, s, sin_zero, c, cos_zero, half, turned, turned + half);
    for (size_t i = 0; i < d_in; i += lanes::count) {
      const size_t n = lanes::at_most(d_in - i);
      for (size_t j = 0; j < n; j++) block[0].value[j] = element(i + j);
      lanes::store(out + i, n, block[0]);
    }
#endif
  }
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_RoPE);
