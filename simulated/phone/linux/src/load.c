/* qnn-load: loads a QNN backend library and takes the first steps of every program that uses one: log, backend, device, and a context where one is given.
 *
 *   qnn-load [--log LEVEL] LIBRARY [CONTEXT]
 *
 * What the library says goes where the library puts it: standard output. The exit code is 0 when all steps went well, 1 when one failed, 2 for usage.
 * The interface is the public one that QnnInterface_getProviders gives; the places of its functions are the documented ones. */
#include "libc.h"

typedef uint64_t error;
typedef void *handle;

struct version {
  uint32_t major, minor, patch;
};

struct interface {
  uint32_t backend;
  const char *name;
  struct version core, api;
  void *functions[41];
};

/* Places in the table of functions. */
enum { BACKEND_CREATE = 1, BUILD_ID = 4, SUPPORTED_OPERATIONS = 6, CONTEXT_FROM_BINARY = 13, LOG_CREATE = 25, DEVICE_CREATE = 40 };

enum { NOT_SUPPORTED = 1000 }; /* how a backend says that it has no devices to choose from */

static int step(const char *name, error code) {
  if (code) printf("qnn-load: %s failed with error %lu (0x%lx)\n", name, (unsigned long)code, (unsigned long)code);
  else printf("qnn-load: %s: ok\n", name);
  fflush(NULL);
  return code == 0;
}

static int say(const char *what, const char *why) {
  printf("qnn-load: %s: %s\n", what, why);
  return 1;
}

static void *read_file(const char *path, uint64_t *bytes) {
  void *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) < 0) return NULL;
  long size = ftell(file);
  void *data = size > 0 ? malloc((size_t)size) : NULL;
  if (!data || fseek(file, 0, SEEK_SET) < 0 || fread(data, 1, (size_t)size, file) != (size_t)size) return NULL;
  *bytes = (uint64_t)size;
  return data;
}

static int load(const char *library, uint32_t level, const char *context) {
  void *loaded = dlopen(library, RTLD_NOW);
  if (!loaded) return say("dlopen", dlerror());
  error (*providers)(const struct interface ***, uint32_t *) = (error(*)(const struct interface ***, uint32_t *))dlsym(loaded, "QnnInterface_getProviders");
  if (!providers) return say("dlsym", dlerror());
  const struct interface **all = NULL;
  uint32_t count = 0;
  error code = providers(&all, &count);
  if (code || count == 0) return !step("QnnInterface_getProviders", code ? code : NOT_SUPPORTED);
  const struct interface *qnn = all[0];
  void *const *function = qnn->functions;
  const char *build = "";
  if (((error(*)(const char **))function[BUILD_ID])(&build)) build = "";
  printf("qnn-load: %s, core API %u.%u.%u, backend API %u.%u.%u, build %s\n", qnn->name, qnn->core.major, qnn->core.minor, qnn->core.patch, qnn->api.major,
         qnn->api.minor, qnn->api.patch, build);
  fflush(NULL);
  handle log = NULL, backend = NULL, device = NULL, made = NULL;
  /* A program goes on without a log; the library then prints what is wrong all the same. */
  step("QnnLog_create", ((error(*)(void *, uint32_t, handle *))function[LOG_CREATE])(NULL, level, &log));
  if (!step("QnnBackend_create", ((error(*)(handle, const void **, handle *))function[BACKEND_CREATE])(log, NULL, &backend))) return 1;
  uint32_t operations = 0;
  const void *names = NULL;
  if (!((error(*)(handle, uint32_t *, const void **))function[SUPPORTED_OPERATIONS])(backend, &operations, &names)) printf("qnn-load: %u operations\n", operations);
  code = ((error(*)(handle, const void **, handle *))function[DEVICE_CREATE])(log, NULL, &device);
  if (code == NOT_SUPPORTED) say("QnnDevice_create", "this backend has no devices to choose from");
  else if (!step("QnnDevice_create", code) && !context) return 1; /* the header of a context is looked at before a device is */
  if (!context) return 0;
  uint64_t bytes = 0;
  void *data = read_file(context, &bytes);
  if (!data) return say(context, "cannot be read");
  code = ((error(*)(handle, handle, const void **, const void *, uint64_t, handle *, handle))function[CONTEXT_FROM_BINARY])(backend, device, NULL, data, bytes, &made, NULL);
  return !step("QnnContext_createFromBinary", code);
}

int main(int argc, char **argv) {
  uint32_t level = 3; /* errors, warnings, information */
  int at = 1;
  if (argc > 3 && strcmp(argv[1], "--log") == 0 && argv[2][0] >= '1' && argv[2][0] <= '5' && argv[2][1] == 0) {
    level = (uint32_t)(argv[2][0] - '0');
    at = 3;
  }
  if (argc <= at || argc > at + 2 || argv[at][0] == '-') {
    printf("usage: qnn-load [--log 1..5] LIBRARY [CONTEXT]\n");
    return 2;
  }
  int code = load(argv[at], level, argv[at + 1]);
  fflush(NULL);
  return code;
}

/* The start, since no start files of a C library are there: the library's own function takes main and what the kernel has put on the stack. */
__asm__(
    ".globl _start\n"
    ".type _start,%function\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  mov x30, #0\n"
    "  mov x5, x0\n"
    "  ldr x1, [sp]\n"
    "  add x2, sp, #8\n"
    "  mov x6, sp\n"
    "  adrp x0, main\n"
    "  add x0, x0, :lo12:main\n"
    "  mov x3, #0\n"
    "  mov x4, #0\n"
    "  bl __libc_start_main\n"
    "  brk #1\n");
