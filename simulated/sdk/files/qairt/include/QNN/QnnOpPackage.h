// What an op package exports: one provider function that fills an interface table.
// hexmage simulated: written from call sites alone; error numbers are ours.
#pragma once

#include "QnnLog.h"
#include "QnnTypes.h"

#define QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED ((Qnn_ErrorHandle_t)0x4001)
#define QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED ((Qnn_ErrorHandle_t)0x4002)
#define QNN_OP_PACKAGE_ERROR_INVALID_INFO ((Qnn_ErrorHandle_t)0x4003)
#define QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE ((Qnn_ErrorHandle_t)0x4004)
#define QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT ((Qnn_ErrorHandle_t)0x4005)

typedef struct QnnOpPackage_GlobalInfrastructure *QnnOpPackage_GlobalInfrastructure_t;
typedef struct QnnOpPackage_GraphInfrastructure *QnnOpPackage_GraphInfrastructure_t;
typedef struct QnnOpPackage_Node *QnnOpPackage_Node_t;
typedef struct QnnOpPackage_OpImpl *QnnOpPackage_OpImpl_t;
typedef struct QnnOpPackage_Optimization QnnOpPackage_Optimization_t;

typedef struct {
  const char *packageName;
  const char **operationNames;
  const QnnOpPackage_Optimization_t *optimizations;
  uint32_t numOperations;
  uint32_t numOptimizations;
  const char *sdkBuildId;
  const Qnn_ApiVersion_t *sdkApiVersion;
} QnnOpPackage_Info_t;

#define QNN_OP_PACKAGE_INFO_INIT {NULL, NULL, NULL, 0u, 0u, NULL, NULL}

typedef struct {
  Qnn_ErrorHandle_t (*init)(QnnOpPackage_GlobalInfrastructure_t infrastructure);
  Qnn_ErrorHandle_t (*terminate)(void);
  Qnn_ErrorHandle_t (*getInfo)(const QnnOpPackage_Info_t **info);
  Qnn_ErrorHandle_t (*validateOpConfig)(Qnn_OpConfig_t opConfig);
  Qnn_ErrorHandle_t (*createOpImpl)(QnnOpPackage_GraphInfrastructure_t graph, QnnOpPackage_Node_t node,
                                    QnnOpPackage_OpImpl_t *impl);
  Qnn_ErrorHandle_t (*freeOpImpl)(QnnOpPackage_OpImpl_t impl);
  Qnn_ErrorHandle_t (*logInitialize)(QnnLog_Callback_t callback, QnnLog_Level_t maxLogLevel);
  Qnn_ErrorHandle_t (*logSetLevel)(QnnLog_Level_t maxLogLevel);
  Qnn_ErrorHandle_t (*logTerminate)(void);
} QnnOpPackage_ImplementationV1_4_t;

typedef struct {
  Qnn_Version_t interfaceVersion;
  union {
    QnnOpPackage_ImplementationV1_4_t v1_4;
  };
} QnnOpPackage_Interface_t;
