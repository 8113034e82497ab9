// LLaMAAdd: the sum of two tensors of equal dims, which may have different scales.
//
// out_0, in_0, in_1 QUINT16 [b,h,w,d]

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

BEGIN_PKG_OP_DEFINITION(PKG_LLaMAAdd);

template <typename TensorType>
GraphStatus llamaaddImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1);

DEF_PACKAGE_OP((llamaaddImpl<Tensor>), "LLaMAAdd")

template <typename TensorType>
GraphStatus llamaaddImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1) {
  const DType type = DType::QUInt16;
  if (in_0.get_dtype() != type || in_1.get_dtype() != type || out_0.get_dtype() != type) {
    return GraphStatus::ErrorUnsupported;
  }
  auto [b_in, h_in, w_in, d_in] = in_0.dims();
  for (size_t i = 0; i < 4; i++) {
    if (in_0.dim(i) != in_1.dim(i)) return GraphStatus::ErrorDimensions;
  }
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;

#ifdef REFERENCE_OP
  for (Idx b = 0; b < b_in; b++) {
    for (Idx h = 0; h < h_in; h++) {
      for (Idx w = 0; w < w_in; w++) {
        for (Idx d = 0; d < d_in; d++) out_0(b, h, w, d) = exact::add(in_0(b, h, w, d), in_1(b, h, w, d));
      }
    }
  }
#else
  const size_t total = b_in * h_in * w_in * d_in;
  const uint16_t *x = static_cast<const uint16_t *>(in_0.raw_data_const());
  const uint16_t *y = static_cast<const uint16_t *>(in_1.raw_data_const());
  uint16_t *out = static_cast<uint16_t *>(out_0.raw_data());
  const float x_scale = in_0.get_interface_scale(), y_scale = in_1.get_interface_scale();
  const float inverse = exact::divide(1.0f, out_0.get_interface_scale());
  const int32_t x_zero = in_0.get_interface_offset(), y_zero = in_1.get_interface_offset();
  const int32_t out_zero = out_0.get_interface_offset();
  lanes::Block left, right;
  for (size_t i = 0; i < total; i += lanes::count) {
    const size_t n = lanes::at_most(total - i);
    lanes::centre(left, x + i, n, x_zero);
    lanes::centre(right, y + i, n, y_zero);
    for (size_t j = 0; j < n; j++) {
      const float sum = exact::add(exact::multiply(static_cast<float>(left.value[j]), x_scale),
                                   exact::multiply(static_cast<float>(right.value[j]), y_scale));
      left.value[j] = exact::rne(exact::multiply(sum, inverse)) + out_zero;
    }
    lanes::store(out + i, n, left);
  }
#endif
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_LLaMAAdd);
