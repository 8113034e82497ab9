// Clip: limits the values of a tensor to [-1, 1].
//
// out_0, in_0 of any type, [b,h,w,d]

#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "HTP/core/tensor.h"
#include "QnnOpPackage.h"

BEGIN_PKG_OP_DEFINITION(PKG_Clip);

template <typename TensorType>
GraphStatus clipImpl(TensorType &out_0, const TensorType &in_0);

DEF_PACKAGE_OP((clipImpl<Tensor>), "Clip")

template <typename TensorType>
GraphStatus clipImpl(TensorType &out_0, const TensorType &in_0) {
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;
  auto [b_in, h_in, w_in, d_in] = in_0.dims();
  for (Idx b = 0; b < b_in; b++) {
    for (Idx h = 0; h < h_in; h++) {
      for (Idx w = 0; w < w_in; w++) {
        for (Idx d = 0; d < d_in; d++) {
          const float x = in_0(b, h, w, d);
          out_0(b, h, w, d) = x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
        }
      }
    }
  }
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_Clip);
