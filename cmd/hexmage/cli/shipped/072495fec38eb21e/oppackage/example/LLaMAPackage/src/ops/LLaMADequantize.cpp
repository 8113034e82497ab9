// LLaMADequantize: quantised values to floats.
//
// out_0 FLOAT32 [b,h,w,d]
// in_0  QUINT8 or QUINT16 [b,h,w,d]
// scale parameter: a factor that the real values are multiplied by, 1 for none

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

BEGIN_PKG_OP_DEFINITION(PKG_LLaMADequantize);

template <typename TensorType, typename TensorType1, typename TensorType2>
GraphStatus llamadequantizeImpl(TensorType1 &out_0, const TensorType1 &in_0, const PlainFloatTensor &scale);

DEF_PACKAGE_OP((llamadequantizeImpl<Tensor, Tensor, Tensor>), "LLaMADequantize")

DEF_PACKAGE_PARAM_ORDER("LLaMADequantize", "scale", true, nullptr)

template <typename TensorType, typename TensorType1, typename TensorType2>
GraphStatus llamadequantizeImpl(TensorType1 &out_0, const TensorType1 &in_0, const PlainFloatTensor &scale) {
  const bool wide = in_0.get_dtype() == DType::QUInt16;
  if (out_0.get_dtype() != DType::Float32 || (!wide && in_0.get_dtype() != DType::QUInt8)) {
    return GraphStatus::ErrorUnsupported;
  }
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;
  auto [b_in, h_in, w_in, d_in] = in_0.dims();
  const float factor = scale(0, 0, 0, 0);

#ifdef REFERENCE_OP
  for (Idx b = 0; b < b_in; b++) {
    for (Idx h = 0; h < h_in; h++) {
      for (Idx w = 0; w < w_in; w++) {
        for (Idx d = 0; d < d_in; d++) out_0(b, h, w, d) = exact::multiply(in_0(b, h, w, d), factor);
      }
    }
  }
#else
  const size_t total = b_in * h_in * w_in * d_in;
  const uint8_t *narrow = static_cast<const uint8_t *>(in_0.raw_data_const());
  const uint16_t *x = static_cast<const uint16_t *>(in_0.raw_data_const());
  float *out = static_cast<float *>(out_0.raw_data());
  const float step = in_0.get_interface_scale();
  const int32_t zero = in_0.get_interface_offset();
  lanes::Block block;
  uint16_t widened[lanes::count];
  for (size_t i = 0; i < total; i += lanes::count) {
    const size_t n = lanes::at_most(total - i);
    const uint16_t *from = x + i;
    if (!wide) {
      for (size_t j = 0; j < n; j++) widened[j] = narrow[i + j];
      from = widened;
    }
    lanes::centre(block, from, n, zero);
    for (size_t j = 0; j < n; j++) {
      out[i + j] = exact::multiply(exact::multiply(step, static_cast<float>(block.value[j])), factor);
    }
  }
#endif
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_LLaMADequantize);
