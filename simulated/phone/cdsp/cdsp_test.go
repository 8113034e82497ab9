package cdsp_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/simulated/phone/cdsp"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// Status codes and calls of fastrpc_wire.h.
const (
	open, info, execute, load, invoke = 1, 2, 3, 5, 6

	failed        = 0x80000401
	unableToLoad  = 0x80000406
	badState      = 0x8000040d
	badParameter  = 0x8000040e
	unsupported   = 0x80000414
	invalidHandle = 0x8000042c
	noSuchSymbol  = 0x80000442
	badELF        = 0x80000452
)

func TestOps(t *testing.T) {
	shell := build(t)
	for _, c := range []struct{ device, built string }{{"v79", "v79"}, {"v79", "v73"}, {"v73", "v73"}, {"v81", "v81"}} {
		t.Run(c.built+" on "+c.device, func(t *testing.T) {
			d := start(t, shell, c.device)
			h := d.open(library(t, c.built))
			status, rest := d.call(info, words(h))
			if want := "v2.41.0.251128145156_191518-open"; status != 0 || !bytes.Contains(rest, text(want)) || !bytes.Contains(rest, text("AddInt32")) {
				t.Errorf("INFO: %#x %q", status, rest)
			}
			if flags := binary.LittleEndian.Uint32(rest); flags != map[string]uint32{"v73": 0x73, "v79": 0x79, "v81": 0x81}[c.built] {
				t.Errorf("INFO: e_flags %#x", flags)
			}
			r := rand.New(rand.NewPCG(1, 2))
			a, b := make([]uint32, 1000), make([]uint32, 1000)
			for i := range a {
				a[i], b[i] = r.Uint32(), r.Uint32()
			}
			for i, got := range d.binaryOp(h, "AddInt32", 5, a, b) {
				if got != a[i]+b[i] {
					t.Fatalf("AddInt32: element %d: %d + %d = %d", i, a[i], b[i], got)
				}
			}
			if again := d.open(library(t, c.built)); again == h {
				t.Errorf("handle %d twice", again)
			}
			d.in.Close()
			if err := d.cmd.Wait(); err != nil {
				t.Errorf("shell after hang-up: %v\n%s", err, d.log.String())
			}
		})
	}
}

// The shell checks other libraries, and does not run them. It accepts unknown imports, and gives these libraries no
// handle.
func TestLoad(t *testing.T) {
	shell := build(t)
	d := start(t, shell, "v79")
	other := library(t, "v79", "-DUNDEFINED")
	for range 20 {
		if status, rest := d.call(load, append(text(other), text("open_op_execute")...)); status != 0 || len(rest) != 0 {
			t.Fatalf("%#x %q", status, rest)
		}
	}
	d.refused(load, append(text(other), text("skel_handle_invoke")...), noSuchSymbol, other+": the library does not export skel_handle_invoke")
	d.refused(load, append(text("/no/such/lib.so"), text("x")...), unableToLoad, "cannot open /no/such/lib.so: errno 2")
	d.refused(load, append(text("lib.so"), text("x")...), badParameter, "must be absolute")
	d.refused(load, text(other), badParameter, "malformed LOAD")
	d.refused(invoke, words(1), unsupported, "the simulated DSP does not run it")
	d.refused(invoke, nil, badParameter, "malformed INVOKE")
	d.refused(info, words(1), invalidHandle, "no library")
	d = start(t, shell, "v75")
	d.refused(load, append(text(other), text("open_op_execute")...), badELF, "another arch: e_flags 0x79, this device's DSP is 0x75")
}

// The toy model's arithmetic needs correctly rounded division and roots, and unfused products.
func TestFloatsAreExact(t *testing.T) {
	d := start(t, build(t), "v79")
	h := d.open(library(t, "v79"))
	r := rand.New(rand.NewPCG(3, 4))
	var a, b []uint32
	for i := range 40000 {
		x, y := r.Uint32(), r.Uint32()
		if i%2 == 0 { // every second pair of ordinary size
			x, y = x&0x807fffff|uint32(100+r.IntN(50))<<23, y&0x807fffff|uint32(100+r.IntN(50))<<23
		}
		a, b = append(a, x), append(b, y)
	}
	special := []uint32{0, 1 << 31, 1, 0x7fffff, 0x800000, 0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x40000000, 0xc0400000}
	for _, x := range special {
		for _, y := range special {
			a, b = append(a, x), append(b, y)
		}
	}
	for _, c := range []struct {
		op  string
		ulp uint32
		f   func(x, y float32) float32
	}{
		{"Divide", 0, func(x, y float32) float32 { return x / y }},
		{"DivideDouble", 0, func(x, y float32) float32 { return float32(float64(x) / float64(y)) }},
		{"Root", 0, func(x, _ float32) float32 { return float32(math.Sqrt(float64(x))) }},
		{"RootDouble", 0, func(x, _ float32) float32 { return float32(math.Sqrt(float64(x) * 3)) }},
		{"Half", 0, func(x, _ float32) float32 { return half(x) }},
		{"MulAdd", 0, func(x, y float32) float32 { return float32(x*y) + x }},
		{"Exp", 1, func(x, _ float32) float32 { return float32(math.Exp(float64(x))) }},
	} {
		bad := 0
		for i, got := range d.binaryOp(h, c.op, 3, a, b) {
			x, y := math.Float32frombits(a[i]), math.Float32frombits(b[i])
			want := c.f(x, y)
			if math.IsNaN(float64(want)) && math.IsNaN(float64(math.Float32frombits(got))) {
				continue
			}
			if diff := got - math.Float32bits(want); diff != 0 && diff > c.ulp && -diff > c.ulp {
				if bad++; bad < 5 {
					t.Errorf("%s(%g %#x, %g %#x) = %g, want %g", c.op, x, a[i], y, b[i], math.Float32frombits(got), want)
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d of %d differ", c.op, bad, len(a))
		}
	}
	whole := d.binaryOp(h, "Whole", 3, []uint32{math.Float32bits(-1234)}, []uint32{math.Float32bits(100)})
	if got := math.Float32frombits(whole[0]); got != -12034 {
		t.Errorf("-1234 / 100 and %% 100: %g, want -12034", got)
	}
}

// half rounds to half precision, half to even.
func half(x float32) float32 {
	a := math.Abs(float64(x))
	if a != a || a < 0x1p-14 {
		return float32(math.Copysign(math.RoundToEven(a*0x1p24)*0x1p-24, float64(x)))
	}
	_, e := math.Frexp(a)
	a = math.Ldexp(math.RoundToEven(math.Ldexp(a, 11-e)), e-11)
	if a > 65504 {
		a = math.Inf(1)
	}
	return float32(math.Copysign(a, float64(x)))
}

func TestRefusals(t *testing.T) {
	shell := build(t)
	good := library(t, "v79")
	image, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	host := bytes.Clone(image)
	host[18] = 62 // e_machine: x86-64

	d := start(t, shell, "v73")
	d.refused(open, text(good), badELF, "another arch: e_flags 0x79, this device's DSP is 0x73")
	d = start(t, shell, "v79")
	d.refused(open, text("/no/such/lib.so"), unableToLoad, "cannot open /no/such/lib.so: errno 2; push the library")
	d.refused(open, text("lib.so"), badParameter, "must be absolute")
	d.refused(open, text("/"), badELF, "not a file of a plausible size")
	d.refused(open, text(write("empty.so", nil)), badELF, "plausible size")
	d.refused(open, text(write("text.so", []byte("#!/bin/sh\necho this is no library at all, but long enough\n"))), badELF, "not an ELF file")
	d.refused(open, text(write("host.so", host)), badELF, "e_machine is 62")
	d.refused(open, text(library(t, "v79", "-DUNDEFINED")), noSuchSymbol, "undefined symbol no_such_function")
	d.refused(open, text(library(t, "v79", "-DNO_BUILD_ID")), noSuchSymbol, "does not export open_sdk_build_id")
	d.refused(open, append(text("/lib.so"), 0), badParameter, "malformed OPEN")
	d.refused(open, words(1<<31), badParameter, "malformed OPEN")
	d.refused(open, words(3), badParameter, "malformed OPEN")
	d.refused(open, text("/lib\x00.so"), badParameter, "malformed OPEN")
	d.refused(99, nil, unsupported, "no such call")
	d.refused(info, words(1), invalidHandle, "no library")
	d.refused(info, words(9), invalidHandle, "no library")
	d.refused(info, nil, badParameter, "malformed")

	h := words(d.open(good))
	one := tensor(3, 4, 16)
	d.refused(execute, slices.Concat(h, text("NoSuchOp"), words(1, 0), one), unsupported, "NoSuchOp: the library has no such op")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 0), one), badParameter, "wrong number of tensors")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 2), tensor(3, 1, 4), one, one, make([]byte, 32)), badParameter, "too small")
	d.refused(execute, slices.Concat(h, text("Widens"), words(1, 0), one), failed, "cannot hold")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 2), one, one, one, make([]byte, 31)), badParameter, "not as long")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 2), one, one, one, make([]byte, 33)), badParameter, "not as long")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 1<<31)), badParameter, "too many tensors")
	d.refused(execute, slices.Concat(h, text("Divide"), words(17, 0)), badParameter, "too many tensors")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 0), tensor(3, 1<<30, 4)), badParameter, "do not agree")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 0), tensor(3, 1<<24, 1<<31)), badParameter, "do not agree")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 0), tensor(8, 4, 16)), badParameter, "do not agree")
	d.refused(execute, slices.Concat(h, text("Divide"), words(1, 0), one[:20]), badParameter, "do not agree")
	d.refused(execute, slices.Concat(h, words(300), make([]byte, 300)), badParameter, "malformed")
	for range 7 {
		d.open(good)
	}
	d.refused(open, text(good), 0x80000402, "too many open libraries")

	// A fault in the library's code ends the domain with a message.
	d.refused(execute, slices.Concat(h, text("Fault"), words(1, 2), one, one, one, make([]byte, 32)), badState, "raised signal 11")
	if err := d.cmd.Wait(); err == nil {
		t.Error("the domain outlived a fault")
	}

	for name, frame := range map[string][2]uint32{"not a frame": {7, 4}, "longer than the protocol": {0x31505246, 64<<20 + 1}} {
		d := start(t, shell, "v79")
		status, rest := d.frame(frame[0], open, frame[1], nil)
		d.wantError(status, rest, badParameter, name)
		if err := d.cmd.Wait(); err == nil {
			t.Errorf("%s: the domain went on after it lost the frames' beat", name)
		}
	}
	if err := exec.Command(filepath.Join(toolchaintest.Root(t, "qemu"), "usr/bin/qemu-hexagon-static"), shell, "x79").Run(); err == nil {
		t.Error("an arch of x79 was accepted")
	}
}

// The shell answers every truncated file and every file with a changed byte, with success or an error, and lives on.
func TestHostileLibraries(t *testing.T) {
	image, err := os.ReadFile(library(t, "v79", "-Wl,-z,separate-code"))
	if err != nil {
		t.Fatal(err)
	}
	shell := build(t)
	d := start(t, shell, "v79")
	path := filepath.Join(t.TempDir(), "lib.so")
	try := func(b []byte) (status uint32) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		status, rest := d.call(open, text(path))
		switch status {
		case 0:
			d = start(t, shell, "v79") // one domain has at most eight libraries
		case badELF, noSuchSymbol, unableToLoad, 0x80000402:
		default:
			t.Fatalf("status %#x %q", status, rest)
		}
		return status
	}
	for n := 0; n < len(image); n += 1 + n/60 {
		if end := loadedEnd(image); try(image[:n]) == 0 && n < end {
			t.Fatalf("a library cut at %d of %d loaded bytes was accepted", n, end)
		}
	}
	// Headers, symbols, relocations, strings and the dynamic section are changed. A changed byte of code is not
	// hostile structure.
	r := rand.New(rand.NewPCG(5, 6))
	tables := structure(image)
	refused := 0
	for range 1500 {
		b := bytes.Clone(image)
		b[tables[r.IntN(len(tables))]] ^= byte(1 + r.IntN(255))
		if try(b) != 0 {
			refused++
		}
	}
	if refused < 150 {
		t.Errorf("only %d of 1500 damaged libraries were refused", refused)
	}
}

func programHeaders(image []byte) (headers [][8]uint32) {
	le := binary.LittleEndian
	for i := range int(le.Uint16(image[44:])) {
		var h [8]uint32
		for k := range h {
			h[k] = le.Uint32(image[int(le.Uint32(image[28:]))+32*i+4*k:])
		}
		headers = append(headers, h)
	}
	return headers
}

func loadedEnd(image []byte) (end int) {
	for _, h := range programHeaders(image) {
		if h[0] == 1 {
			end = max(end, int(h[1]+h[4]))
		}
	}
	return end
}

// structure returns the offsets of the bytes that control a loader.
func structure(image []byte) (offsets []int) {
	for i := range 52 {
		offsets = append(offsets, i)
	}
	for _, h := range programHeaders(image) {
		if h[0] == 2 || h[0] == 1 && h[6] == 4 { // the dynamic section, the read-only segment
			for i := range h[4] {
				offsets = append(offsets, int(h[1]+i))
			}
		}
	}
	return offsets
}

func TestSourcesAreFlat(t *testing.T) {
	err := fs.WalkDir(cdsp.Sources(), ".", func(path string, e fs.DirEntry, err error) error {
		if e.IsDir() && path != "." {
			t.Errorf("folder %s among the sources", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
