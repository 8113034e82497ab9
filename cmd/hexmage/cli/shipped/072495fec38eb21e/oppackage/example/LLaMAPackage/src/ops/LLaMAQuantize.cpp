// LLaMAQuantize: floats to quantised values of the output's scale and zero point.
//
// out_0 QUINT8 or QUINT16 [b,h,w,d]
// in_0  FLOAT32 [b,h,w,d]
// scale parameter: a factor that the values are multiplied by first, 1 for none

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

BEGIN_PKG_OP_DEFINITION(PKG_LLaMAQuantize);

template <typename TensorType, typename TensorType1, typename TensorType2>
GraphStatus llamaquantizeImpl(TensorType1 &out_0, const TensorType1 &in_0, const PlainFloatTensor &scale);

DEF_PACKAGE_OP((llamaquantizeImpl<Tensor, Tensor, Tensor>), "LLaMAQuantize")

DEF_PACKAGE_PARAM_ORDER("LLaMAQuantize", "scale", true, nullptr)

#ifndef REFERENCE_OP
template <typename Element>
static void quantise(Element *out, const float *x, size_t total, float factor, float inverse, int32_t zero) {
  lanes::Block block;
  for (size_t i = 0; i < total; i += lanes::count) {
    const size_t n = lanes::at_most(total - i);
    for (size_t j = 0; j < n; j++) {
      block.value[j] = exact::rne(exact::multiply(exact::multiply(x[i + j], factor), inverse)) + zero;
    }
    lanes::store(out + i, n, block);
  }
}
#endif

template <typename TensorType, typename TensorType1, typename TensorType2>
GraphStatus llamaquantizeImpl(TensorType1 &out_0, const TensorType1 &in_0, const PlainFloatTensor &scale) {
  const bool wide = out_0.get_dtype() == DType::QUInt16;
  if (in_0.get_dtype() != DType::Float32 || (!wide && out_0.get_dtype() != DType::QUInt8)) {
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
  const float *x = static_cast<const float *>(in_0.raw_data_const());
  const float inverse = exact::divide(1.0f, out_0.get_interface_scale());
  const int32_t zero = out_0.get_interface_offset();
  if (wide) {
    quantise(static_cast<uint16_t *>(out_0.raw_data()), x, total, factor, inverse, zero);
  } else {
    quantise(static_cast<uint8_t *>(out_0.raw_data()), x, total, factor, inverse, zero);
  }
#endif
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_LLaMAQuantize);
