// Product: products of floats, by HVX's own floats, which no emulator has.
//
// out_0, in_0, in_1 FLOAT32 [1,1,1,32]

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

BEGIN_PKG_OP_DEFINITION(PKG_Product);

template <typename TensorType>
GraphStatus productImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1);

DEF_PACKAGE_OP((productImpl<Tensor>), "Product")

template <typename TensorType>
GraphStatus productImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1) {
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;
  if (in_0.dim(3) != 32 || in_1.dim(3) != 32) return GraphStatus::ErrorDimensions;
#ifdef REFERENCE_OP
  for (Idx d = 0; d < 32; d++) out_0(0, 0, 0, d) = in_0(0, 0, 0, d) * in_1(0, 0, 0, d);
#else
  const HVX_Vector x = *static_cast<const HVX_UVector *>(in_0.raw_data_const());
  const HVX_Vector y = *static_cast<const HVX_UVector *>(in_1.raw_data_const());
  *static_cast<HVX_UVector *>(out_0.raw_data()) = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_VsfVsf(x, y));
#endif
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_Product);
