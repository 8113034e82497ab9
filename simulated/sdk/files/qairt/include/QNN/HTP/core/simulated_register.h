// How the simulation collects the ops of a package, and calls them.
//
// Every op source has one OpFile, which its DEF_PACKAGE_OP fills by a constructor that runs when the library is loaded.
// The Interface source names the op sources in order; open_op_execute and open_op_name walk them.
// hexmage simulated: ours alone; ops never see it.
#pragma once

#include <cstring>
#include <utility>

#include "simulated_abi.h"
#include "tensor.h"

// Hidden: two packages in one process must not share these.
namespace open_htp __attribute__((visibility("hidden"))) {

// A library says of itself that it was built with these headers, which fit no vendor's runtime.
inline constexpr char made_with[] __attribute__((used)) = "hexmage simulated's headers";

typedef int (*Call)(open_tensor *out, uint32_t n_out, const open_tensor *in, uint32_t n_in);

struct OpRecord {
  const char *name;
  Call call;
  OpRecord *next;
};

// OpFile is what one op source registers.
struct OpFile {
  OpRecord *first;
  OpRecord **last;
};

// OpFileOf is defined in the op source of that name, declared everywhere.
template <class Name>
OpFile *op_file_of();

struct Registration : OpRecord {
  Registration(OpFile &file, const char *op, Call fn) : OpRecord{op, fn, nullptr} {
    if (!file.last) file.last = &file.first;
    *file.last = this;
    file.last = &next;
  }
};

// ParamOrder checks that parameters come as (name, mandatory, default) triples. The simulation's callers pass parameters
// in that order after the inputs, so nothing has to be sorted at run time.
template <class... Triples>
constexpr int param_order(const char *op, Triples...) {
  static_assert(sizeof...(Triples) % 3 == 0, "DEF_PACKAGE_PARAM_ORDER takes name, mandatory, default for each parameter");
  return op ? static_cast<int>(sizeof...(Triples) / 3) : 0;
}

template <class T>
struct Argument;
template <class T>
struct Argument<T &> {
  typedef T type;
  static constexpr bool output = true;
};
template <class T>
struct Argument<const T &> {
  typedef T type;
  static constexpr bool output = false;
};

// Thunk turns the ABI's arrays into the arguments of one op function: outputs (non-const) first, then inputs. The function
// returns a GraphStatus, or one as an int.
template <auto Function>
struct Thunk;
template <class Result, class... A, Result (*Function)(A...)>
struct Thunk<Function> {
  static constexpr uint32_t total = sizeof...(A);
  static constexpr uint32_t outputs = (0u + ... + (Argument<A>::output ? 1u : 0u));

  static int call(open_tensor *out, uint32_t n_out, const open_tensor *in, uint32_t n_in) {
    if (n_out != outputs || n_in != total - outputs) return OPEN_WRONG_COUNT;
    return spread(out, in, std::make_index_sequence<sizeof...(A)>());
  }

 private:
  // Hold keeps one tensor, and writes an output's dims back.
  template <class Arg>
  struct Hold {
    typename Argument<Arg>::type tensor;
    Hold(open_tensor *out, const open_tensor *in, size_t i) : tensor(i < outputs ? out[i] : in[i - outputs]) {}
  };
  template <size_t I, class Arg>
  struct Leaf : Hold<Arg> {
    using Hold<Arg>::Hold;
  };
  template <class Sequence>
  struct Pack;
  template <size_t... I>
  struct Pack<std::index_sequence<I...>> : Leaf<I, A>... {
    Pack(open_tensor *out, const open_tensor *in) : Leaf<I, A>(out, in, I)... {}

    GraphStatus run() {
      return static_cast<GraphStatus::GraphErrorCode>(Function(static_cast<Leaf<I, A> *>(this)->tensor...));
    }
    bool finish(open_tensor *out) {
      bool fits = true;
      (void)(finish_one(I, out, static_cast<Leaf<I, A> *>(this)->tensor, fits), ...);
      return fits;
    }
    static void finish_one(size_t i, open_tensor *out, const Tensor &tensor, bool &fits) {
      if (i >= outputs) return;
      std::memcpy(out[i].dims, tensor.open_desc().dims, sizeof out[i].dims);
      if (tensor.open_too_small()) fits = false;
    }
  };
  template <size_t... I>
  static int spread(open_tensor *out, const open_tensor *in, std::index_sequence<I...> sequence) {
    Pack<std::index_sequence<I...>> pack(out, in);
    const GraphStatus status = pack.run();
    if (!pack.finish(out)) return OPEN_TOO_SMALL;
    return status == GraphStatus::Success ? OPEN_OK : OPEN_OP_FAILED;
  }
};

inline int execute(OpFile *(*const *files)(), const char *op, open_tensor *out, uint32_t n_out, const open_tensor *in,
                   uint32_t n_in) {
  // Several functions may be registered under one name (variants for other tensor types): the counts decide.
  int result = OPEN_NO_SUCH_OP;
  for (; *files; files++) {
    for (const OpRecord *r = (*files)()->first; r; r = r->next) {
      if (!op || std::strcmp(r->name, op) != 0) continue;
      result = r->call(out, n_out, in, n_in);
      if (result != OPEN_WRONG_COUNT) return result;
    }
  }
  return result;
}

inline const char *name(OpFile *(*const *files)(), uint32_t i) {
  for (; *files; files++) {
    for (const OpRecord *r = (*files)()->first; r; r = r->next) {
      if (i-- == 0) return r->name;
    }
  }
  return nullptr;
}

}  // namespace open_htp
