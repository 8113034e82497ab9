// RMSNorm: each row divided by its root mean square, times a weight per element.
//
// out_0   QUINT16 [b,h,w,d]
// in_0    QUINT16 [b,h,w,d]
// weights QUINT16 [1,1,1,d]
//
// The arithmetic is simulated/mllm/toymodel/README.md, to the bit: the sum of squares is exact, the rest has a stated order.

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

BEGIN_PKG_OP_DEFINITION(PKG_RMSNorm);

template <typename TensorType>
GraphStatus rmsnormImpl(TensorType &out_0, const TensorType &in_0, const TensorType &weights);

DEF_PACKAGE_OP((rmsnormImpl<Tensor>), "RMSNorm")

#ifdef REFERENCE_OP

static uint64_t sum_of_squares(const uint16_t *x, int32_t zero, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    const int64_t a = x[i] - zero;
    sum += static_cast<uint64_t>(a * a);
  }
  return sum;
}

#else

// The squares of x are summed, not those of x - zero, for these need more bits than a lane's multiplier has:
// sum (x-z)^2 = sum x^2 - 2z sum x + nz^2. Low and high halves of the squares have sums of their own, which overflow no
// lane up to two million elements.
static uint64_t sum_of_squares(const uint16_t *x, int32_t zero, size_t n) {
  HVX_Vector low = Q6_V_vzero(), high = Q6_V_vzero(), plain = Q6_V_vzero();
  const HVX_Vector mask = Q6_V_vsplat_R(0xffff);
  for (size_t i = 0; i < n; i += lanes::count) {
    const HVX_Vector v = lanes::load(x + i, lanes::at_most(n - i));
    const HVX_VectorPair squares = Q6_Wuw_vmpy_VuhVuh(v, v), words = Q6_Wuw_vunpack_Vuh(v);
    const HVX_Vector a = Q6_V_lo_W(squares), b = Q6_V_hi_W(squares);
    low = Q6_Vw_vadd_VwVw(low, Q6_Vw_vadd_VwVw(Q6_V_vand_VV(a, mask), Q6_V_vand_VV(b, mask)));
    high = Q6_Vw_vadd_VwVw(high, Q6_Vw_vadd_VwVw(Q6_Vuw_vlsr_VuwR(a, 16), Q6_Vuw_vlsr_VuwR(b, 16)));
    plain = Q6_Vw_vadd_VwVw(plain, Q6_Vw_vadd_VwVw(Q6_V_lo_W(words), Q6_V_hi_W(words)));
  }
  HVX_Vector sums[3] = {low, high, plain};
  const uint32_t(*lane)[32] = reinterpret_cast<const uint32_t(*)[32]>(sums);
  uint64_t squares = 0, values = 0;
  for (size_t i = 0; i < 32; i++) {
    squares += lane[0][i] + (static_cast<uint64_t>(lane[1][i]) << 16);
    values += lane[2][i];
  }
  const int64_t z = zero;
  return squares + static_cast<uint64_t>(static_cast<int64_t>(n) * z * z - 2 * z * static_cast<int64_t>(values));
}

#endif

template <typename TensorType>
GraphStatus rmsnormImpl(TensorType &out_0, const TensorType &in_0, const TensorType &weights) {
  if (in_0.get_dtype() != DType::QUInt16 || weights.get_dtype() != DType::QUInt16 || out_0.get_dtype() != DType::QUInt16) {
    return GraphStatus::ErrorUnsupported;
  }
  auto [b_in, h_in, w_in, d_in] = in_0.dims();
  if (d_in == 0 || d_in > 65536 || weights.dim(3) != d_in || weights.dim(0) * weights.dim(1) * weights.dim(2) != 1) {
    return GraphStatus::ErrorDimensions;
  }
  if (out_0.set_dims(in_0) != GraphStatus::Success) return GraphStatus::ErrorDimensions;

  const float scale = in_0.get_interface_scale(), weight_scale = weights.get_interface_scale();
  const int32_t zero = in_0.get_interface_offset(), weight_zero = weights.get_interface_offset();
  const float inverse = exact::divide(1.0f, out_0.get_interface_scale());
  const int32_t out_zero = out_0.get_interface_offset();
  const float epsilon = exact::from_bits(0x358637bdu);  // 1e-6

  const uint16_t *x = static_cast<const uint16_t *>(in_0.raw_data_const());
  const uint16_t *weight = static_cast<const uint16_t *>(weights.raw_data_const());
  uint16_t *out = static_cast<uint16_t *>(out_0.raw_data());
  for (size_t row = 0; row < b_in * h_in * w_in; row++, x += d_in, out += d_in) {
    const float mean = exact::divide(static_cast<float>(sum_of_squares(x, zero, d_in)), static_cast<float>(d_in));
    const float variance = exact::add(exact::multiply(mean, exact::multiply(scale, scale)), epsilon);
    const float k = exact::multiply(scale, exact::divide(1.0f, exact::square_root(variance)));
    auto element = [&](int32_t a, size_t i) {
      const float value = exact::multiply(exact::multiply(static_cast<float>(a), k),
                                          exact::multiply(static_cast<float>(weight[i] - weight_zero), weight_scale));
      return exact::rne(exact::multiply(value, inverse)) + out_zero;
    };
#ifdef REFERENCE_OP
    for (size_t i = 0; i < d_in; i++) {
      out[i] = static_cast<uint16_t>(exact::clamp(element(x[i] - zero, i), 0, 65535));
    }
#else
    lanes::Block block;
    for (size_t i = 0; i < d_in; i += lanes::count) {
      const size_t n = lanes::at_most(d_in - i);
      lanes::centre(block, x + i, n, zero);
      for (size_t j = 0; j < n; j++) block.value[j] = element(block.value[j], i + j);
      lanes::store(out + i, n, block);
    }
#endif
  }
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_RMSNorm);
