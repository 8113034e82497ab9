/* The C interface through which the hexmage simulated's loader runs the ops of an op package.
 *
 * Ours alone: no vendor has it, hence the word "simulated". The registration macros make every op package export it, so the
 * sources of a package need not know of it. Little-endian, natural alignment, pointers of the target's size. */
#ifndef OPEN_ABI_H
#define OPEN_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  OPEN_DTYPE_QUINT8 = 1,
  OPEN_DTYPE_QUINT16 = 2,
  OPEN_DTYPE_FLOAT32 = 3,
  OPEN_DTYPE_FLOAT16 = 4,
  OPEN_DTYPE_INT32 = 5,
  OPEN_DTYPE_QINT8 = 6,
  OPEN_DTYPE_QINT16 = 7,
};

typedef struct open_tensor {
  uint32_t dtype;     /* one of OPEN_DTYPE_ */
  uint32_t dims[4];   /* batch, height, width, depth; depth is contiguous */
  float scale;        /* real = scale * (q - zero_point); 1 for floats */
  int32_t zero_point;
  uint32_t bytes;     /* capacity of data; an output must hold its dims */
  void *data;         /* 128-byte aligned */
} open_tensor;

enum {
  OPEN_OK = 0,
  OPEN_NO_SUCH_OP = 1,
  OPEN_WRONG_COUNT = 2, /* number of inputs (parameters included, after the inputs) or outputs */
  OPEN_OP_FAILED = 3,   /* the op returned something else than GraphStatus::Success */
  OPEN_TOO_SMALL = 4,   /* an output's capacity does not hold the dims that the op gave it */
};

/* Runs one op. Outputs get their dims from the op. */
__attribute__((visibility("default"))) int open_op_execute(const char *op, open_tensor *out, uint32_t n_out,
                                                           const open_tensor *in, uint32_t n_in);
/* The i-th op in the order of registration, NULL after the last. */
__attribute__((visibility("default"))) const char *open_op_name(uint32_t i);
/* QNN_SDK_BUILD_ID of the headers the package's Interface source was compiled with. */
__attribute__((visibility("default"))) const char *open_sdk_build_id(void);

#ifdef __cplusplus
}
#endif
#endif
