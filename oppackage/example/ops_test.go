package example_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/oppackage/kerneltest"
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

// dsp returns a simulated DSP with the package's Hexagon library.
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
	d := kerneltest.DSP{Qemu: filepath.Join(toolchaintest.Root(t, "qemu"), "usr/bin/qemu-hexagon-static"),
		Shell: filepath.Join(dir, cdsp.Program), Library: lib, Arch: arch, HVX: "v66"}
	return func(t testing.TB, op string, out tensor, in []tensor) (uint32, []byte) {
		t.Helper()
		status, answer, err := d.Execute(t.Context(), request(op, out, in))
		if err != nil {
			t.Fatal(err)
		}
		return status, answer
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
	runners := map[string]runner{"HVX": dsp(t, s.build(t, dir, "v79"), "v79"), "reference": dsp(t, s.build(t, dir, "v79-reference"), "v79")}
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
		why string
		op  string
		out tensor
		in  []tensor
		dsp uint32 // of the DSP's protocol
	}{
		{"no such op", "LayerNorm", x, []tensor{x, w}, 0x80000414},
		{"one input too few", "RMSNorm", x, []tensor{x}, 0x8000040e},
		{"a weight of another width", "RMSNorm", x, []tensor{x, quant16(r, [4]int{1, 1, 1, 32})}, 0x80000401},
		{"floats", "RMSNorm", x, []tensor{floats, w}, 0x80000401},
		{"an output with too little memory", "RMSNorm", small, []tensor{x, w}, 0x8000040e},
	} {
		for name, run := range runners {
			if status, _ := run(t, c.op, c.out, c.in); status != c.dsp {
				t.Errorf("%s, %s: status %#x, want %#x", c.why, name, status, c.dsp)
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
