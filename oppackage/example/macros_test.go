package example_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"
)

const f16 = 4

// What other packages use of the headers compiles in silence for both machines, and works on the DSP.
func TestOtherMacros(t *testing.T) {
	s, dir := install(t, ""), t.TempDir()
	source, err := filepath.Abs("testdata/macros.cpp")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"aarch64", "v81", "v79"} {
		if out, err := s.run(t, dir, append(s.compiler(target), source, "-o", "macros.o")...); err != nil || out != "" {
			t.Fatalf("%s: %v\n%s", target, err, out)
		}
	}
	if out, err := s.run(t, dir, append(s.linker("v79"), "-shared", "-o", "libmacros.so", "macros.o")...); err != nil || out != "" {
		t.Fatalf("%v\n%s", err, out)
	}
	run := dsp(t, filepath.Join(dir, "libmacros.so"), "v79")

	// 1, -2.5, the largest, the smallest subnormal, a subnormal that becomes normal, 1/3, infinity
	half := tensor{dtype: f16, dims: [4]int{1, 1, 1, 7}, scale: 1, data: []uint16{0x3c00, 0xc100, 0x7bff, 0x0001, 0x0200, 0x3555, 0x7c00}}
	third := []uint16{0x3c00, 0x3c01, 0x0000, 0x8001, 0x0200, 0x0001, 0x3c00}
	for _, c := range []struct {
		in   []tensor
		want []uint16
	}{
		{[]tensor{half}, []uint16{0x4000, 0xc500, 0x7c00, 0x0002, 0x0400, 0x3955, 0x7c00}},
		// 1 + 1; -2.5 + 1.0009765625, exact; unchanged; to zero; sum of subnormals; 1/3 + 2^-24 rounds to 1/3; infinity stays
		{[]tensor{half, {dtype: f16, dims: half.dims, scale: 1, data: third}}, []uint16{0x4000, 0xbdff, 0x7bff, 0x0000, 0x0400, 0x3555, 0x7c00}},
	} {
		status, answer := run(t, "Twice", tensor{dtype: f16, dims: half.dims, scale: 1}, c.in)
		if status != 0 {
			t.Fatalf("%d inputs: %#x %s", len(c.in), status, answer)
		}
		got := make([]uint16, 7)
		if err := binary.Read(bytes.NewReader(answer[32:]), binary.LittleEndian, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d inputs: %04x, want %04x", len(c.in), got, c.want)
		}
	}
	// No variant takes three inputs.
	if status, _ := run(t, "Twice", half, []tensor{half, half, half}); status != 0x8000040e {
		t.Errorf("three inputs: status %#x", status)
	}
}
