// Basic types of the op package interface, as far as op packages use them.
// hexmage simulated: written from call sites alone; sizes and numbers are ours, so binaries built with it fit only
// the simulation's own loader.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef QNN_API
#define QNN_API __attribute__((visibility("default")))
#endif

typedef uint64_t Qnn_ErrorHandle_t;
#define QNN_SUCCESS ((Qnn_ErrorHandle_t)0)

typedef struct {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
} Qnn_Version_t;

typedef struct {
  Qnn_Version_t coreApiVersion;
  Qnn_Version_t backendApiVersion;
} Qnn_ApiVersion_t;

typedef enum {
  QNN_DATATYPE_INT_8 = 1,
  QNN_DATATYPE_INT_16,
  QNN_DATATYPE_INT_32,
  QNN_DATATYPE_UINT_8,
  QNN_DATATYPE_UINT_16,
  QNN_DATATYPE_UINT_32,
  QNN_DATATYPE_FLOAT_16,
  QNN_DATATYPE_FLOAT_32,
  QNN_DATATYPE_SFIXED_POINT_8,
  QNN_DATATYPE_SFIXED_POINT_16,
  QNN_DATATYPE_UFIXED_POINT_8,
  QNN_DATATYPE_UFIXED_POINT_16,
  QNN_DATATYPE_BOOL_8,
  QNN_DATATYPE_UNDEFINED = 0x7fffffff,
} Qnn_DataType_t;

typedef struct {
  Qnn_DataType_t dataType;
  union {
    float floatValue;
    uint32_t uint32Value;
    int32_t int32Value;
    uint8_t uint8Value;
    uint8_t bool8Value;
  };
} Qnn_Scalar_t;

typedef enum {
  QNN_PARAMTYPE_SCALAR = 0,
  QNN_PARAMTYPE_TENSOR = 1,
  QNN_PARAMTYPE_UNDEFINED = 0x7fffffff,
} Qnn_ParamType_t;

typedef struct {
  uint32_t id;
  const char *name;
  Qnn_DataType_t dataType;
  uint32_t rank;
  uint32_t *dimensions;
} Qnn_Tensor_t;

typedef struct {
  Qnn_ParamType_t paramType;
  const char *name;
  union {
    Qnn_Scalar_t scalarParam;
    Qnn_Tensor_t tensorParam;
  };
} Qnn_Param_t;

typedef struct {
  const char *name;
  const char *packageName;
  const char *typeName;
  uint32_t numOfParams;
  Qnn_Param_t *params;
  uint32_t numOfInputs;
  Qnn_Tensor_t *inputTensors;
  uint32_t numOfOutputs;
  Qnn_Tensor_t *outputTensors;
} Qnn_OpConfigV1_t;

typedef struct {
  uint32_t version;
  union {
    Qnn_OpConfigV1_t v1;
  };
} Qnn_OpConfig_t;
