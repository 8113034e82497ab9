// Weigh: sums of products of three bytes with three weights of 10 bits each, by an instruction that came with HVX v68.
//
// out_0 INT32  [1,1,1,64]
// in_0  QUINT8 [1,1,1,256]  32 words of four elements, then 32 more
// in_1  QUINT8 [1,1,1,256]  likewise of weights: three of their low eight bits, then their high two bits

#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "HTP/core/tensor.h"
#include "QnnOpPackage.h"

#ifndef REFERENCE_OP
#include "hvx_internal.h"
#endif

BEGIN_PKG_OP_DEFINITION(PKG_Weigh);

template <typename TensorType>
GraphStatus weighImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1);

DEF_PACKAGE_OP((weighImpl<Tensor>), "Weigh")

template <typename TensorType>
GraphStatus weighImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1) {
  const size_t dims[] = {1, 1, 1, 64};
  if (out_0.set_dims(dims) != GraphStatus::Success) return GraphStatus::ErrorDimensions;
  if (in_0.dim(3) != 256 || in_1.dim(3) != 256) return GraphStatus::ErrorDimensions;
#ifdef REFERENCE_OP
  const uint8_t *x = static_cast<const uint8_t *>(in_0.raw_data_const()), *y = x + 128;
  const uint8_t *c = static_cast<const uint8_t *>(in_1.raw_data_const());
  int32_t *out = static_cast<int32_t *>(out_0.raw_data());
  for (size_t i = 0; i < 128; i += 4) {
    int32_t weight[6];
    for (size_t j = 0; j < 6; j++) {
      const uint8_t *word = c + i + j / 3 * 128;
      weight[j] = word[j % 3] | (word[3] >> (2 * (j % 3)) & 3) << 8;
      if (weight[j] >= 512) weight[j] -= 1024;
    }
    out[i / 4] = x[i + 1] * weight[3] + y[i] * weight[4] + y[i + 1] * weight[5];
    out[32 + i / 4] = x[i + 3] * weight[3] + y[i + 2] * weight[4] + y[i + 3] * weight[5] +  //
                      x[i + 1] * weight[0] + y[i] * weight[1] + y[i + 1] * weight[2];
  }
#else
  const HVX_UVector *x = static_cast<const HVX_UVector *>(in_0.raw_data_const());
  const HVX_UVector *c = static_cast<const HVX_UVector *>(in_1.raw_data_const());
  HVX_UVector *out = static_cast<HVX_UVector *>(out_0.raw_data());
  const HVX_VectorPair sums = Q6_Ww_v6mpy_WubWbI_v(Q6_W_vcombine_VV(x[1], x[0]), Q6_W_vcombine_VV(c[1], c[0]), 0);
  out[0] = Q6_V_lo_W(sums);
  out[1] = Q6_V_hi_W(sums);
#endif
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_Weigh);
