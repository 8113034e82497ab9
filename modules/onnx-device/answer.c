// Answers a prompt on a phone or board, by ONNX Runtime and the C library alone: such devices have no Python and no tokenizer.
//
//	answer --context DIR --prompt FILE --tokens N --runtime DIR --report DIR [--processor GRAPHS]
//
// context is device/ of htp_context: decoder.txt, rotation.f32, and the graphs that the NPU runs. prompt has token ids, as onnx_run and htp_emulate write them.
// With --processor, ONNX Runtime's own kernels run the quantized graphs of that folder in the NPU's place. runtime has libonnxruntime.so and, for the NPU,
// Qualcomm's libraries. report gets said.json, said.npy and times.json, which accuracy reads; the program also prints its times.
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define PROVIDER "QNNExecutionProvider"
#define MASK (-100.0f) // far below what attention scores reach, as in feed.py
#define SEES 65535     // where a token looks, of graphs that are quantized as mllm does
#define PARTS 64       // of a graph that is cut, at most
#define RANK 8

static void wrong(const char *form, ...) __attribute__((noreturn, format(printf, 1, 2)));

// wrong ends the program with a sentence that says what to do.
static void wrong(const char *form, ...) {
  va_list a;
  va_start(a, form);
  fflush(stdout);
  vfprintf(stderr, form, a);
  va_end(a);
  fputc('\n', stderr);
  fflush(stderr);
  _exit(1); // without the libraries' own cleaning up, which is not always sound
}

static void *grab(size_t n) {
  void *p = calloc(1, n ? n : 1);
  if (!p) wrong("There is no memory for another %zu bytes.", n);
  return p;
}

static char *text(const char *form, ...) __attribute__((format(printf, 1, 2)));

static char *text(const char *form, ...) {
  va_list a;
  va_start(a, form);
  int n = vsnprintf(NULL, 0, form, a);
  va_end(a);
  char *s = grab((size_t)n + 1);
  va_start(a, form);
  vsnprintf(s, (size_t)n + 1, form, a);
  va_end(a);
  return s;
}

static int is_file(const char *at) {
  struct stat s;
  return stat(at, &s) == 0 && S_ISREG(s.st_mode);
}

// content reads a whole file, with a zero after its end.
static char *content(const char *at, size_t *bytes) {
  FILE *f = fopen(at, "rb");
  struct stat s;
  if (!f || fstat(fileno(f), &s)) wrong("%s cannot be read: %m.", at);
  char *data = grab((size_t)s.st_size + 1);
  *bytes = fread(data, 1, (size_t)s.st_size, f);
  if (*bytes != (size_t)s.st_size) wrong("%s is cut short: %zu bytes of %lld were read.", at, *bytes, (long long)s.st_size);
  fclose(f);
  return data;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// --- ONNX Runtime -----------------------------------------------------------------------------------------------------
//
// Its C functions stand in one table, which later releases append to and do nothing else with: so the place of a function is a fact of its ABI, and this
// file needs no header. A test holds the numbers to ONNX Runtime's own header. The last of them came with release 1.22.

#define API_VERSION 22

typedef void Status;
typedef struct { const void *(*GetApi)(uint32_t); const char *(*GetVersionString)(void); } Base;

#define PLACES(X)                                                                                                        \
  X(GetErrorMessage, 2, const char *, (const Status *))                                                                  \
  X(CreateEnv, 3, Status *, (int, const char *, void **))                                                                \
  X(CreateSession, 7, Status *, (const void *, const char *, const void *, void **))                                     \
  X(Run, 9, Status *, (void *, const void *, const char *const *, const void *const *, size_t, const char *const *, size_t, void **)) \
  X(CreateSessionOptions, 10, Status *, (void **))                                                                       \
  X(SetSessionLogSeverityLevel, 22, Status *, (void *, int))                                                             \
  X(SetSessionGraphOptimizationLevel, 23, Status *, (void *, int))                                                       \
  X(SessionGetInputCount, 30, Status *, (const void *, size_t *))                                                        \
  X(SessionGetOutputCount, 31, Status *, (const void *, size_t *))                                                       \
  X(SessionGetInputTypeInfo, 33, Status *, (const void *, size_t, void **))                                              \
  X(SessionGetOutputTypeInfo, 34, Status *, (const void *, size_t, void **))                                             \
  X(SessionGetInputName, 36, Status *, (const void *, size_t, void *, char **))                                          \
  X(SessionGetOutputName, 37, Status *, (const void *, size_t, void *, char **))                                         \
  X(CreateTensorWithDataAsOrtValue, 49, Status *, (const void *, void *, size_t, const int64_t *, size_t, int, void **)) \
  X(CastTypeInfoToTensorInfo, 55, Status *, (const void *, const void **))                                               \
  X(GetTensorElementType, 60, Status *, (const void *, int *))                                                           \
  X(GetDimensionsCount, 61, Status *, (const void *, size_t *))                                                          \
  X(GetDimensions, 62, Status *, (const void *, int64_t *, size_t))                                                      \
  X(CreateCpuMemoryInfo, 69, Status *, (int, int, void **))                                                              \
  X(GetAllocatorWithDefaultOptions, 78, Status *, (void **))                                                             \
  X(AddSessionConfigEntry, 130, Status *, (void *, const char *, const char *))                                          \
  X(SessionOptionsAppendExecutionProvider, 216, Status *, (void *, const char *, const char *const *, const char *const *, size_t)) \
  X(RegisterExecutionProviderLibrary, 301, Status *, (void *, const char *, const char *))                               \
  X(GetEpDevices, 303, Status *, (const void *, const void *const **, size_t *))                                         \
  X(SessionOptionsAppendExecutionProvider_V2, 304, Status *,                                                             \
    (void *, void *, const void *const *, size_t, const char *const *, const char *const *, size_t))                     \
  X(HardwareDevice_Type, 307, int, (const void *))                                                                       \
  X(EpDevice_EpName, 312, const char *, (const void *))                                                                  \
  X(EpDevice_Device, 316, const void *, (const void *))

#define MEMBER(name, place, returns, takes) returns(*name) takes;
static struct { PLACES(MEMBER) } ort;

enum { FLOAT = 1, UINT8 = 2, UINT16 = 4, INT32 = 6 }; // types of tensors
enum { ERROR = 3, NPU = 2, ARENA = 1, BASIC = 1 };    // of logs, of devices, of allocators, of optimizations

static int size_of(int type) { return type == UINT8 ? 1 : type == UINT16 ? 2 : type == FLOAT || type == INT32 ? 4 : 0; }

static const char *name_of(int type) {
  const char *names[] = {"nothing", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "strings", "bool", "float16", "double"};
  return type >= 0 && type < (int)(sizeof names / sizeof *names) ? names[type] : "another type";
}

static const char *version;
static void *env, *memory, *allocator;

// said gives what a status says, NULL where it says that all is well.
static const char *said(Status *s) { return s ? ort.GetErrorMessage(s) : NULL; }

static void must(Status *s, const char *what) {
  if (s) wrong("ONNX Runtime %s: %s: %s", version, what, said(s));
}

static void *library(const char *folder, const char *name) {
  char *at = text("%s/%s", folder, name);
  if (!is_file(at)) wrong("%s is not there: --runtime names the folder with libonnxruntime.so and the libraries that it loads.", at);
  void *l = dlopen(at, RTLD_NOW | RTLD_GLOBAL);
  if (!l) wrong("%s cannot be loaded: %s", at, dlerror());
  return l;
}

static void load_runtime(const char *folder) {
  void *l = library(folder, "libonnxruntime.so");
  const Base *(*base)(void);
  *(void **)&base = dlsym(l, "OrtGetApiBase");
  if (!base) wrong("%s/libonnxruntime.so has no OrtGetApiBase: it is not ONNX Runtime.", folder);
  version = base()->GetVersionString();
  const void *const *table = base()->GetApi(API_VERSION);
  if (!table) wrong("%s/libonnxruntime.so is ONNX Runtime %s; 1.%d or newer is needed.", folder, version, API_VERSION);
#define TAKE(name, place, returns, takes) memcpy(&ort.name, table + place, sizeof ort.name);
  PLACES(TAKE)
  must(ort.CreateEnv(ERROR, "answer", &env), "start");
  must(ort.CreateCpuMemoryInfo(ARENA, 0, &memory), "memory");
  must(ort.GetAllocatorWithDefaultOptions(&allocator), "memory");
}

// add_npu gives a session Qualcomm's provider: the plug-in if the folder has it, else the provider in libonnxruntime.so.
static void add_npu(void *options, const char *folder) {
  const char *keys[] = {"backend_path", "htp_performance_mode"}, *values[] = {text("%s/libQnnHtp.so", folder), "burst"};
  const char *plugin = "libonnxruntime_providers_qnn.so";
  char *at = text("%s/%s", folder, plugin);
  static int known;
  if (!known++) { // of one that does not load ONNX Runtime tells what came of it, and not why
    library(folder, "libQnnSystem.so");
    library(folder, "libQnnHtp.so");
    if (is_file(at)) {
      library(folder, plugin);
      must(ort.RegisterExecutionProviderLibrary(env, PROVIDER, at), plugin);
    }
  }
  if (!is_file(at)) {
    Status *s = ort.SessionOptionsAppendExecutionProvider(options, "QNN", keys, values, 2);
    if (s)
      wrong("%s has no %s, and its libonnxruntime.so, %s, has no QNN provider in it (%s). Put the plug-in there, of com.qualcomm.qti:onnxruntime-android-qnn.", folder,
            plugin, version, said(s));
    return;
  }
  const void *const *all, *device = NULL;
  size_t n;
  must(ort.GetEpDevices(env, &all, &n), "devices");
  for (size_t i = 0; i < n; i++)
    if (!strcmp(ort.EpDevice_EpName(all[i]), PROVIDER) && (!device || ort.HardwareDevice_Type(ort.EpDevice_Device(all[i])) == NPU)) device = all[i];
  if (!device) wrong("Qualcomm's execution provider offers no device: is it of a release that goes with ONNX Runtime %s?", version);
  must(ort.SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, keys, values, 2), plugin);
}

// --- graphs -----------------------------------------------------------------------------------------------------------

typedef struct {
  const char *name;
  int type;
  size_t rank, count, bytes;
  int64_t shape[RANK];
  char *data;
  void *value;
} Tensor;

typedef struct { Tensor *of; const char **names; void **values; size_t n; } Tensors;
typedef struct { char *file; void *session; Tensors in, out; } Part;
typedef struct { Part part[PARTS]; size_t parts; int64_t width; } Graph;

static Tensor *find(Tensors *t, const char *name) {
  for (size_t i = 0; i < t->n; i++)
    if (!strcmp(t->of[i].name, name)) return &t->of[i];
  return NULL;
}

// described reads a tensor's name, type and shape, which must be fixed.
static Tensor described(Part *p, size_t i, int input) {
  Tensor t = {0};
  void *info;
  const void *tensor;
  char *name;
  must((input ? ort.SessionGetInputName : ort.SessionGetOutputName)(p->session, i, allocator, &name), p->file);
  must((input ? ort.SessionGetInputTypeInfo : ort.SessionGetOutputTypeInfo)(p->session, i, &info), p->file);
  t.name = name;
  must(ort.CastTypeInfoToTensorInfo(info, &tensor), p->file);
  if (!tensor) wrong("%s: %s is no tensor.", p->file, name);
  must(ort.GetTensorElementType(tensor, &t.type), p->file);
  must(ort.GetDimensionsCount(tensor, &t.rank), p->file);
  if (!size_of(t.type)) wrong("%s: %s is of %s; float, uint8, uint16 and int32 are known.", p->file, name, name_of(t.type));
  if (t.rank > RANK) wrong("%s: %s has %zu dimensions.", p->file, name, t.rank);
  must(ort.GetDimensions(tensor, t.shape, t.rank), p->file);
  t.count = 1;
  for (size_t d = 0; d < t.rank; d++) {
    if (t.shape[d] < 1 || t.shape[d] > INT32_MAX || t.count > SIZE_MAX / 8 / (size_t)t.shape[d]) wrong("%s: the shape of %s is not fixed: onnx_llm makes graphs whose shapes are.", p->file, name);
    t.count *= (size_t)t.shape[d];
  }
  t.bytes = t.count * (size_t)size_of(t.type);
  return t;
}

static void tensors(Part *p, Tensors *t, int input) {
  must((input ? ort.SessionGetInputCount : ort.SessionGetOutputCount)(p->session, &t->n), p->file);
  t->of = grab(t->n * sizeof *t->of);
  t->names = grab(t->n * sizeof *t->names);
  t->values = grab(t->n * sizeof *t->values);
  for (size_t i = 0; i < t->n; i++) {
    t->of[i] = described(p, i, input);
    t->names[i] = t->of[i].name;
  }
}

// place gives a tensor its data, new or those of another one, and ONNX Runtime a value for it.
static void place(Part *p, Tensors *t, size_t i, Tensor *same) {
  Tensor *own = &t->of[i];
  if (same && (same->type != own->type || same->bytes != own->bytes)) wrong("%s: %s is not what another graph has under this name: both must be of one model.", p->file, own->name);
  own->data = same ? same->data : grab(own->bytes);
  must(ort.CreateTensorWithDataAsOrtValue(memory, own->data, own->bytes, own->shape, own->rank, own->type, &t->values[i]), p->file);
}

// --- what is asked ----------------------------------------------------------------------------------------------------

typedef struct {
  int64_t *prompt, *stop;
  size_t prompts, stops;
  int64_t most;
  int shared;       // both graphs are in one context
  const char *made; // by which compiler, and for which chip
  struct { const char *name; long value; } *zero; // of the cache
  size_t zeros;
  float *rotation;
  size_t rotations;
} Ask;

static int64_t number(const char *word, const char *file) {
  char *end;
  long long v = strtoll(word, &end, 10);
  if (*end || end == word || strlen(word) > 18) wrong("%s: invalid number \"%s\".", file, word);
  return v;
}

static int64_t *numbers(char *line, size_t *n, const char *file) {
  int64_t *v = grab((strlen(line) / 2 + 1) * sizeof *v);
  for (char *w = strtok(line, " \n"); w; w = strtok(NULL, " \n")) v[(*n)++] = number(w, file);
  return v;
}

static Ask asked(const char *context, const char *prompt, const char *tokens) {
  Ask a = {0};
  size_t bytes, lines = 0;
  a.prompt = numbers(content(prompt, &bytes), &a.prompts, prompt);
  if (!a.prompts) wrong("%s: the prompt has no tokens.", prompt);
  a.most = number(tokens, "--tokens");
  if (a.most < 1) wrong("--tokens %s: ask for one token at least.", tokens);
  char *file = text("%s/decoder.txt", context), *rest = content(file, &bytes);
  for (size_t i = 0; i < bytes; i++) lines += rest[i] == '\n';
  a.zero = grab((lines + 1) * sizeof *a.zero);
  while (rest && *rest) {
    char *line = rest, *end = strchr(rest, '\n');
    rest = end ? end + 1 : NULL;
    if (end) *end = 0;
    char *value = strchr(line, ' ');
    if (!value) wrong("%s: the line \"%s\" has no value.", file, line);
    *value++ = 0;
    if (!strcmp(line, "stop")) a.stop = numbers(value, &a.stops, file);
    else if (!strcmp(line, "shared")) a.shared = number(value, file) != 0;
    else if (!strcmp(line, "made")) a.made = value;
    else if (!strcmp(line, "zero")) {
      char *of = strchr(value, ' ');
      if (!of) wrong("%s: the zero of %s has no value.", file, value);
      *of++ = 0;
      a.zero[a.zeros].name = value;
      a.zero[a.zeros++].value = (long)number(of, file);
    } else wrong("%s: unknown name %s: another release of hexmage made the file or this program.", file, line);
  }
  a.rotation = (float *)content(text("%s/rotation.f32", context), &bytes);
  a.rotations = bytes / sizeof(float);
  return a;
}

// --- a decoder --------------------------------------------------------------------------------------------------------

typedef struct {
  Ask ask;
  Graph prefill, decode;
  Tensor *cache; // of both graphs, by name
  size_t caches;
  int64_t context, past, vocabulary, hidden;
  const uint16_t *table; // the embedding, where it is outside: float16
} Decoder;

static float half(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023, bits;
  if (exponent == 0) { // zero, or smaller than the least normal one
    float f = (float)fraction * 0x1p-24f;
    return sign ? -f : f;
  }
  bits = sign | (exponent == 31 ? 255u << 23 : (exponent + 112) << 23) | fraction << 13;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static Tensor *cached(Decoder *d, const char *name) {
  for (size_t i = 0; i < d->caches; i++)
    if (!strcmp(d->cache[i].name, name)) return &d->cache[i];
  return NULL;
}

// fill_zero sets a tensor of the cache to its quantised zero.
static void fill_zero(Decoder *d, Tensor *t) {
  long zero = 0;
  for (size_t i = 0; i < d->ask.zeros; i++)
    if (!strcmp(d->ask.zero[i].name, t->name)) zero = d->ask.zero[i].value;
  for (size_t i = 0; zero && i < t->count; i++) {
    if (t->type == UINT8) ((uint8_t *)t->data)[i] = (uint8_t)zero;
    else if (t->type == UINT16) ((uint16_t *)t->data)[i] = (uint16_t)zero;
    else wrong("%s is of %s, and has a zero of %ld.", t->name, name_of(t->type), zero);
  }
}

static void want(Part *p, Tensor *t, int type, size_t rank) {
  if (t->type != type || t->rank != rank)
    wrong("%s: %s has %zu dimensions of %s, and %zu of %s are wanted: is it a graph that onnx_llm made?", p->file, t->name, t->rank, name_of(t->type), rank, name_of(type));
}

// given checks what a graph takes, so that what it is given later fits: the names and shapes are those of feed.py.
static void given(Decoder *d, Graph *g, Part *p, Tensor *t) {
  const char *n = t->name;
  int64_t w = g->width, *s = t->shape;
  if (!strcmp(n, "input_ids")) want(p, t, INT32, 2);
  else if (!strcmp(n, "embedded")) {
    want(p, t, FLOAT, 3);
    d->hidden = s[2];
  } else if (!strcmp(n, "mask") || !strcmp(n, "looks")) {
    want(p, t, *n == 'm' ? FLOAT : UINT16, 4);
    if (s[3] != d->context + w || s[2] != w) wrong("%s: %s is for a cache of %lld tokens, and the cache holds %lld.", p->file, n, (long long)(s[3] - w), (long long)d->context);
  } else if (!strcmp(n, "cos") || !strcmp(n, "sin")) {
    want(p, t, FLOAT, 4);
    if (d->ask.rotations % (size_t)(2 * s[3]) || (int64_t)(d->ask.rotations / (size_t)(2 * s[3])) < d->context + w - 1)
      wrong("rotation.f32 has %zu numbers, which are not those of %lld positions of %lld: was it made of another model?", d->ask.rotations, (long long)(d->context + w), (long long)s[3]);
  } else if (!strcmp(n, "position_ids")) want(p, t, INT32, 1);
  else if (strncmp(n, "past_", 5))
    wrong("%s: unknown input %s, which graphs of onnx_llm do not take: --context names device/ of htp_context, and --processor what onnx_quantize made.", p->file, n);
}

// load_part opens a graph's file.
static void load_part(Decoder *d, Part *p, const char *runtime, int processor) {
  void *options;
  must(ort.CreateSessionOptions(&options), p->file);
  must(ort.SetSessionLogSeverityLevel(options, ERROR), p->file);
  if (processor) { // as runtime.py has it, which says why
    must(ort.SetSessionGraphOptimizationLevel(options, BASIC), p->file);
    must(ort.AddSessionConfigEntry(options, "session.disable_quant_qdq", "1"), p->file);
  } else {
    add_npu(options, runtime);
    must(ort.AddSessionConfigEntry(options, "session.disable_cpu_ep_fallback", "1"), p->file);
    if (d->ask.shared) must(ort.AddSessionConfigEntry(options, "ep.share_ep_contexts", "1"), p->file);
  }
  Status *s = ort.CreateSession(env, p->file, options, &p->session);
  if (s && processor) wrong("%s was not loaded: %s", p->file, said(s));
  if (s)
    wrong("%s: the context was not loaded: %s\nQualcomm's libraries print the cause above. The context is %s.", p->file, said(s), d->ask.made ? d->ask.made : "of an unknown chip");
  tensors(p, &p->in, 1);
  tensors(p, &p->out, 0);
}

// load_graph opens the parts of a graph, GRAPH or GRAPH_0 and so on, and joins what one gives to what a later one takes.
static void load_graph(Decoder *d, Graph *g, const char *folder, const char *name, const char *runtime, int processor) {
  const char *end = processor ? ".onnx" : "_ctx.onnx";
  char *one = text("%s/%s%s", folder, name, end);
  if (is_file(one)) g->part[g->parts++].file = one;
  else
    while (g->parts < PARTS) { // beside each other, or each with its context in a folder of its own, as htp_context has them
      char *at = text("%s/%s_%zu%s", folder, name, g->parts, end);
      if (!is_file(at)) at = text("%s/%zu/%s_%zu%s", folder, g->parts, name, g->parts, end);
      if (!is_file(at)) break;
      g->part[g->parts++].file = at;
    }
  if (!g->parts) wrong("%s has no %s%s.", folder, name, end);
  for (size_t i = 0; i < g->parts; i++) load_part(d, &g->part[i], runtime, processor);
  for (size_t i = 0; i < g->parts; i++) {
    Part *p = &g->part[i];
    for (size_t k = 0; k < p->in.n; k++) {
      Tensor *t = &p->in.of[k];
      if ((!strcmp(t->name, "input_ids") || !strcmp(t->name, "embedded")) && t->rank >= 2) g->width = t->shape[1];
      if (!strncmp(t->name, "past_", 5)) {
        if (t->rank != 4 || (d->context && t->shape[2] != d->context)) wrong("%s: %s does not hold as many tokens as the rest of the cache.", p->file, t->name);
        d->context = t->shape[2];
      }
    }
  }
  if (!g->width || !d->context) wrong("%s takes no tokens, or has no cache: it is no language model as onnx_llm makes it.", g->part[0].file);
  for (size_t i = 0; i < g->parts; i++) {
    Part *p = &g->part[i];
    for (size_t k = 0; k < p->in.n; k++) {
      Tensor *t = &p->in.of[k], *same = NULL;
      for (size_t before = 0; before < i && !same; before++) same = find(&g->part[before].out, t->name);
      if (!same) {
        given(d, g, p, t);
        same = cached(d, t->name);
      }
      place(p, &p->in, k, same);
      if (!same && !strncmp(t->name, "past_", 5)) {
        d->cache = realloc(d->cache, (d->caches + 1) * sizeof *d->cache);
        if (!d->cache) wrong("There is no memory for the cache.");
        fill_zero(d, t);
        d->cache[d->caches++] = *t;
      }
    }
    for (size_t k = 0; k < p->out.n; k++) place(p, &p->out, k, NULL);
  }
  Part *last = &g->part[g->parts - 1];
  Tensor *logits = find(&last->out, "logits");
  if (!logits) wrong("%s gives no logits.", last->file);
  want(last, logits, FLOAT, 3);
  if (logits->shape[1] != g->width || (d->vocabulary && d->vocabulary != logits->shape[2])) wrong("%s: its logits are not those of %lld tokens of this model.", last->file, (long long)g->width);
  d->vocabulary = logits->shape[2];
}

static Decoder loaded(Ask ask, const char *graphs, const char *runtime, int processor) {
  Decoder d = {.ask = ask};
  load_graph(&d, &d.prefill, graphs, "prefill", runtime, processor);
  load_graph(&d, &d.decode, graphs, "decode", runtime, processor);
  for (size_t i = 0; i < ask.prompts; i++)
    if (ask.prompt[i] < 0 || ask.prompt[i] >= d.vocabulary)
      wrong("Token %zu of the prompt is %lld, outside of the vocabulary of %lld: was the prompt made for another model?", i + 1, (long long)ask.prompt[i], (long long)d.vocabulary);
  if ((int64_t)ask.prompts > d.context) wrong("The cache holds %lld tokens, and the prompt has %zu: give onnx_llm a larger context, or ask for less.", (long long)d.context, ask.prompts);
  if (d.hidden) {
    size_t wanted = 2 * (size_t)d.vocabulary * (size_t)d.hidden;
    char *at = text("%s/embedding.bin", graphs);
    FILE *f = fopen(at, "rb");
    struct stat s;
    if (!f || fstat(fileno(f), &s)) wrong("%s cannot be read: %m. The graphs have no embedding, and take rows of that file.", at);
    if ((size_t)s.st_size != wanted)
      wrong("%s has %lld bytes, not the %zu of %lld rows of %lld. Take all of the folder.", at, (long long)s.st_size, wanted, (long long)d.vocabulary, (long long)d.hidden);
    void *table = mmap(NULL, wanted, PROT_READ, MAP_PRIVATE, fileno(f), 0); // a large model's would not fit beside its context
    if (table == MAP_FAILED) wrong("%s cannot be read: %m.", at);
    d.table = table;
  }
  return d;
}

// feed writes what a graph is given for n tokens, after those that the cache has.
static void feed(Decoder *d, Graph *g, Tensor *t, const int64_t *tokens, size_t n) {
  size_t w = (size_t)g->width, context = (size_t)d->context, past = (size_t)d->past;
  if (!strcmp(t->name, "input_ids"))
    for (size_t i = 0; i < w; i++) ((int32_t *)t->data)[i] = i < n ? (int32_t)tokens[i] : 0;
  else if (!strcmp(t->name, "embedded"))
    for (size_t i = 0; i < w; i++)
      for (size_t k = 0; k < (size_t)d->hidden; k++) ((float *)t->data)[i * (size_t)d->hidden + k] = half(d->table[(i < n ? (size_t)tokens[i] : 0) * (size_t)d->hidden + k]);
  else if (!strcmp(t->name, "mask") || !strcmp(t->name, "looks"))
    for (size_t i = 0; i < w; i++)
      for (size_t k = 0; k < context + w; k++) {
        int sees = k < past || (k >= context && k <= context + i);
        if (t->type == FLOAT) ((float *)t->data)[i * (context + w) + k] = sees ? 0 : MASK;
        else ((uint16_t *)t->data)[i * (context + w) + k] = sees ? SEES : 0;
      }
  else if (!strcmp(t->name, "cos") || !strcmp(t->name, "sin")) {
    size_t row = (size_t)t->shape[3], all = d->ask.rotations / 2;
    for (size_t i = 0; i < w; i++) { // of what fills a chunk up it does not matter
      size_t at = past + i < all / row ? past + i : all / row - 1;
      memcpy((float *)t->data + i * row, d->ask.rotation + (*t->name == 's' ? all : 0) + at * row, row * sizeof(float));
    }
  } else if (!strcmp(t->name, "position_ids"))
    for (size_t i = 0; i < w; i++) ((int32_t *)t->data)[i] = (int32_t)(past + i < context ? past + i : context - 1);
}

// keep copies the keys and values of n tokens, or those of a part, into the cache.
static void keep(Decoder *d, Part *p, size_t n) {
  for (size_t i = 0; i < p->out.n; i++) {
    Tensor *t = &p->out.of[i], *c;
    if (strncmp(t->name, "new_", 4)) continue;
    char *name = text("past_%s", t->name + 4);
    if (!(c = cached(d, name))) wrong("%s gives %s, and takes no %s.", p->file, t->name, name);
    free(name);
    if (t->type != c->type || t->rank != 4 || t->shape[1] != c->shape[1] || t->shape[3] != c->shape[3] || (int64_t)n > t->shape[2]) wrong("%s: %s does not fit into %s.", p->file, t->name, c->name);
    size_t row = (size_t)c->shape[3] * (size_t)size_of(c->type);
    for (size_t h = 0; h < (size_t)c->shape[1]; h++)
      memcpy(c->data + (h * (size_t)d->context + (size_t)d->past) * row, t->data + h * (size_t)t->shape[2] * row, n * row);
  }
}

// step takes n tokens, remembers their keys and values, and gives the logits of the last one.
static const float *step(Decoder *d, Graph *g, const int64_t *tokens, size_t n) {
  for (size_t i = 0; i < g->parts; i++) {
    Part *p = &g->part[i];
    for (size_t k = 0; k < p->in.n; k++) feed(d, g, &p->in.of[k], tokens, n);
    must(ort.Run(p->session, NULL, p->in.names, (const void *const *)p->in.values, p->in.n, p->out.names, p->out.n, p->out.values), p->file);
  }
  for (size_t i = 0; i < g->parts; i++) keep(d, &g->part[i], n);
  d->past += (int64_t)n;
  return (const float *)find(&g->part[g->parts - 1].out, "logits")->data + (n - 1) * (size_t)d->vocabulary;
}

// --- what was said ----------------------------------------------------------------------------------------------------

typedef struct {
  int64_t *tokens;
  float *logits; // before each token
  double *prefill, *decode;
  size_t n, prefills, decodes;
} Said;

static Said answer(Decoder *d) {
  Ask *a = &d->ask;
  size_t most = (size_t)(a->most < d->context + 1 ? a->most : d->context + 1), v = (size_t)d->vocabulary, chunk = (size_t)d->prefill.width;
  Said s = {grab(most * sizeof *s.tokens), grab(most * v * sizeof *s.logits), grab((a->prompts / chunk + 1) * sizeof *s.prefill), grab(most * sizeof *s.decode), 0, 0, 0};
  const float *row = NULL;
  for (size_t i = 0; i < a->prompts; i += chunk) {
    double begun = now();
    row = step(d, &d->prefill, a->prompt + i, a->prompts - i < chunk ? a->prompts - i : chunk);
    s.prefill[s.prefills++] = now() - begun;
  }
  for (;;) {
    int64_t token = 0;
    for (size_t i = 1; i < v; i++)
      if (row[i] > row[token]) token = (int64_t)i;
    memcpy(s.logits + s.n * v, row, v * sizeof *row);
    s.tokens[s.n++] = token;
    int end = s.n >= most || d->past >= d->context;
    for (size_t i = 0; i < a->stops; i++) end |= token == a->stop[i];
    if (end) return s;
    double begun = now();
    row = step(d, &d->decode, &token, 1);
    s.decode[s.decodes++] = now() - begun;
  }
}

static FILE *make(const char *folder, const char *name) {
  char *at = text("%s/%s", folder, name);
  FILE *f = fopen(at, "wb");
  if (!f) wrong("%s cannot be written: %m.", at);
  return f;
}

static void end(FILE *f, const char *folder) {
  if (ferror(f) | fclose(f)) wrong("%s cannot be written: %m.", folder);
}

static void integers(FILE *f, const char *name, const int64_t *v, size_t n) {
  fprintf(f, " \"%s\": [", name);
  for (size_t i = 0; i < n; i++) fprintf(f, "%s%lld", i ? ", " : "", (long long)v[i]);
  fprintf(f, "],\n");
}

static void seconds(FILE *f, const char *name, const double *v, size_t n, const char *after) {
  fprintf(f, "\"%s\": [", name);
  for (size_t i = 0; i < n; i++) fprintf(f, "%s%.3f", i ? ", " : "", v[i]);
  fprintf(f, "]%s", after);
}

static double sum(const double *v, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += v[i];
  return s;
}

// report writes what accuracy reads. accuracy decodes the words.
static void report(Decoder *d, Said *s, const char *folder, const char *on) {
  FILE *f = make(folder, "said.json");
  fprintf(f, "{\n");
  integers(f, "prompt_tokens", d->ask.prompt, d->ask.prompts);
  integers(f, "tokens", s->tokens, s->n);
  fprintf(f, " \"on\": \"%s\"\n}\n", on);
  end(f, folder);
  f = make(folder, "said.npy"); // numpy's own format: a header of 64 or 128 bytes that ends with a line, then the numbers
  char *head = text("{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %lld), }", s->n, (long long)d->vocabulary);
  fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
  fprintf(f, "%-117s\n", head);
  fwrite(s->logits, sizeof *s->logits, s->n * (size_t)d->vocabulary, f);
  end(f, folder);
  f = make(folder, "times.json");
  fprintf(f, "{");
  seconds(f, "prefill", s->prefill, s->prefills, ", ");
  seconds(f, "decode", s->decode, s->decodes, "}\n");
  end(f, folder);
}

int main(int argc, char **argv) {
  const char *context = NULL, *prompt = NULL, *tokens = NULL, *runtime = NULL, *out = NULL, *processor = NULL;
  const struct { const char *name, **value; } options[] = {{"--context", &context}, {"--prompt", &prompt}, {"--tokens", &tokens}, {"--runtime", &runtime}, {"--report", &out}, {"--processor", &processor}};
  int i = 1;
  for (; i + 1 < argc; i += 2) {
    size_t k = 0;
    while (k < sizeof options / sizeof *options && strcmp(argv[i], options[k].name)) k++;
    if (k == sizeof options / sizeof *options) break;
    *options[k].value = argv[i + 1];
  }
  if (i != argc || !context || !prompt || !tokens || !runtime || !out)
    wrong("usage: answer --context DIR --prompt FILE --tokens N --runtime DIR --report DIR [--processor GRAPHS]");
  struct stat there;
  if (mkdir(out, 0755) && (stat(out, &there) || !S_ISDIR(there.st_mode))) wrong("%s cannot be made: %m.", out);
  char *libraries = realpath(runtime, NULL);
  if (!libraries) wrong("%s is not there: --runtime names the folder with libonnxruntime.so and the libraries that it loads.", runtime);
  const char *own = getenv("ADSP_LIBRARY_PATH"); // where the NPU looks for its part of the libraries
  setenv("ADSP_LIBRARY_PATH", own && *own ? text("%s;%s", libraries, own) : libraries, 1);
  setenv("ORT_DISABLE_TELEMETRY", "1", 1);

  Ask a = asked(context, prompt, tokens);
  load_runtime(libraries);
  double begun = now();
  Decoder d = loaded(a, processor ? processor : context, libraries, processor != NULL);
  double load = now() - begun;
  Said s = answer(&d);
  struct utsname machine;
  if (uname(&machine)) wrong("uname: %m.");
  char *on = processor ? text("ONNX Runtime %s's own kernels on %s, in the NPU's place", version, machine.machine) : strcmp(machine.machine, "x86_64") ? "the NPU" : "Qualcomm's emulator for x86, in the NPU's place";
  report(&d, &s, out, on);
  printf("tokens:");
  for (size_t i = 0; i < s.n; i++) printf(" %lld", (long long)s.tokens[i]);
  double first = 1e3 * sum(s.prefill, s.prefills);
  printf("\nran on: %s\nload: %.1f ms\nprompt: %zu tokens in %.1f ms\ntime to first token: %.1f ms\n", on, 1e3 * load, a.prompts, first, first);
  if (s.decodes) printf("answer: %zu more tokens in %.1f ms\n", s.decodes, 1e3 * sum(s.decode, s.decodes));
  fflush(stdout);
  _exit(0); // without the libraries' own cleaning up, which is not always sound
}
