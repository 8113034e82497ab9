/* The protocol between a program on the simulated phone and its protection domain on the simulated DSP.
 * README.md tells it in prose. Every number is little-endian; both ends are little-endian machines. */
#ifndef FASTRPC_WIRE_H
#define FASTRPC_WIRE_H

#define WIRE_MAGIC 0x31505246u /* the bytes "FRP1" */
#define WIRE_HEADER_BYTES 16u  /* magic, kind, sequence, length */
#define WIRE_REPLY 0x80000000u /* set in the kind of an answer */
#define WIRE_TENSOR_BYTES 32u  /* dtype, dims[4], scale, zero_point, bytes */

/* Bounds: a peer that breaks one is refused before anything is allocated for it. */
#define WIRE_MAX_PAYLOAD (64u << 20)
#define WIRE_MAX_TENSORS 16u
#define WIRE_MAX_NAME 255u
#define WIRE_MAX_PATH 4095u
#define WIRE_MAX_OPS 256u
#define WIRE_MAX_HANDLES 8u

enum wire_kind { WIRE_OPEN = 1, WIRE_INFO = 2, WIRE_EXECUTE = 3, WIRE_LOAD = 5, WIRE_INVOKE = 6 };

/* Status codes, as the FastRPC framework of a real DSP numbers them. */
enum wire_status {
  AEE_SUCCESS = 0,
  AEE_EFAILED = (int)0x80000401,      /* the op ran and failed */
  AEE_ENOMEMORY = (int)0x80000402,
  AEE_EUNABLETOLOAD = (int)0x80000406, /* no such library, or it cannot be read */
  AEE_EBADSTATE = (int)0x8000040d,     /* the domain died: the library's code faulted */
  AEE_EBADPARM = (int)0x8000040e,      /* a malformed frame or a tensor the op cannot take */
  AEE_EUNSUPPORTED = (int)0x80000414,  /* no such op, no such call */
  AEE_EINVHANDLE = (int)0x8000042c,
  AEE_ENOSUCHSYMBOL = (int)0x80000442,
  AEE_EBADELF = (int)0x80000452        /* not a Hexagon shared object, damaged, or of another arch */
};

/* Element types of open_tensor (simulated_abi.h of the simulation headers). */
enum wire_dtype {
  WIRE_QUINT8 = 1,
  WIRE_QUINT16 = 2,
  WIRE_FLOAT32 = 3,
  WIRE_FLOAT16 = 4,
  WIRE_INT32 = 5,
  WIRE_QINT8 = 6,
  WIRE_QINT16 = 7
};

#endif
