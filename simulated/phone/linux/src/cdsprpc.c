/* libcdsprpc.so of the simulated phone: what a program for arm64 Linux has of the DSP. It opens libraries there, which the simulated DSP looks at as a
 * real one would: file, arch, symbol. It calls nothing in them, since a vendor's library wants an operating system that is not there: the first call
 * fails with AEE_EUNSUPPORTED, and says whose limit that is. */
#include "fastrpc_wire.h"
#include "libc.h"

#define EXPORT __attribute__((visibility("default")))

enum { AEE_EINVALIDDEVICE = (int)0x8000043b, DOMAIN_CDSP = 3, MAX_URI = 1024 };

/* Attributes of a domain that remote_handle_control tells: as the open FastRPC library numbers them. */
enum { REQUEST_DSP_INFO = 2, DOMAIN_SUPPORT = 0, UNSIGNED_PD_SUPPORT = 1, HVX_SUPPORT_128B = 3 };

/* What remote_session_control is asked for beside settings that change nothing here. */
enum { REQUEST_EFFECTIVE_DOMAIN = 14 };

static int write_all(int fd, const void *from, size_t bytes) {
  for (const char *at = from; bytes;) {
    long n = write(fd, at, bytes);
    if (n <= 0) return -1;
    at += n;
    bytes -= (size_t)n;
  }
  return 0;
}

static int read_all(int fd, void *to, size_t bytes) {
  for (char *at = to; bytes;) {
    long n = read(fd, at, bytes);
    if (n <= 0) return -1;
    at += n;
    bytes -= (size_t)n;
  }
  return 0;
}

/* Sends a frame and returns the status of its answer; what else the answer has is for the device's log. */
static int call(int fd, uint32_t kind, const void *payload, uint32_t bytes) {
  uint32_t head[4] = {WIRE_MAGIC, kind, 1, bytes}, status;
  char rest[256];
  if (write_all(fd, head, sizeof head) < 0 || write_all(fd, payload, bytes) < 0 || read_all(fd, head, sizeof head) < 0) return AEE_EBADSTATE;
  if (head[0] != WIRE_MAGIC || head[1] != (kind | WIRE_REPLY) || head[3] < sizeof status || read_all(fd, &status, sizeof status) < 0) return AEE_EFAILED;
  for (uint32_t left = head[3] - sizeof status; left;) {
    uint32_t n = left < sizeof rest ? left : sizeof rest;
    if (read_all(fd, rest, n) < 0) return AEE_EBADSTATE;
    left -= n;
  }
  return (int)status;
}

/* The library's path in the first folder of the DSP's search path that has it; in the first of all when none has. Folders that are not absolute begin
 * where the program is. */
static void find(char *path, size_t size, const char *name, size_t length) {
  const char *folders = getenv("DSP_LIBRARY_PATH");
  if (!folders || !*folders) folders = getenv("ADSP_LIBRARY_PATH");
  char all[4096];
  snprintf(all, sizeof all, "%s%s/vendor/lib/rfsa/adsp;/vendor/dsp", folders ? folders : "", folders && *folders ? ";" : "");
  char first[4096] = "", here[4096];
  if (!getcwd(here, sizeof here)) here[0] = 0;
  for (const char *at = all; *at;) {
    size_t n = 0;
    while (at[n] && at[n] != ';') n++;
    if (n) {
      snprintf(path, size, "%s%s%.*s/%.*s", *at == '/' ? "" : here, *at == '/' ? "" : "/", (int)n, at, (int)length, name);
      if (access(path, F_OK) == 0) return;
      if (!*first) snprintf(first, sizeof first, "%s", path);
    }
    at += n + (at[n] == ';');
  }
  snprintf(path, size, "%s", first);
}

static uint32_t put_text(char *to, const char *text, size_t length) {
  uint32_t n = (uint32_t)length;
  memcpy(to, &n, 4);
  memcpy(to + 4, text, n);
  return 4 + n;
}

/* A handle is the connection's descriptor, plus one so that it is not 0. */
EXPORT int remote_handle64_open(const char *uri, uint64_t *handle) {
  static const char scheme[] = "file:///";
  if (!uri || !handle || strncmp(uri, scheme, sizeof scheme - 1) != 0 || strlen(uri) > MAX_URI) return AEE_EBADPARM;
  const char *name = uri + sizeof scheme - 1;
  size_t name_length = 0, symbol_length = 0;
  while (name[name_length] && name[name_length] != '?') name_length++;
  const char *symbol = name + name_length + (name[name_length] == '?');
  while (symbol[symbol_length] && symbol[symbol_length] != '&') symbol_length++;
  char path[4096], payload[sizeof path + MAX_URI];
  find(path, sizeof path, name, name_length);
  uint32_t bytes = put_text(payload, path, strlen(path));
  bytes += put_text(payload + bytes, symbol, symbol_length);
  struct {
    uint16_t family;
    char path[108];
  } address = {AF_UNIX, "/dev/fastrpc-cdsp"};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return AEE_EINVALIDDEVICE;
  int status = connect(fd, &address, sizeof address) < 0 ? AEE_EINVALIDDEVICE : call(fd, WIRE_LOAD, payload, bytes);
  if (status != AEE_SUCCESS) {
    close(fd);
    return status;
  }
  *handle = (uint64_t)fd + 1;
  return AEE_SUCCESS;
}

EXPORT int remote_handle64_invoke(uint64_t handle, uint32_t scalars, void *arguments) {
  static const char limit[] = "libcdsprpc.so: hexmage simulated phone: the skel is one that this DSP loads, but the simulated DSP does not run it: this is as far as it goes\n";
  (void)arguments;
  if (!handle) return AEE_EINVHANDLE;
  int status = call((int)(handle - 1), WIRE_INVOKE, &scalars, sizeof scalars);
  if (status == AEE_EUNSUPPORTED) write(2, limit, sizeof limit - 1); /* who reads the program's output alone should not look for a fault */
  return status;
}

EXPORT int remote_handle64_close(uint64_t handle) {
  if (!handle) return AEE_EINVHANDLE;
  close((int)(handle - 1));
  return AEE_SUCCESS;
}

EXPORT int remote_handle_control(uint32_t request, void *data, uint32_t bytes) {
  uint32_t words[3]; /* domain, attribute, and the answer */
  if (request != REQUEST_DSP_INFO) return AEE_SUCCESS;
  if (!data || bytes < sizeof words) return AEE_EBADPARM;
  memcpy(words, data, sizeof words);
  words[2] = words[0] == DOMAIN_CDSP && (words[1] == DOMAIN_SUPPORT || words[1] == UNSIGNED_PD_SUPPORT || words[1] == HVX_SUPPORT_128B);
  memcpy(data, words, sizeof words);
  return AEE_SUCCESS;
}

EXPORT int remote_handle64_control(uint64_t handle, uint32_t request, void *data, uint32_t bytes) {
  (void)handle;
  return remote_handle_control(request, data, bytes);
}

EXPORT int remote_session_control(uint32_t request, void *data, uint32_t bytes) {
  struct {
    const char *name;
    uint32_t name_length, session, domain;
  } *which = data;
  if (request == REQUEST_EFFECTIVE_DOMAIN && data && bytes >= sizeof *which) which->domain = DOMAIN_CDSP;
  return AEE_SUCCESS;
}

EXPORT void *rpcmem_alloc(int heap, uint32_t flags, int bytes) {
  (void)heap, (void)flags;
  return bytes > 0 ? aligned_alloc(4096, ((size_t)bytes + 4095) & ~(size_t)4095) : NULL;
}
EXPORT void *rpcmem_alloc2(int heap, uint32_t flags, size_t bytes) {
  (void)heap, (void)flags;
  return bytes ? aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095) : NULL;
}
EXPORT void rpcmem_free(void *block) { free(block); }
EXPORT int rpcmem_to_fd(void *block) {
  (void)block;
  return -1; /* no memory is shared with the DSP */
}
EXPORT void remote_register_buf_attr(void *block, int bytes, int fd, int attributes) { (void)block, (void)bytes, (void)fd, (void)attributes; }

/* Not there, as on a DSP whose image lacks them. */
#define UNSUPPORTED(name) \
  EXPORT int name(void) { return AEE_EUNSUPPORTED; }
UNSUPPORTED(fastrpc_mmap)
UNSUPPORTED(fastrpc_munmap)
UNSUPPORTED(remote_register_dma_handle)
UNSUPPORTED(dspqueue_create)
UNSUPPORTED(dspqueue_close)
UNSUPPORTED(dspqueue_export)
UNSUPPORTED(dspqueue_read)
UNSUPPORTED(dspqueue_read_noblock)
UNSUPPORTED(dspqueue_write)
UNSUPPORTED(dspqueue_write_noblock)
