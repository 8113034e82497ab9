package example_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/simulated/kerneltest"
	"github.com/hexmage/hexmage/simulated/phone/cdsp"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// Element types of simulated_abi.h.
const (
	u8  = 1
	u16 = 2
	f32 = 3
	i32 = 5
)

// A tensor is one operand of an op. data is nil for outputs.
type tensor struct {
	dtype uint32
	dims  [4]int
	scale float32
	zero  int32
	data  any // []uint8, []uint16, []float32 or []int32
}

func (x tensor) count() int { return x.dims[0] * x.dims[1] * x.dims[2] * x.dims[3] }

func (x tensor) size() int {
	return x.count() * map[uint32]int{u8: 1, u16: 2, f16: 2, f32: 4, i32: 4}[x.dtype]
}

// wire is the tensor as the simulated DSP's protocol and the harness have it.
func (x tensor) wire() []byte {
	b := words(x.dtype)
	for _, d := range x.dims {
		b = append(b, words(uint32(d))...)
	}
	return append(b, words(math.Float32bits(x.scale), uint32(x.zero), uint32(x.size()))...)
}

func words(w ...uint32) []byte {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// request is what both runners take.
func request(op string, out tensor, in []tensor) []byte {
	var b, data bytes.Buffer
	b.Write(append(words(uint32(len(op))), op...))
	b.Write(words(1, uint32(len(in))))
	b.Write(out.wire())
	for _, x := range in {
		b.Write(x.wire())
		if err := binary.Write(&data, binary.LittleEndian, x.data); err != nil {
			panic(err) // only fixed-size slices are there
		}
	}
	return append(b.Bytes(), data.Bytes()...)
}

// A runner executes an op and returns its status (0 is good), the output's descriptor and its data.
type runner func(t testing.TB, op string, out tensor, in []tensor) (uint32, []byte)

// dsp starts the simulated DSP with the package's Hexagon library.
func dsp(t testing.TB, lib, arch string) runner {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, cdsp.Sources()); err != nil {
		t.Fatal(err)
	}
	args := cdsp.Args(filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin/clang-22"), cdsp.Program)
	build := exec.Command(args[0], args[1:]...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	qemu := filepath.Join(toolchaintest.Root(t, "qemu"), "usr/bin/qemu-hexagon-static")
	cmd := exec.Command(qemu, "-cpu", "v67", filepath.Join(dir, cdsp.Program), arch)
	var log bytes.Buffer
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the simulated DSP: %v", err)
		}
		if t.Failed() {
			t.Logf("the DSP's log:\n%s", log.Bytes())
		}
	})
	call := func(t testing.TB, kind uint32, payload []byte) (uint32, []byte) {
		t.Helper()
		if _, err := in.Write(append(words(0x31505246, kind, 0, uint32(len(payload))), payload...)); err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 16)
		if _, err := io.ReadFull(out, head); err != nil {
			t.Fatalf("the simulated DSP gave no answer: %v", err)
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[12:]))
		if _, err := io.ReadFull(out, body); err != nil {
			t.Fatal(err)
		}
		return binary.LittleEndian.Uint32(body), body[4:]
	}
	status, answer := call(t, 1, append(words(uint32(len(lib))), lib...))
	if status != 0 {
		t.Fatalf("opening %s: %#x %s", lib, status, answer)
	}
	handle := answer[:4]
	return func(t testing.TB, op string, out tensor, in []tensor) (uint32, []byte) {
		return call(t, 3, slices.Concat(handle, request(op, out, in)))
	}
}

// host links the package's AArch64 objects with the harness and runs them in the other emulator.
func host(t testing.TB, s sdks, dir string) runner {
	t.Helper()
	objects, failed := s.objects(t, dir, "aarch64")
	if len(failed) > 0 {
		t.Fatal(failed)
	}
	harness := t.TempDir()
	for name, from := range map[string]fs.FS{"harness.c": kerneltest.Harness(), "math.c": cdsp.Sources(), "half.c": cdsp.Sources(), "text.c": cdsp.Sources(), "shell.h": cdsp.Sources(), "fastrpc_wire.h": cdsp.Sources()} {
		text, err := fs.ReadFile(from, name)
		if err == nil {
			err = os.WriteFile(filepath.Join(harness, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	clang := filepath.Join(filepath.Dir(s.linker("aarch64")[0]), "aarch64-linux-android28-clang")
	argv := append([]string{clang, "-std=c17", "-O1", "-Wall", "-Werror", "-ffreestanding", "-fno-builtin", "-ffp-contract=off", "-I" + s.qairt + "/include/QNN", "-static", "-fPIC",
		"-o", "harness", harness + "/harness.c", harness + "/math.c", harness + "/half.c", harness + "/text.c"}, objects...)
	if text, err := s.run(t, dir, argv...); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	qemu := filepath.Join(toolchaintest.Root(t, "qemu"), "usr/bin/qemu-aarch64-static")
	return func(t testing.TB, op string, out tensor, in []tensor) (uint32, []byte) {
		t.Helper()
		cmd := exec.Command(qemu, filepath.Join(dir, "harness"))
		asked := request(op, out, in)
		cmd.Stdin = bytes.NewReader(append(words(uint32(len(asked))), asked...))
		answer, err := cmd.Output()
		if err != nil || len(answer) < 8 {
			t.Fatalf("harness: %v", err)
		}
		return binary.LittleEndian.Uint32(answer[4:]), answer[8:]
	}
}

func random16(r *rand.Rand, n int) []uint16 {
	x := make([]uint16, n)
	for i := range x {
		x[i] = uint16(r.Uint32())
	}
	return x
}

// scale is a positive scale between 2^-20 and 2^-8 or so.
func scale(r *rand.Rand) float32 {
	return math.Float32frombits(uint32(127-20+r.IntN(12))<<23 | r.Uint32()&0x7fffff)
}

func quant16(r *rand.Rand, dims [4]int) tensor {
	x := tensor{dtype: u16, dims: dims, scale: scale(r), zero: int32(r.IntN(65536))}
	x.data = random16(r, x.count())
	return x
}

// Both builds of the package must give the reference's bits, and refuse the same calls.
func TestOps(t *testing.T) {
	s, dir := install(t, ""), sources(t, true)
	runners := map[string]runner{"v79": dsp(t, s.build(t, dir, "v79"), "v79"), "aarch64": host(t, s, dir)}
	t.Run("refuse", func(t *testing.T) { checkRefusals(t, runners) })
	r := rand.New(rand.NewPCG(1, 2))
	// 1 and 33 leave lanes empty, 64 and 128 fill them, 130 does both.
	for _, d := range []int{1, 33, 64, 128, 130} {
		for _, c := range cases(r, d) {
			for name, run := range runners {
				t.Run(fmt.Sprintf("%s/%s/%d", c.op, name, d), func(t *testing.T) {
					status, answer := run(t, c.op, c.out, c.in)
					if status != 0 {
						t.Fatalf("status %#x %q", status, answer)
					}
					if !bytes.Equal(answer[:24], c.out.wire()[:24]) {
						t.Errorf("output described as % x, want % x", answer[:24], c.out.wire()[:24])
					}
					var want bytes.Buffer
					if err := binary.Write(&want, binary.LittleEndian, c.want); err != nil {
						t.Fatal(err)
					}
					if got := answer[32:]; !bytes.Equal(got, want.Bytes()) {
						at := 0
						for at < len(got) && got[at] == want.Bytes()[at] {
							at++
						}
						t.Errorf("output differs from byte %d of %d on", at, want.Len())
					}
				})
			}
		}
	}
}

func checkRefusals(t *testing.T, runners map[string]runner) {
	r := rand.New(rand.NewPCG(3, 4))
	x, w := quant16(r, [4]int{1, 1, 2, 64}), quant16(r, [4]int{1, 1, 1, 64})
	floats := tensor{dtype: f32, dims: x.dims, scale: 1, data: make([]float32, x.count())}
	small := quant16(r, [4]int{1, 1, 1, 64})
	for _, c := range []struct {
		why  string
		op   string
		out  tensor
		in   []tensor
		host uint32 // of simulated_abi.h
		dsp  uint32 // of the DSP's protocol
	}{
		{"no such op", "LayerNorm", x, []tensor{x, w}, 1, 0x80000414},
		{"one input too few", "RMSNorm", x, []tensor{x}, 2, 0x8000040e},
		{"a weight of another width", "RMSNorm", x, []tensor{x, quant16(r, [4]int{1, 1, 1, 32})}, 3, 0x80000401},
		{"floats", "RMSNorm", x, []tensor{floats, w}, 3, 0x80000401},
		{"an output with too little memory", "RMSNorm", small, []tensor{x, w}, 4, 0x8000040e},
	} {
		for name, run := range runners {
			want := map[string]uint32{"v79": c.dsp, "aarch64": c.host}[name]
			if status, _ := run(t, c.op, c.out, c.in); status != want {
				t.Errorf("%s, %s: status %#x, want %#x", c.why, name, status, want)
			}
		}
	}
}

type opCase struct {
	op   string
	out  tensor
	in   []tensor
	want any
}

func cases(r *rand.Rand, d int) []opCase {
	return []opCase{rmsnorm(r, d), silu(r, d), add(r, d), rope(r, d), quantize(r, d, u8), quantize(r, d, u16), dequantize(r, d, u8), dequantize(r, d, u16)}
}
