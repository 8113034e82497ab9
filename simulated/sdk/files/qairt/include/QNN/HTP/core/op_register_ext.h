// The registration macros of op packages.
// hexmage simulated: the macros' names and argument lists are what op sources use; what they expand to is ours.
#pragma once

// Op sources use these without including them.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "intrinsics.h"
#include "log.h"
#include "simulated_register.h"
#include "tensor.h"

#define OPEN_HTP_JOIN2(a, b) a##b
#define OPEN_HTP_JOIN(a, b) OPEN_HTP_JOIN2(a, b)
#define OPEN_HTP_STRING2(a) #a
#define OPEN_HTP_STRING(a) OPEN_HTP_STRING2(a)

#ifdef THIS_PKG_NAME
#define THIS_PKG_NAME_STR OPEN_HTP_STRING(THIS_PKG_NAME)
#endif

// Op is a node of the graph as cost functions see it; the simulation never calls them.
class Op;

enum class Flags { IS_CONST, INHIBIT_CONST_PROP, RESOURCE_HVX, RESOURCE_HMX };
enum { GLACIAL = 4, SNAIL = 3, FAST = 2, FREE = 1 };

// In op sources.
#define BEGIN_PKG_OP_DEFINITION(NAME)                                 \
  static ::open_htp::OpFile open_htp_file = {nullptr, nullptr};       \
  template <>                                                         \
  ::open_htp::OpFile *::open_htp::op_file_of<struct NAME>() {         \
    return &open_htp_file;                                            \
  }                                                                   \
  static_assert(true, "")
#define DEF_PACKAGE_OP(F, OP)                                                                       \
  [[maybe_unused]] static ::open_htp::Registration OPEN_HTP_JOIN(open_htp_op_, __COUNTER__)(        \
      open_htp_file, OP, ::open_htp::Thunk<F>::call);
#define DEF_PACKAGE_OP_AND_COST_AND_FLAGS(F, OP, COST, ...) DEF_PACKAGE_OP(F, OP)
#define DEF_PACKAGE_OP_AND_COST_F_AND_FLAGS(F, OP, COST_F, ...) DEF_PACKAGE_OP(F, OP)
#define DEF_PACKAGE_PARAM_ORDER(OP, ...)                                                    \
  [[maybe_unused]] static const int OPEN_HTP_JOIN(open_htp_params_, __COUNTER__) =          \
      ::open_htp::param_order(OP, __VA_ARGS__);
// The simulation has no graph optimiser and no tensor layouts: these are accepted and do nothing.
#define DEF_PACKAGE_OPTIMIZATION(...)
#define DEF_PACKAGE_OPTIMIZATION_WITH_FLAGS(...)
#define DEF_TENSOR_PROPERTIES(...)
#define END_PKG_OP_DEFINITION(NAME) static_assert(true, "")

// In the Interface source.
#define BEGIN_PKG_OPS_OPTS_LIST() static ::open_htp::OpFile *(*const open_htp_files[])() = {
#define DECLARE_PKG_OPS_OPTS_LIST(NAME) &::open_htp::op_file_of<struct NAME>,
#define END_PKG_OPS_OPTS_LIST() \
  nullptr                       \
  }                             \
  ;
#define INIT_PACKAGE_OP_DEF()                                                                           \
  extern "C" int open_op_execute(const char *op, open_tensor *out, uint32_t n_out, const open_tensor *in, \
                                 uint32_t n_in) {                                                       \
    return ::open_htp::execute(open_htp_files, op, out, n_out, in, n_in);                               \
  }                                                                                                     \
  extern "C" const char *open_op_name(uint32_t i) { return ::open_htp::name(open_htp_files, i); }
// QNN_SDK_BUILD_ID comes from QnnSdkBuildId.h, which only Interface sources include.
#define INIT_PKG_CORE_INIT_FUNC() \
  extern "C" const char *open_sdk_build_id(void) { return QNN_SDK_BUILD_ID; }
#define INIT_PACKAGE_OPTIMIZATION_DEF()
#define INIT_PACKAGE_PARAM_ORDER_DEF()
#define LIST_PACKAGE_AXIS_PARAMS(...)
#define LIST_PACKAGE_PER_CHANNEL_QUANTIZED_OPS(...)
#define REGISTER_PACKAGE_PARAM_ORDERS()
#define REGISTER_PACKAGE_AXIS_PARAMS()
#define REGISTER_PACKAGE_PER_CHANNEL_QUANTIZED_OPS()
