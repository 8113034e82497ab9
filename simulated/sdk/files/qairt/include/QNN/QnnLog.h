// Log levels and the log callback an op package may be given.
// hexmage simulated: written from call sites alone.
#pragma once

#include "QnnTypes.h"

typedef enum {
  QNN_LOG_LEVEL_ERROR = 1,
  QNN_LOG_LEVEL_WARN = 2,
  QNN_LOG_LEVEL_INFO = 3,
  QNN_LOG_LEVEL_VERBOSE = 4,
  QNN_LOG_LEVEL_DEBUG = 5,
} QnnLog_Level_t;

#define QNN_LOG_ERROR_INVALID_ARGUMENT ((Qnn_ErrorHandle_t)0x2001)

typedef void (*QnnLog_Callback_t)(const char *fmt, QnnLog_Level_t level, uint64_t timestamp, va_list args);
