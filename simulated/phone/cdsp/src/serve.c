/* The protection domain: answers one peer's frames, one after the other. */
#include "shell.h"

struct buffer {
  uint8_t *start;
  uint32_t bytes;
};

static struct {
  uint32_t arch;
  struct image images[WIRE_MAX_HANDLES];
  struct buffer payload, arena;
  uint32_t kind, sequence;
  int answering; /* bytes of an answer have gone out */
} domain;

/* What is left to read of a payload. A read past the end sets broken and gives zeros. */
struct cursor {
  const uint8_t *at;
  uint32_t left;
  int broken;
};

static int grow(struct buffer *buffer, uint32_t bytes) {
  if (bytes <= buffer->bytes) return 0;
  uint32_t whole = (bytes + 65535u) & ~65535u;
  uint8_t *start = sys_map(whole, 0);
  if (!start) return -1;
  if (buffer->start) sys_unmap(buffer->start, buffer->bytes);
  *buffer = (struct buffer){start, whole};
  return 0;
}

/* 1 when all was read, 0 when the peer hung up before the first byte, -1 otherwise. */
static int read_all(void *to, uint32_t bytes) {
  for (uint32_t done = 0; done < bytes;) {
    int n = sys_read(0, (uint8_t *)to + done, bytes - done);
    if (n <= 0) return n == 0 && done == 0 ? 0 : -1;
    done += (uint32_t)n;
  }
  return 1;
}

/* A peer that has gone is no reason to go on. */
static void write_all(const void *from, uint32_t bytes) {
  for (uint32_t done = 0; done < bytes;) {
    int n = sys_write(1, (const uint8_t *)from + done, bytes - done);
    if (n <= 0) sys_exit(1);
    done += (uint32_t)n;
  }
}

static void write_word(uint32_t word) { write_all(&word, sizeof word); }

static void answer(uint32_t status, uint32_t rest) {
  uint32_t head[5] = {WIRE_MAGIC, domain.kind | WIRE_REPLY, domain.sequence, 4 + rest, status};
  domain.answering = 1;
  write_all(head, sizeof head);
}

static void write_string(const char *text, uint32_t length) {
  write_word(length);
  write_all(text, length);
}

static int answer_failure(const struct failure *failure) {
  text_log(&failure->text);
  answer(failure->code, 4 + (uint32_t)failure->text.length);
  write_string(failure->text.bytes, (uint32_t)failure->text.length);
  return 0;
}

static int refuse(uint32_t code, const char *why) {
  struct failure failure;
  fail(&failure, code, why, NULL);
  return answer_failure(&failure);
}

static void take(struct cursor *c, void *to, uint32_t bytes) {
  memset(to, 0, bytes);
  if (bytes > c->left) {
    c->broken = 1;
    return;
  }
  memcpy(to, c->at, bytes);
  c->at += bytes;
  c->left -= bytes;
}

static uint32_t take_word(struct cursor *c) {
  uint32_t word;
  take(c, &word, sizeof word);
  return word;
}

/* A string of at most max bytes; to has room for the zero as well. */
static void take_string(struct cursor *c, char *to, uint32_t max) {
  uint32_t length = take_word(c);
  to[0] = 0;
  if (length > max || length > c->left) {
    c->broken = 1;
    return;
  }
  take(c, to, length);
  to[length] = 0;
  if (strlen(to) != length) c->broken = 1; /* a zero inside would hide the rest of the name */
}

static struct image *find_image(uint32_t handle) {
  if (handle == 0 || handle > WIRE_MAX_HANDLES || !domain.images[handle - 1].base) return NULL;
  return &domain.images[handle - 1];
}

static int do_open(struct cursor *c) {
  static char path[WIRE_MAX_PATH + 1];
  take_string(c, path, WIRE_MAX_PATH);
  if (c->broken || c->left) return refuse((uint32_t)AEE_EBADPARM, "malformed OPEN");
  uint32_t slot = 0;
  while (slot < WIRE_MAX_HANDLES && domain.images[slot].base) slot++;
  if (slot == WIRE_MAX_HANDLES) return refuse((uint32_t)AEE_ENOMEMORY, "too many open libraries");
  struct failure failure;
  if (image_open(&domain.images[slot], path, domain.arch, &failure) < 0) return answer_failure(&failure);
  answer(AEE_SUCCESS, 4);
  write_word(slot + 1);
  return 0;
}

static uint32_t bounded(const char *text, uint32_t max) {
  uint32_t n = 0;
  while (n < max && text[n]) n++;
  return n;
}

static int do_info(struct cursor *c) {
  struct image *image = find_image(take_word(c));
  if (c->broken || c->left) return refuse((uint32_t)AEE_EBADPARM, "malformed INFO");
  if (!image) return refuse((uint32_t)AEE_EINVHANDLE, "INFO: no library is open under this handle");
  const char *names[WIRE_MAX_OPS], *build_id = image->build_id();
  uint32_t n = 0, bytes = 12;
  if (!build_id) build_id = "";
  bytes += bounded(build_id, WIRE_MAX_NAME);
  for (const char *name; n < WIRE_MAX_OPS && (name = image->op_name(n)); n++) {
    names[n] = name;
    bytes += 4 + bounded(name, WIRE_MAX_NAME);
  }
  answer(AEE_SUCCESS, bytes);
  write_word(image->e_flags);
  write_string(build_id, bounded(build_id, WIRE_MAX_NAME));
  write_word(n);
  for (uint32_t i = 0; i < n; i++) write_string(names[i], bounded(names[i], WIRE_MAX_NAME));
  return 0;
}

/* A library of somebody else's: it is looked at as a DSP would that loads it, and that is all. */
static int do_load(struct cursor *c) {
  static char path[WIRE_MAX_PATH + 1], symbol[WIRE_MAX_NAME + 1];
  take_string(c, path, WIRE_MAX_PATH);
  take_string(c, symbol, WIRE_MAX_NAME);
  if (c->broken || c->left) return refuse((uint32_t)AEE_EBADPARM, "malformed LOAD");
  struct failure failure;
  if (image_look(path, symbol, domain.arch, &failure) < 0) return answer_failure(&failure);
  answer(AEE_SUCCESS, 0);
  return 0;
}

static int do_invoke(struct cursor *c) {
  take_word(c);
  if (c->broken || c->left) return refuse((uint32_t)AEE_EBADPARM, "malformed INVOKE");
  return refuse((uint32_t)AEE_EUNSUPPORTED, "hexmage simulated phone: the library is one that this DSP loads, but the simulated DSP does not run it: this is as far as it goes");
}

static uint32_t element_bytes(uint32_t dtype) {
  switch (dtype) {
    case WIRE_QUINT8:
    case WIRE_QINT8: return 1;
    case WIRE_QUINT16:
    case WIRE_QINT16:
    case WIRE_FLOAT16: return 2;
    case WIRE_FLOAT32:
    case WIRE_INT32: return 4;
    default: return 0;
  }
}

/* Bytes that a tensor's dims ask for, or 0 when its type is unknown, a dim is 0 or the product is beyond the bound. */
static uint32_t dense_bytes(const struct open_tensor *t) {
  uint64_t bytes = element_bytes(t->dtype);
  for (int i = 0; i < 4; i++) {
    if (t->dims[i] == 0 || t->dims[i] > WIRE_MAX_PAYLOAD) return 0;
    bytes *= t->dims[i];
    if (bytes > WIRE_MAX_PAYLOAD) return 0;
  }
  return (uint32_t)bytes;
}

static void take_tensor(struct cursor *c, struct open_tensor *t) {
  t->dtype = take_word(c);
  take(c, t->dims, sizeof t->dims);
  take(c, &t->scale, sizeof t->scale);
  t->zero_point = (int32_t)take_word(c);
  t->bytes = take_word(c);
}

static void write_tensor(const struct open_tensor *t, uint32_t bytes) {
  uint32_t head[WIRE_TENSOR_BYTES / 4] = {t->dtype, t->dims[0], t->dims[1], t->dims[2], t->dims[3]};
  memcpy(&head[5], &t->scale, 4);
  head[6] = (uint32_t)t->zero_point;
  head[7] = bytes;
  write_all(head, sizeof head);
  write_all(t->data, bytes);
}

/* Gives every tensor memory of its own: 128-byte aligned, with room behind it, since HVX code reads whole vectors. */
static int place_tensors(struct open_tensor *tensors, uint32_t n, uint32_t n_out, struct cursor *c) {
  const uint32_t vector = 128;
  uint64_t total = vector;
  for (uint32_t i = 0; i < n; i++) total += ((uint64_t)tensors[i].bytes + 2 * vector - 1) / vector * vector;
  if (total > 4ull * WIRE_MAX_PAYLOAD || grow(&domain.arena, (uint32_t)total) < 0) return -1;
  uint32_t at = (uint32_t)(-(uintptr_t)domain.arena.start & (vector - 1));
  for (uint32_t i = 0; i < n; i++) {
    tensors[i].data = domain.arena.start + at;
    if (i < n_out) memset(tensors[i].data, 0, tensors[i].bytes);
    else take(c, tensors[i].data, tensors[i].bytes);
    at += (tensors[i].bytes + 2 * vector - 1) / vector * vector;
  }
  return 0;
}

static int answer_op(int result, const char *op, struct open_tensor *out, const uint32_t *capacity, uint32_t n_out) {
  static const struct {
    int code;
    const char *text;
  } reasons[] = {
      {AEE_EUNSUPPORTED, ": the library has no such op"},
      {AEE_EBADPARM, ": wrong number of tensors"},
      {AEE_EFAILED, ": the op failed"},
      {AEE_EBADPARM, ": a tensor's buffer is too small, or its type is not one the op knows"},
  };
  struct failure failure;
  if (result != 0) {
    unsigned i = result >= 1 && result <= 4 ? (unsigned)result - 1 : 2;
    fail(&failure, (uint32_t)reasons[i].code, op, reasons[i].text);
    return answer_failure(&failure);
  }
  uint32_t rest = 0, bytes[WIRE_MAX_TENSORS];
  for (uint32_t i = 0; i < n_out; i++) {
    bytes[i] = dense_bytes(&out[i]);
    if (bytes[i] == 0 || bytes[i] > capacity[i]) {
      fail(&failure, (uint32_t)AEE_EFAILED, op, ": the op gave an output dims that its buffer cannot hold");
      return answer_failure(&failure);
    }
    rest += WIRE_TENSOR_BYTES + bytes[i]; /* at most 16 of 64 MiB */
  }
  if (rest > WIRE_MAX_PAYLOAD - 4) return refuse((uint32_t)AEE_EBADPARM, "EXECUTE: the outputs do not fit one frame");
  answer(AEE_SUCCESS, rest);
  for (uint32_t i = 0; i < n_out; i++) write_tensor(&out[i], bytes[i]);
  return 0;
}

static int do_execute(struct cursor *c) {
  const uint32_t bad = (uint32_t)AEE_EBADPARM;
  char op[WIRE_MAX_NAME + 1];
  struct image *image = find_image(take_word(c));
  take_string(c, op, WIRE_MAX_NAME);
  uint32_t n_out = take_word(c), n_in = take_word(c), capacity[WIRE_MAX_TENSORS];
  if (c->broken) return refuse(bad, "malformed EXECUTE");
  if (!image) return refuse((uint32_t)AEE_EINVHANDLE, "EXECUTE: no library is open under this handle");
  if (n_out > WIRE_MAX_TENSORS || n_in > WIRE_MAX_TENSORS - n_out) return refuse(bad, "EXECUTE: too many tensors");
  struct open_tensor tensors[WIRE_MAX_TENSORS];
  for (uint32_t i = 0; i < n_out + n_in; i++) {
    struct open_tensor *t = &tensors[i];
    take_tensor(c, t);
    uint32_t dense = dense_bytes(t);
    if (c->broken || t->bytes > WIRE_MAX_PAYLOAD || dense == 0 || dense > t->bytes) return refuse(bad, "EXECUTE: a tensor's type, dims and size do not agree");
    if (i < n_out) capacity[i] = t->bytes;
  }
  if (place_tensors(tensors, n_out + n_in, n_out, c) < 0) return refuse((uint32_t)AEE_ENOMEMORY, "EXECUTE: no memory for the tensors");
  if (c->broken || c->left) return refuse(bad, "EXECUTE: the inputs' data is not as long as their descriptors say");
  void *data[WIRE_MAX_TENSORS];
  for (uint32_t i = 0; i < n_out; i++) data[i] = tensors[i].data;
  int result = image->execute(op, tensors, n_out, tensors + n_out, n_in);
  for (uint32_t i = 0; i < n_out; i++) tensors[i].data = data[i];
  return answer_op(result, op, tensors, capacity, n_out);
}

static void on_fault(int signal) {
  struct failure failure;
  fail(&failure, (uint32_t)AEE_EBADSTATE, "the protection domain died: the library's code raised signal ", NULL);
  text_add_dec(&failure.text, (uint32_t)signal);
  if (!domain.answering) answer_failure(&failure);
  else text_log(&failure.text);
  sys_exit(1);
}

int serve(uint32_t device_arch) {
  domain.arch = device_arch;
  sys_on_fault(on_fault);
  for (;;) {
    uint32_t head[WIRE_HEADER_BYTES / 4];
    int n = read_all(head, sizeof head);
    if (n <= 0) return n == 0 ? 0 : 1;
    domain.kind = head[1];
    domain.sequence = head[2];
    domain.answering = 0;
    /* After a wrong header nobody knows where the next one starts: answer and hang up. */
    if (head[0] != WIRE_MAGIC || head[3] > WIRE_MAX_PAYLOAD) {
      refuse((uint32_t)AEE_EBADPARM, head[0] != WIRE_MAGIC ? "not a frame of this protocol" : "the frame is longer than the protocol allows");
      return 1;
    }
    if (grow(&domain.payload, head[3]) < 0) {
      refuse((uint32_t)AEE_ENOMEMORY, "no memory for the frame");
      return 1;
    }
    if (head[3] && read_all(domain.payload.start, head[3]) <= 0) return 1;
    struct cursor c = {domain.payload.start, head[3], 0};
    switch (domain.kind) {
      case WIRE_OPEN: do_open(&c); break;
      case WIRE_INFO: do_info(&c); break;
      case WIRE_EXECUTE: do_execute(&c); break;
      case WIRE_LOAD: do_load(&c); break;
      case WIRE_INVOKE: do_invoke(&c); break;
      default: refuse((uint32_t)AEE_EUNSUPPORTED, "no such call"); break;
    }
  }
}
