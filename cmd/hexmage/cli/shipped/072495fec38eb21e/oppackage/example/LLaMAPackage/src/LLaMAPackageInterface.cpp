// LLaMAPackage: what the HTP backend asks an op package for.

#include "HTP/QnnHtpCommon.h"
#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "HTP/core/unique_types.h"
#include "QnnOpPackage.h"
#include "QnnSdkBuildId.h"

DEFINE_UNIQ_TY()
BEGIN_PKG_OPS_OPTS_LIST()

// Ops are registered in this order.
DECLARE_PKG_OPS_OPTS_LIST(PKG_RMSNorm)
DECLARE_PKG_OPS_OPTS_LIST(PKG_SiLU)
DECLARE_PKG_OPS_OPTS_LIST(PKG_RoPE)
DECLARE_PKG_OPS_OPTS_LIST(PKG_LLaMAAdd)
DECLARE_PKG_OPS_OPTS_LIST(PKG_LLaMAQuantize)
DECLARE_PKG_OPS_OPTS_LIST(PKG_LLaMADequantize)

END_PKG_OPS_OPTS_LIST()

INIT_PACKAGE_OP_DEF()
INIT_PACKAGE_OPTIMIZATION_DEF()
INIT_PACKAGE_PARAM_ORDER_DEF()
INIT_PKG_CORE_INIT_FUNC()

namespace {

// The package's name comes with -DTHIS_PKG_NAME.
constexpr const char *package_name = THIS_PKG_NAME_STR;

// How many parameters, inputs and outputs a node of each op has. config/LLaMAOpPackageHtp.xml says the same.
struct Signature {
  const char *op;
  uint32_t params, inputs, outputs;
};
constexpr Signature signatures[] = {
    {"RMSNorm", 0, 2, 1},  {"SiLU", 0, 1, 1},          {"RoPE", 1, 4, 1},
    {"LLaMAAdd", 0, 2, 1}, {"LLaMAQuantize", 1, 1, 1}, {"LLaMADequantize", 1, 1, 1},
};

std::array<const char *, sizeof signatures / sizeof signatures[0]> op_names{
    {"RMSNorm", "SiLU", "RoPE", "LLaMAAdd", "LLaMAQuantize", "LLaMADequantize"}};

Qnn_ApiVersion_t api_version = QNN_HTP_API_VERSION_INIT;
QnnOpPackage_Info_t package_info = QNN_OP_PACKAGE_INFO_INIT;
bool initialised = false;

QnnLog_Callback_t log_callback = nullptr;
QnnLog_Level_t log_level = QNN_LOG_LEVEL_ERROR;

Qnn_ErrorHandle_t init(QnnOpPackage_GlobalInfrastructure_t) {
  if (initialised) return QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED;
  REGISTER_PACKAGE_PARAM_ORDERS()
  REGISTER_PACKAGE_AXIS_PARAMS()
  REGISTER_PACKAGE_PER_CHANNEL_QUANTIZED_OPS()
  initialised = true;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t terminate() {
  if (!initialised) return QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED;
  initialised = false;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t get_info(const QnnOpPackage_Info_t **info) {
  if (!initialised) return QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED;
  if (!info) return QNN_OP_PACKAGE_ERROR_INVALID_INFO;
  package_info.packageName = package_name;
  package_info.operationNames = op_names.data();
  package_info.numOperations = static_cast<uint32_t>(op_names.size());
  package_info.sdkBuildId = QNN_SDK_BUILD_ID;
  package_info.sdkApiVersion = &api_version;
  *info = &package_info;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t validate(Qnn_OpConfig_t config) {
  if (std::string(package_name) != config.v1.packageName) return QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE;
  for (const Signature &s : signatures) {
    if (std::string(s.op) != config.v1.typeName) continue;
    const bool fits = config.v1.numOfParams == s.params && config.v1.numOfInputs == s.inputs &&
                      config.v1.numOfOutputs == s.outputs;
    return fits ? QNN_SUCCESS : QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE;
  }
  return QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE;
}

Qnn_ErrorHandle_t log_set_level(QnnLog_Level_t level) {
  if (level < QNN_LOG_LEVEL_ERROR) return QNN_LOG_ERROR_INVALID_ARGUMENT;
  log_level = level;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t log_initialize(QnnLog_Callback_t callback, QnnLog_Level_t level) {
  if (log_callback) return QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED;
  if (!callback) return QNN_LOG_ERROR_INVALID_ARGUMENT;
  const Qnn_ErrorHandle_t status = log_set_level(level);
  if (status == QNN_SUCCESS) log_callback = callback;
  return status;
}

Qnn_ErrorHandle_t log_terminate() {
  if (!log_callback) return QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED;
  log_callback = nullptr;
  return QNN_SUCCESS;
}

}  // namespace

extern "C" QNN_API Qnn_ErrorHandle_t LLaMAPackageInterfaceProvider(QnnOpPackage_Interface_t *interface) {
  if (!interface) return QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT;
  interface->interfaceVersion = {1, 4, 0};
  interface->v1_4 = {};  // createOpImpl and freeOpImpl: the backend makes ops from their registration
  interface->v1_4.init = init;
  interface->v1_4.terminate = terminate;
  interface->v1_4.getInfo = get_info;
  interface->v1_4.validateOpConfig = validate;
  interface->v1_4.logInitialize = log_initialize;
  interface->v1_4.logSetLevel = log_set_level;
  interface->v1_4.logTerminate = log_terminate;
  return QNN_SUCCESS;
}
