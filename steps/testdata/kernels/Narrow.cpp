// Narrow: products of 16 bits, scaled down to 8, by instructions that came with HVX v69.
//
// out_0 QUINT8  [1,1,1,128]
// in_0  QUINT16 [1,1,1,128]
// in_1  QUINT16 [1,1,1,64]   a factor for an element of each half, of which the high 16 bits of the product count
// in_2  QUINT8  [1,1,1,128]  how many bits of the product go, 0 to 7, for an element of one half and of the other in turn

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

BEGIN_PKG_OP_DEFINITION(PKG_Narrow);

template <typename TensorType>
GraphStatus narrowImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1, const TensorType &in_2);

DEF_PACKAGE_OP((narrowImpl<Tensor>), "Narrow")

template <typename TensorType>
GraphStatus narrowImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1, const TensorType &in_2) {
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;
  if (in_0.dim(3) != 128 || in_1.dim(3) != 64 || in_2.dim(3) != 128) return GraphStatus::ErrorDimensions;
#ifdef REFERENCE_OP
  const uint16_t *x = static_cast<const uint16_t *>(in_0.raw_data_const());
  const uint16_t *factor = static_cast<const uint16_t *>(in_1.raw_data_const());
  const uint8_t *bits = static_cast<const uint8_t *>(in_2.raw_data_const());
  uint8_t *out = static_cast<uint8_t *>(out_0.raw_data());
  for (size_t i = 0; i < 128; i++) {
    const uint32_t product = static_cast<uint32_t>(x[i / 2 + i % 2 * 64]) * factor[i / 2] >> 16;
    const uint32_t shift = bits[i] & 7, rounded = (product + (shift ? 1u << (shift - 1) : 0)) >> shift;
    out[i] = rounded > 255 ? 255 : rounded;
  }
#else
  const HVX_UVector *x = static_cast<const HVX_UVector *>(in_0.raw_data_const());
  const HVX_Vector factor = *static_cast<const HVX_UVector *>(in_1.raw_data_const());
  const HVX_Vector bits = *static_cast<const HVX_UVector *>(in_2.raw_data_const());
  const HVX_Vector even = Q6_Vuh_vmpy_VuhVuh_rs16(x[0], factor), odd = Q6_Vuh_vmpy_VuhVuh_rs16(x[1], factor);
  *static_cast<HVX_UVector *>(out_0.raw_data()) = Q6_Vub_vasr_WuhVub_rnd_sat(Q6_W_vcombine_VV(odd, even), bits);
#endif
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_Narrow);
