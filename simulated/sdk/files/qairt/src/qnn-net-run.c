// hexmage simulated: qnn-net-run, with Qualcomm's arguments, lines and files. ONNX Runtime's kernels for arm64 compute the ONNX graph that a simulated
// context carries, in the NPU's place; a context of Qualcomm's compiler is refused. It reads its arguments' table, arguments.txt, beside itself.
#define _GNU_SOURCE // memmem
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TENSORS 256
#define RANK 8

static void fail(const char *form, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void fail(const char *form, ...) {
  va_list a;
  va_start(a, form);
  fflush(stdout);
  vfprintf(stderr, form, a);
  va_end(a);
  fputc('\n', stderr);
  _exit(1);
}

static char *content(const char *at, size_t *size) {
  FILE *f = fopen(at, "rb");
  struct stat s;
  if (!f || fstat(fileno(f), &s)) fail("Failed to open file: %s", at);
  char *data = calloc(1, (size_t)s.st_size + 1);
  if (!data || fread(data, 1, (size_t)s.st_size, f) != (size_t)s.st_size) fail("Failed to read file: %s", at);
  fclose(f);
  *size = (size_t)s.st_size;
  return data;
}

// --- ONNX Runtime: places of functions in its table, which later releases append to ---------------------------------------------

typedef void Status;
typedef struct { const void *(*GetApi)(uint32_t); const char *(*GetVersionString)(void); } Base;

#define PLACES(X)                                                                                                                  \
  X(GetErrorMessage, 2, const char *, (const Status *))                                                                            \
  X(CreateEnv, 3, Status *, (int, const char *, void **))                                                                          \
  X(CreateSessionFromArray, 8, Status *, (const void *, const void *, size_t, const void *, void **))                              \
  X(Run, 9, Status *, (void *, const void *, const char *const *, const void *const *, size_t, const char *const *, size_t, void **)) \
  X(CreateSessionOptions, 10, Status *, (void **))                                                                                 \
  X(SessionGetInputTypeInfo, 33, Status *, (const void *, size_t, void **))                                                        \
  X(SessionGetOutputTypeInfo, 34, Status *, (const void *, size_t, void **))                                                       \
  X(SessionGetInputCount, 30, Status *, (const void *, size_t *))                                                                  \
  X(SessionGetOutputCount, 31, Status *, (const void *, size_t *))                                                                 \
  X(SessionGetInputName, 36, Status *, (const void *, size_t, void *, char **))                                                    \
  X(SessionGetOutputName, 37, Status *, (const void *, size_t, void *, char **))                                                   \
  X(CreateTensorWithDataAsOrtValue, 49, Status *, (const void *, void *, size_t, const int64_t *, size_t, int, void **))           \
  X(GetTensorMutableData, 51, Status *, (void *, void **))                                                                         \
  X(CastTypeInfoToTensorInfo, 55, Status *, (const void *, const void **))                                                         \
  X(GetTensorElementType, 60, Status *, (const void *, int *))                                                                     \
  X(GetDimensionsCount, 61, Status *, (const void *, size_t *))                                                                    \
  X(GetDimensions, 62, Status *, (const void *, int64_t *, size_t))                                                                \
  X(CreateCpuMemoryInfo, 69, Status *, (int, int, void **))                                                                        \
  X(GetAllocatorWithDefaultOptions, 78, Status *, (void **))                                                                       \
  X(AddSessionConfigEntry, 130, Status *, (void *, const char *, const char *))

#define MEMBER(name, place, returns, takes) returns(*name) takes;
static struct { PLACES(MEMBER) } ort;
static void *env, *memory, *allocator;

static void ok(Status *s) {
  if (s) fail("Execute failed: %s", ort.GetErrorMessage(s));
}

static void load(void) {
  void *library = dlopen("libonnxruntime.so", RTLD_NOW);
  if (!library) fail("Unable to load backend. dlerror(): %s", dlerror());
  const Base *(*base)(void) = (const Base *(*)(void))dlsym(library, "OrtGetApiBase");
  void *const *table = base ? base()->GetApi(22) : NULL;
  if (!table) fail("libonnxruntime.so is older than 1.22");
#define FILL(name, place, returns, takes) memcpy(&ort.name, table + place, sizeof ort.name);
  PLACES(FILL)
  ok(ort.CreateEnv(3, "simulated", &env));
  ok(ort.CreateCpuMemoryInfo(1, 0, &memory));
  ok(ort.GetAllocatorWithDefaultOptions(&allocator));
}

// --- Tensors --------------------------------------------------------------------------------------------------------------------

enum { FLOAT = 1, UINT8 = 2, UINT16 = 4, INT32 = 6, INT64 = 7 }; // ONNX's types

typedef struct {
  char name[256], dtype[16]; // as the context has it
  double scale;
  int offset;
  int type; // as the ONNX graph has it
  int64_t dims[RANK], elements;
  size_t rank;
} Tensor;

typedef struct {
  char *name, *tensors, *model;
  size_t size;
  Tensor in[TENSORS], out[TENSORS];
  size_t ins, outs;
  void *session;
} Graph;

static int width(const Tensor *t, int native) { // bytes of an element in a file
  if (!native) return 4;
  int bits = 0;
  return sscanf(t->dtype, "%*[a-z]%d", &bits) == 1 ? bits / 8 : 1;
}

// number reads element i of a file as a real number, and put writes one.
static double number(const Tensor *t, int native, const char *data, int64_t i) {
  int w = width(t, native);
  union { float f; int32_t i; uint16_t h; uint8_t b; int64_t l; } v = {0};
  memcpy(&v, data + i * w, (size_t)w);
  if (!native || !strncmp(t->dtype, "float", 5)) return v.f;
  double n = w == 8 ? (double)v.l : w == 4 ? v.i : w == 2 ? v.h : v.b;
  return t->scale ? t->scale * (n + t->offset) : n;
}

static void put(const Tensor *t, int native, double x, FILE *f) {
  int w = width(t, native);
  union { float f; int32_t i; uint16_t h; uint8_t b; int64_t l; } v = {0};
  if (!native || !strncmp(t->dtype, "float", 5)) {
    v.f = (float)x;
  } else {
    double n = t->scale ? round(x / t->scale) - t->offset : x, most = w == 2 ? 65535 : w == 1 ? 255 : 2147483647;
    n = n < 0 && t->scale ? 0 : n > most ? most : n;
    if (w == 8) v.l = (int64_t)n;
    else if (w == 4) v.i = (int32_t)n;
    else if (w == 2) v.h = (uint16_t)n;
    else v.b = (uint8_t)n;
  }
  if (fwrite(&v, (size_t)w, 1, f) != 1) fail("Failed to write outputs");
}

static void describe(Graph *g, int side) {
  size_t count;
  ok((side ? ort.SessionGetOutputCount : ort.SessionGetInputCount)(g->session, &count));
  if (count > TENSORS) fail("the graph has more than %d inputs", TENSORS);
  Tensor *list = side ? g->out : g->in;
  *(side ? &g->outs : &g->ins) = count;
  for (size_t i = 0; i < count; i++) {
    Tensor *t = &list[i];
    char *name, line[600];
    void *info;
    const void *tensor;
    ok((side ? ort.SessionGetOutputName : ort.SessionGetInputName)(g->session, i, allocator, &name));
    ok((side ? ort.SessionGetOutputTypeInfo : ort.SessionGetInputTypeInfo)(g->session, i, &info));
    ok(ort.CastTypeInfoToTensorInfo(info, &tensor));
    ok(ort.GetTensorElementType(tensor, &t->type));
    ok(ort.GetDimensionsCount(tensor, &t->rank));
    if (t->rank > RANK) fail("%s has more than %d dimensions", name, RANK);
    ok(ort.GetDimensions(tensor, t->dims, t->rank));
    t->elements = 1;
    for (size_t d = 0; d < t->rank; d++) t->elements *= t->dims[d];
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(g->tensors, line);
    if (!at || sscanf(at + strlen(line), "%15s %lf %d", t->dtype, &t->scale, &t->offset) != 3) fail("%s is not in the context", name);
  }
}

// --- A run ----------------------------------------------------------------------------------------------------------------------

static void *value_of(const Tensor *t, int native, const char *word) {
  size_t size;
  char *data = content(word, &size);
  if (size != (size_t)(t->elements * width(t, native))) fail("Failed to populate input %s: %zu bytes of %lld", t->name, size, (long long)(t->elements * width(t, native)));
  int w = t->type == UINT8 ? 1 : t->type == UINT16 ? 2 : t->type == INT64 ? 8 : 4;
  char *own = calloc((size_t)t->elements + 1, (size_t)w);
  for (int64_t i = 0; i < t->elements; i++) {
    double x = number(t, native, data, i);
    if (t->type == FLOAT) ((float *)own)[i] = (float)x;
    else if (t->type == INT32) ((int32_t *)own)[i] = (int32_t)x;
    else if (t->type == INT64) ((int64_t *)own)[i] = (int64_t)x;
    else fail("%s has an element type that the simulation lacks", t->name);
  }
  void *made;
  ok(ort.CreateTensorWithDataAsOrtValue(memory, own, (size_t)(t->elements * w), t->dims, t->rank, t->type, &made));
  return made;
}

static void infer(Graph *g, char *line, const char *folder, int number_of, int native_in, int native_out) {
  const char *in_names[TENSORS], *out_names[TENSORS];
  const void *ins[TENSORS] = {0};
  void *outs[TENSORS] = {0};
  size_t position = 0;
  char at[1024], *rest;
  for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest), position++) {
    char *is = strstr(word, ":=");
    size_t i = position;
    if (is) {
      *is = 0;
      for (i = 0; i < g->ins && strcmp(g->in[i].name, word); i++) {}
    }
    if (i >= g->ins) fail("Invalid input name %s", word);
    ins[i] = value_of(&g->in[i], native_in, is ? is + 2 : word);
  }
  for (size_t i = 0; i < g->ins; i++) {
    if (!ins[i]) fail("Failed to populate input %s", g->in[i].name);
    in_names[i] = g->in[i].name;
  }
  for (size_t i = 0; i < g->outs; i++) out_names[i] = g->out[i].name;
  ok(ort.Run(g->session, NULL, in_names, ins, g->ins, out_names, g->outs, outs));
  snprintf(at, sizeof at, "%s/Result_%d", folder, number_of);
  mkdir(at, 0755);
  for (size_t i = 0; i < g->outs; i++) {
    Tensor *t = &g->out[i];
    void *data;
    ok(ort.GetTensorMutableData(outs[i], &data));
    snprintf(at, sizeof at, "%s/Result_%d/%s%s.raw", folder, number_of, t->name, native_out ? "_native" : "");
    FILE *f = fopen(at, "wb");
    if (!f) fail("Failed to write %s", at);
    for (int64_t k = 0; k < t->elements; k++)
      put(t, native_out, t->type == FLOAT ? ((float *)data)[k] : t->type == INT64 ? (double)((int64_t *)data)[k] : ((int32_t *)data)[k], f);
    fclose(f);
  }
}

// argument is the value of an argument, "" for one that is there without a value, NULL for one that is not; with check it
// also refuses what the table does not have.
static const char *argument(int argc, char **argv, const char *table, const char *name, int check) {
  const char *found = NULL;
  for (int i = 1; i < argc; i++) {
    char row[256];
    snprintf(row, sizeof row, "\nqnn-net-run                     %s ", argv[i]);
    const char *at = strstr(table, row);
    if (!at && check) fail("Invalid Argument Consumption\nUnused Arguments: %s\nInitialization failure", argv[i]);
    int takes = at && atoi(at + strlen(row)) == 1;
    if (takes && i + 1 >= argc) fail("%s needs a value", argv[i]);
    if (!strcmp(argv[i], name)) found = takes ? argv[i + 1] : "";
    i += takes;
  }
  return found;
}

static uint64_t word_of(const char **at) {
  uint64_t n;
  memcpy(&n, *at, sizeof n);
  *at += sizeof n;
  return n;
}

int main(int argc, char **argv) {
  size_t size;
  char *table = content("arguments.txt", &size), *rest, path[1024];
#define ARGUMENT(name) argument(argc, argv, table, name, 0)
  argument(argc, argv, table, "", 1);
  const char *context = ARGUMENT("--retrieve_context"), *lists = ARGUMENT("--input_list"), *folder = ARGUMENT("--output_dir");
  if (!context || !lists || !ARGUMENT("--backend")) fail("hexmage simulated: --retrieve_context, --input_list and --backend are needed");
  int native_in = ARGUMENT("--use_native_input_files") != NULL, native_out = ARGUMENT("--use_native_output_files") != NULL;
  if (!folder) folder = "output";
  printf("qnn-net-run pid:%d (hexmage simulated)\nProcessing inference input(s):\nCreating context from binary file: %s\n", getpid(), context);
  char *data = content(context, &size);
  const char *at = memmem(data, size, "HXMGCTX1", 8), *end = data + size;
  if (!at) fail("Could not create context from binary: hexmage simulated: only a simulated context has a graph that it computes");
  at += strlen(at) + 1;
  load();
  mkdir(folder, 0755);
  printf("Executing Graphs\n");
  snprintf(path, sizeof path, "%s/execution_metadata.yaml", folder);
  FILE *metadata = fopen(path, "w");
  if (!metadata) fail("Failed to write %s", path);
  fprintf(metadata, "# hexmage simulated\ngraphs:\n");
  char *all = strdup(lists);
  int number_of = 0;
  for (char *list = strtok_r(all, ",", &rest); list && at + 24 <= end; list = strtok_r(NULL, ",", &rest)) {
    Graph *g = calloc(1, sizeof *g);
    uint64_t name = word_of(&at), tensors = word_of(&at), model = word_of(&at);
    if (name > (uint64_t)(end - at) || tensors > (uint64_t)(end - at) || model > (uint64_t)(end - at) || name + tensors + model > (uint64_t)(end - at))
      fail("Could not create context from binary: it is cut short");
    g->name = strndup(at, name), g->tensors = strndup(at + name, tensors), g->model = (char *)at + name + tensors, g->size = model;
    at += name + tensors + model;
    if (!strcmp(list, "__")) continue;
    void *options;
    ok(ort.CreateSessionOptions(&options));
    ok(ort.AddSessionConfigEntry(options, "session.disable_quant_qdq", "1"));
    ok(ort.CreateSessionFromArray(env, g->model, g->size, options, &g->session));
    describe(g, 0);
    describe(g, 1);
    int first = number_of;
    char *line, *next, *text = content(list, &size);
    for (line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) infer(g, line, folder, number_of++, native_in, native_out);
    fprintf(metadata, "  - graph_name: %s\n    inferences_completed: %d\n", g->name, number_of - first);
  }
  fclose(metadata);
  if (ARGUMENT("--profiling_level")) {
    snprintf(path, sizeof path, "%s/qnn-profiling-data_0.log", folder);
    FILE *log = fopen(path, "w");
    if (!log || fputs("hexmage simulated: no profile\n", log) < 0 || fclose(log)) fail("Failed to write %s", path);
  }
  printf("Finished Executing Graphs\n");
  fflush(stdout);
  _exit(0); // without the libraries' own cleaning up
}
