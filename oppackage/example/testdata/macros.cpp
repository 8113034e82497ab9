// A package in one file that uses what LLaMAPackage does not: half precision, two functions under one name, costs and flags,
// and the macros that the simulation accepts and ignores.
#include "HTP/QnnHtpCommon.h"
#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "HTP/core/unique_types.h"
#include "QnnOpPackage.h"
#include "QnnSdkBuildId.h"

BEGIN_PKG_OP_DEFINITION(PKG_Twice);

template <typename T>
GraphStatus twiceImpl(T &out_0, const T &in_0);
template <typename T>
GraphStatus sumImpl(T &out_0, const T &in_0, const T &in_1);

static float cost(const Op *) { return 1.0f; }

DEF_PACKAGE_OP_AND_COST_AND_FLAGS((twiceImpl<Tensor>), "Twice", SNAIL, Flags::RESOURCE_HVX)
DEF_PACKAGE_OP_AND_COST_F_AND_FLAGS((sumImpl<Tensor>), "Twice", cost, Flags::RESOURCE_HVX, Flags::INHIBIT_CONST_PROP)
DEF_PACKAGE_PARAM_ORDER("Twice", "a", true, nullptr, "b", false, nullptr)
DEF_PACKAGE_OPTIMIZATION(2000, Op("Twice", "X"), OK, "X")
DEF_TENSOR_PROPERTIES(Op("Twice", "X"), Flat("*"))

template <typename T>
GraphStatus twiceImpl(T &out_0, const T &in_0) {
  out_0.set_dims(in_0);
  for (Idx d = 0; d < in_0.dim(3); d++) out_0(0, 0, 0, d) = 2 * in_0(0, 0, 0, d);
  return GraphStatus::Success;
}
template <typename T>
GraphStatus sumImpl(T &out_0, const T &in_0, const T &in_1) {
  const size_t dims[] = {1, 1, 1, in_0.dim(3)};
  out_0.set_dims(dims);
  for (Idx d = 0; d < in_0.dim(3); d++) out_0(0, 0, 0, d) = in_0(0, 0, 0, d) + in_1(0, 0, 0, d);
  return GraphStatus::Success;
}

END_PKG_OP_DEFINITION(PKG_Twice);

DEFINE_UNIQ_TY()
BEGIN_PKG_OPS_OPTS_LIST()
DECLARE_PKG_OPS_OPTS_LIST(PKG_Twice)
END_PKG_OPS_OPTS_LIST()
INIT_PACKAGE_OP_DEF()
INIT_PACKAGE_OPTIMIZATION_DEF()
INIT_PACKAGE_PARAM_ORDER_DEF()
LIST_PACKAGE_AXIS_PARAMS("Axis", "axis")
LIST_PACKAGE_PER_CHANNEL_QUANTIZED_OPS("Twice")
INIT_PKG_CORE_INIT_FUNC()

const char *name() { return THIS_PKG_NAME_STR; }
