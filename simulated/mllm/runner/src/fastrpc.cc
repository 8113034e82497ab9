#include "fastrpc.h"

#include "fastrpc_wire.h"
#include "paths.h"

namespace {

void put(Text &out, const void *bytes, size_t n) { out << Str(static_cast<const char *>(bytes), n); }
void put_word(Text &out, u32 word) { put(out, &word, sizeof word); }
void put_string(Text &out, Str s) {
  put_word(out, static_cast<u32>(s.size));
  out << s;
}

struct Cursor {
  Str left;
  bool broken = false;

  void take(void *to, size_t n) {
    broken = broken || n > left.size;
    if (broken) {
      memset(to, 0, n);
      return;
    }
    memcpy(to, left.at, n);
    left = left.from(n);
  }
  u32 word() {
    u32 w;
    take(&w, sizeof w);
    return w;
  }
  Str string() {
    u32 n = word();
    broken = broken || n > left.size;
    if (broken) return {};
    Str s = left.to(n);
    left = left.from(n);
    return s;
  }
};

size_t size_of(const Rows &r) { return size_t(2) * r.rows * r.depth; }

void put_rows(Text &out, const Rows &r) {
  put_word(out, WIRE_QUINT16);
  put_word(out, 1);
  put_word(out, 1);
  put_word(out, r.rows);
  put_word(out, r.depth);
  put(out, &r.scale, sizeof r.scale);
  put(out, &r.zero_point, sizeof r.zero_point);
  put_word(out, static_cast<u32>(size_of(r)));
}

[[noreturn]] void rpc_failed(Str what, u32 code, Str why) {
  Text text;
  text << "fastrpc: " << what << " failed with error ";
  text.hex(code) << ": " << why;
  FAIL(text.str());
}

}  // namespace

DspLibrary::DspLibrary(const char *device, Str name) {
  constexpr u32 invalid_device = 0x8000043b;
  Str path = find_dsp_library(name);
  if (path.size == 0) {
    Text why;
    why << name << " is in no folder of " << dsp_library_path()
        << "; push the hexagon build of the op package and set ADSP_LIBRARY_PATH (entries separated by ';')";
    rpc_failed("opening the op package's library", static_cast<u32>(AEE_EUNABLETOLOAD), why.str());
  }
  // A vendor's loader looks for a shell of unsigned domains in each folder and says of each that it is not there; it has another.
  if (find_dsp_library("fastrpc_shell_unsigned_3").size == 0) LOG_WARN("fopen failed for fastrpc_shell_unsigned_3 2 (No such file or directory)");
  fd_ = sys::connect_unix(device);
  if (fd_ < 0) {
    Text why;
    why << device << ": errno " << -fd_ << "; the device has no DSP that takes calls";
    rpc_failed("opening the device node", invalid_device, why.str());
  }
  put_string(request_, path);
  Cursor opened{call(WIRE_OPEN, "opening the op package's library")};
  handle_ = opened.word();
  put_word(request_, handle_);
  Cursor info{call(WIRE_INFO, "asking the op package's library for its ops")};
  info.word();  // e_flags: the shell has checked them
  Text id;
  id << info.string();
  build_id_ = id.str();
  n_ops_ = info.word();
  if (info.broken || opened.broken || n_ops_ > WIRE_MAX_OPS) rpc_failed("opening the op package's library", static_cast<u32>(AEE_EFAILED), "an answer of another form");
  ops_ = take<Str>(n_ops_);
  for (u32 i = 0; i < n_ops_; i++) {
    Text op;
    op << info.string();
    ops_[i] = op.str();
  }
}

bool DspLibrary::has_op(Str name) const {
  for (u32 i = 0; i < n_ops_; i++) {
    if (ops_[i] == name) return true;
  }
  return false;
}

void DspLibrary::receive(void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    i64 n = sys::read(fd_, static_cast<u8 *>(to) + done, bytes - done);
    if (n <= 0) rpc_failed("waiting for an answer", static_cast<u32>(AEE_EBADSTATE), "the protection domain on the DSP has gone; see the device's log");
    done += static_cast<size_t>(n);
  }
}

Str DspLibrary::call(u32 kind, Str what) {
  const u32 head[] = {WIRE_MAGIC, kind, ++sequence_, static_cast<u32>(request_.str().size)};
  const Str parts[] = {Str(reinterpret_cast<const char *>(head), sizeof head), request_.str()};
  for (Str part : parts) {
    while (part.size) {
      i64 n = sys::send(fd_, part.at, part.size);
      if (n <= 0) rpc_failed(what, static_cast<u32>(AEE_EBADSTATE), "the protection domain on the DSP has gone; see the device's log");
      part = part.from(static_cast<size_t>(n));
    }
  }
  request_.clear();
  u32 reply[4], status;
  receive(reply, sizeof reply);
  if (reply[0] != WIRE_MAGIC || reply[1] != (kind | WIRE_REPLY) || reply[2] != sequence_ || reply[3] < 4 || reply[3] > WIRE_MAX_PAYLOAD)
    rpc_failed(what, static_cast<u32>(AEE_EFAILED), "an answer of another form");
  if (reply[3] > answer_capacity_) {
    answer_capacity_ = 2 * size_t(reply[3]);
    answer_ = take<u8>(answer_capacity_);
  }
  receive(answer_, reply[3]);
  memcpy(&status, answer_, sizeof status);
  Cursor rest{Str(reinterpret_cast<const char *>(answer_), reply[3]).from(4)};
  if (status != 0) rpc_failed(what, status, rest.string());
  return rest.left;
}

void DspLibrary::execute(Str op, const Rows &out, const Rows &in, const Rows &weight) {
  put_word(request_, handle_);
  put_string(request_, op);
  put_word(request_, 1);
  put_word(request_, 2);
  const Rows *all[] = {&out, &in, &weight};
  for (const Rows *r : all) put_rows(request_, *r);
  for (const Rows *r : all) {
    if (r != &out) put(request_, r->data, size_of(*r));
  }
  Cursor answer{call(WIRE_EXECUTE, op)};
  u32 head[WIRE_TENSOR_BYTES / 4];
  answer.take(head, sizeof head);
  if (answer.broken || head[7] != size_of(out) || answer.left.size != size_of(out))
    rpc_failed(op, static_cast<u32>(AEE_EFAILED), "the op's output is not as large as the graph's tensor");
  answer.take(out.data, size_of(out));
}

DspLibrary *connect_dsp(Str op_package) {
  Text name, device;
  Str given = environment("OPEN_FASTRPC_DEVICE");
  name << "libQnn" << op_package << "_HTP.so";
  device << (given.size ? given : Str("/dev/fastrpc-cdsp"));
  auto dsp = new (take<DspLibrary>(1)) DspLibrary(device.c_str(), name.str());
  if (!dsp->has_op("RMSNorm")) FAIL("could not create op: ", op_package, "::RMSNorm, which the graphs need, is not in the op package");
  return dsp;
}
