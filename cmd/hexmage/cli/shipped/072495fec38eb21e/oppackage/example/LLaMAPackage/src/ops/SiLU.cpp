// SiLU: x / (1 + e^-x), element by element.
//
// out_0 QUINT16 [b,h,w,d]
// in_0  QUINT16 [b,h,w,d]

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

BEGIN_PKG_OP_DEFINITION(PKG_SiLU);

template <typename TensorType>
GraphStatus siluImpl(TensorType &out_0, const TensorType &in_0);

DEF_PACKAGE_OP((siluImpl<Tensor>), "SiLU")

template <typename TensorType>
GraphStatus siluImpl(TensorType &out_0, const TensorType &in_0) {
  if (in_0.get_dtype() != DType::QUInt16 || out_0.get_dtype() != DType::QUInt16) return GraphStatus::ErrorUnsupported;
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;
  auto [b_in, h_in, w_in, d_in] = in_0.dims();

#ifdef REFERENCE_OP
  for (Idx b = 0; b < b_in; b++) {
    for (Idx h = 0; h < h_in; h++) {
      for (Idx w = 0; w < w_in; w++) {
        for (Idx d = 0; d < d_in; d++) out_0(b, h, w, d) = exact::silu(in_0(b, h, w, d));
      }
    }
  }
#else
  const size_t total = b_in * h_in * w_in * d_in;
  const uint16_t *x = static_cast<const uint16_t *>(in_0.raw_data_const());
  uint16_t *out = static_cast<uint16_t *>(out_0.raw_data());
  const float scale = in_0.get_interface_scale(), inverse = exact::divide(1.0f, out_0.get_interface_scale());
  const int32_t zero = in_0.get_interface_offset(), out_zero = out_0.get_interface_offset();
  lanes::Block block;
  for (size_t i = 0; i < total; i += lanes::count) {
    const size_t n = lanes::at_most(total - i);
    lanes::centre(block, x + i, n, zero);
    for (size_t j = 0; j < n; j++) {
      const float value = exact::silu(exact::multiply(static_cast<float>(block.value[j]), scale));
      block.value[j] = exact::rne(exact::multiply(value, inverse)) + out_zero;
    }
    lanes::store(out + i, n, block);
  }
#endif
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_SiLU);
