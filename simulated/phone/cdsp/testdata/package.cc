// An op package as small as can be, for the tests of the shell: what the simulation headers' macros export, by hand.
#include <stdint.h>
#include <hexagon_types.h>
#include <hexagon_protos.h>
#include <hvx_hexagon_protos.h>

struct open_tensor {
  uint32_t dtype, dims[4];
  float scale;
  int32_t zero_point;
  uint32_t bytes;
  void *data;
};
static_assert(sizeof(open_tensor) == 36);

extern "C" float expf(float);
extern "C" float sqrtf(float);
extern "C" double sqrt(double);
extern "C" int missing_function(int) __attribute__((weak));

namespace {

// Registered by static constructors, found by name: so constructors, virtual calls and heap all have to work.
struct Op {
  static Op *first;
  const char *name;
  Op *next;
  explicit Op(const char *n) : name(n), next(first) { first = this; }
  virtual int run(open_tensor *out, uint32_t n_out, const open_tensor *in, uint32_t n_in) = 0;
};
Op *Op::first = nullptr;

template <typename T>
struct Vector {
  T *items;
  explicit Vector(uint32_t n) : items(new T[n]) {}
  ~Vector() { delete[] items; }
};

struct AddInt32 : Op {
  AddInt32() : Op("AddInt32") {}
  int run(open_tensor *out, uint32_t n_out, const open_tensor *in, uint32_t n_in) override {
    if (n_out != 1 || n_in != 2) return 2;
    auto a = static_cast<const HVX_Vector *>(in[0].data), b = static_cast<const HVX_Vector *>(in[1].data);
    auto c = static_cast<HVX_Vector *>(out[0].data);
    for (uint32_t i = 0; i < (out[0].bytes + 127) / 128; i++) c[i] = Q6_Vw_vadd_VwVw(a[i], b[i]);
    return 0;
  }
};

template <typename F>
struct Elementwise : Op {
  F f;
  Elementwise(const char *n, F g) : Op(n), f(g) {}
  int run(open_tensor *out, uint32_t n_out, const open_tensor *in, uint32_t n_in) override {
    if (n_out != 1 || n_in != 2) return 2;
    if (out[0].bytes < in[0].bytes) return 4;
    uint32_t n = in[0].bytes / 4;
    Vector<float> scratch(n);
    auto a = static_cast<const float *>(in[0].data), b = static_cast<const float *>(in[1].data);
    for (uint32_t i = 0; i < n; i++) scratch.items[i] = f(a[i], b[i]);
    for (uint32_t i = 0; i < n; i++) static_cast<float *>(out[0].data)[i] = scratch.items[i];
    return 0;
  }
};

float divide(float a, float b) { return a / b; }
float divide_double(float a, float b) { return static_cast<float>(static_cast<double>(a) / static_cast<double>(b)); }
float root(float a, float) { return sqrtf(a); }
float root64(float a, float) { return static_cast<float>(sqrt(static_cast<double>(a) * 3)); }
float half(float a, float) { return static_cast<float>(static_cast<__fp16>(a)); }
float power(float a, float) { return expf(a); }
float whole(float a, float b) {
  return static_cast<float>(static_cast<int32_t>(a) / static_cast<int32_t>(b) * 1000 + static_cast<int32_t>(a) % static_cast<int32_t>(b));
}
float fault(float, float) { return *reinterpret_cast<volatile float *>(4); }
float madd(float a, float b) { return a * b + a; }

AddInt32 add;
Elementwise div_op("Divide", divide), div64_op("DivideDouble", divide_double), root_op("Root", root), root64_op("RootDouble", root64), half_op("Half", half), exp_op("Exp", power), whole_op("Whole", whole),
    fault_op("Fault", fault), madd_op("MulAdd", madd);

struct Widens : Op { // claims more than its buffer holds
  Widens() : Op("Widens") {}
  int run(open_tensor *out, uint32_t, const open_tensor *, uint32_t) override {
    out[0].dims[3] = 1 << 20;
    return 0;
  }
} widens;

}  // namespace

#define API extern "C" __attribute__((visibility("default")))

API int open_op_execute(const char *op, open_tensor *out, uint32_t n_out, const open_tensor *in, uint32_t n_in) {
  for (Op *o = Op::first; o; o = o->next) {
    const char *a = o->name, *b = op;
    while (*a && *a == *b) a++, b++;
    if (*a == *b) return o->run(out, n_out, in, n_in);
  }
  return 1;
}

API const char *open_op_name(uint32_t i) {
  for (Op *o = Op::first; o; o = o->next) {
    if (i-- == 0) return o->name;
  }
  return nullptr;
}

#ifndef NO_BUILD_ID
API const char *open_sdk_build_id() { return missing_function ? "wrong" : "v2.41.0.251128145156_191518-open"; }
#endif

#ifdef UNDEFINED
extern "C" int no_such_function(int);
API int calls_it(int x) { return no_such_function(x); }
#endif
