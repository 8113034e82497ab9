// Package kerneltest runs ops of a package's Hexagon library on a simulated DSP, on given or made-up tensors, and compares
// what they say with the ops' reference branches, run on a simulated phone processor.
//
// It speaks to the simulated DSP as a phone's runner does, and loads the very library that a phone would get, compiled with
// the HVX instructions that the emulator has. It knows tensors; it does not know what an op means, how libraries are
// compiled, or how fast anything is.
package kerneltest

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

//go:embed src/harness.c
var embedded embed.FS

// Harness returns the C source, harness.c, that makes a program of a package's AArch64 objects. It includes shell.h and is
// compiled together with the C library's part of package cdsp.
func Harness() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}

// Bounds of a case: of the DSP's protocol, and of patience.
const (
	maxTensors = 16
	maxBytes   = 32 << 20 // of all tensors of a case
	maxCases   = 1000
)

// Case is one call of an op for each seed.
type Case struct {
	Op      string   `arg:"op,label" json:"op"`
	Name    string   `arg:"name" json:"name,omitempty"`   // for people, where an op has several cases
	Seeds   []uint64 `arg:"seeds" json:"seeds,omitempty"` // of what is made up; none is one case with seed 1
	Inputs  []Tensor `block:"input" json:"inputs"`        // parameters come after inputs, in the op's order
	Outputs []Tensor `block:"output,required" json:"outputs"`
	// An element may differ by either: MaxAbs in real numbers, MaxULP in steps of its type (of a quantised one, in stored numbers).
	MaxAbs float64 `arg:"max_abs" json:"max_abs"`
	MaxULP uint64  `arg:"max_ulp" json:"max_ulp"`
}

// Tensor is an operand. Of an output only type, dims and quantisation count.
type Tensor struct {
	Type  string  `arg:"dtype,required" json:"dtype"` // quint8, quint16, qint8, qint16, int32, float16, float32
	Dims  []int   `arg:"dims,required" json:"dims"`   // up to four, the last of b, h, w, d
	Scale float32 `arg:"scale" json:"scale,omitempty"`
	Zero  int32   `arg:"zero_point" json:"zero_point,omitempty"`

	Data []float64 `arg:"data" json:"data,omitempty"` // stored numbers, one of each element, or one for all
	File string    `arg:"file" json:"file,omitempty"` // stored numbers, little-endian
	// Made up are stored numbers of quantised types between these real numbers; where both are 0, any stored number, for
	// floats -1 to 1, for int32 -1000 to 1000.
	Low  float64 `arg:"low" json:"low,omitempty"`
	High float64 `arg:"high" json:"high,omitempty"`
}

// dtype is an element type: its number in simulated_abi.h, its bytes, the stored numbers it has.
type dtype struct {
	number   uint32
	bytes    int
	min, max int64 // 0, 0: floats
}

func dtypes() map[string]dtype {
	return map[string]dtype{
		"quint8": {1, 1, 0, math.MaxUint8}, "quint16": {2, 2, 0, math.MaxUint16}, "float32": {3, 4, 0, 0}, "float16": {4, 2, 0, 0},
		"int32": {5, 4, math.MinInt32, math.MaxInt32}, "qint8": {6, 1, math.MinInt8, math.MaxInt8}, "qint16": {7, 2, math.MinInt16, math.MaxInt16},
	}
}

func (t Tensor) dtype() dtype { return dtypes()[t.Type] }

// quantised says whether stored numbers stand for other real numbers.
func (t Tensor) quantised() bool {
	d := t.dtype()
	return d.max != 0 && t.Type != "int32"
}

// shape is Dims as four.
func (t Tensor) shape() [4]int {
	s := [4]int{1, 1, 1, 1}
	copy(s[max(0, 4-len(t.Dims)):], t.Dims)
	return s
}

func (t Tensor) count() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

func (t Tensor) size() int { return t.count() * t.dtype().bytes }

func (t Tensor) scale() float32 {
	if t.Scale == 0 {
		return 1
	}
	return t.Scale
}

// Validate says what is wrong with cases, and which.
func Validate(cases []Case) error {
	if len(cases) == 0 || len(cases) > maxCases {
		return fmt.Errorf("%d cases: there are to be 1 to %d", len(cases), maxCases)
	}
	for _, c := range cases {
		if err := c.validate(); err != nil {
			return fmt.Errorf("case %s: %w", c.title(), err)
		}
	}
	return nil
}

func (c Case) title() string {
	if c.Name == "" {
		return c.Op
	}
	return fmt.Sprintf("%s %q", c.Op, c.Name)
}

func (c Case) validate() error {
	if len(c.Outputs) == 0 {
		return fmt.Errorf("it has no output")
	}
	if n := len(c.Inputs) + len(c.Outputs); n > maxTensors || len(c.Seeds) > maxCases {
		return fmt.Errorf("it has %d tensors and %d seeds; there may be %d and %d", n, len(c.Seeds), maxTensors, maxCases)
	}
	if math.IsNaN(c.MaxAbs) || c.MaxAbs < 0 {
		return fmt.Errorf("max_abs is %v", c.MaxAbs)
	}
	bytes := 0
	for i, t := range slices.Concat(c.Outputs, c.Inputs) {
		what := fmt.Sprintf("output %d", i)
		if i >= len(c.Outputs) {
			what = fmt.Sprintf("input %d", i-len(c.Outputs))
		}
		if err := t.validate(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if bytes += t.size(); bytes > maxBytes {
			return fmt.Errorf("its tensors take more than %d MiB", maxBytes>>20)
		}
	}
	return nil
}

func (t Tensor) validate() error {
	d, ok := dtypes()[t.Type]
	if !ok {
		return fmt.Errorf("there is no type %q; there is %v", t.Type, slices.Sorted(maps.Keys(dtypes())))
	}
	if len(t.Dims) == 0 || len(t.Dims) > 4 {
		return fmt.Errorf("it has %d dims; there are to be 1 to 4", len(t.Dims))
	}
	n := 1
	for _, dim := range t.Dims {
		if dim < 1 || dim > maxBytes || n > maxBytes/dim {
			return fmt.Errorf("dims %v: each is to be at least 1, and all together at most %d MiB", t.Dims, maxBytes>>20)
		}
		n *= dim
	}
	if s := float64(t.Scale); math.IsNaN(s) || math.IsInf(s, 0) || s < 0 {
		return fmt.Errorf("scale %v", t.Scale)
	}
	if t.quantised() && t.Scale == 0 {
		return fmt.Errorf("type %s needs a scale", t.Type)
	}
	if len(t.Data) > 0 && t.File != "" {
		return fmt.Errorf("it has data and a file")
	}
	if len(t.Data) > 1 && len(t.Data) != n {
		return fmt.Errorf("data has %d numbers, and dims %v are %d elements: give as many, or one for all", len(t.Data), t.Dims, n)
	}
	for _, v := range t.Data {
		if d.max != 0 && (v != math.Trunc(v) || v < float64(d.min) || v > float64(d.max)) {
			return fmt.Errorf("data has %v, which type %s cannot store: it stores whole numbers from %d to %d", v, t.Type, d.min, d.max)
		}
	}
	if t.Low > t.High || math.IsNaN(t.Low) || math.IsNaN(t.High) {
		return fmt.Errorf("low %v is not below high %v", t.Low, t.High)
	}
	return nil
}

// Machines says where the programs are, all as absolute paths.
type Machines struct {
	QemuHexagon string
	QemuAArch64 string
	Shell       string // the DSP's first program, package cdsp's
	Library     string // the op package for the arch
	Reference   string // the program with the ops' reference branches
	Arch        string // "v79"
	HVX         string // of the library's instructions: "v66"
	Ops         []Op   // of the library; those that are refused are not run
}

// Run calls the ops on both machines. An error means that it could not be found out whether they agree; that they do not is in
// the results.
func Run(ctx context.Context, m Machines, cases []Case) ([]Result, error) {
	if err := Validate(cases); err != nil {
		return nil, err
	}
	var results []Result
	var d *dsp
	var h *phone
	defer func() {
		if d != nil {
			d.in.Close()
			_ = d.cmd.Wait()
		}
		if h != nil {
			h.in.Close()
			_ = h.cmd.Wait()
		}
	}()
	for i, c := range cases {
		seeds := c.Seeds
		if len(seeds) == 0 {
			seeds = []uint64{1}
		}
		for _, seed := range seeds {
			r := Result{Case: c.title(), Op: c.Op, Arch: m.Arch, Seed: seed}
			in := call{c: c}
			for k, t := range c.Inputs {
				data, err := t.fill(rand.New(rand.NewPCG(seed, uint64(i)<<16|uint64(k))))
				if err != nil {
					return nil, fmt.Errorf("case %s: input %d: %w", c.title(), k, err)
				}
				in.inputs = append(in.inputs, data)
			}
			var err error
			if h == nil {
				if h, err = startPhone(ctx, m.QemuAArch64, m.Reference); err != nil {
					return nil, err
				}
			}
			want, err := h.execute(in)
			if err != nil {
				if !errors.Is(err, errRefused) {
					h = nil
				}
				r.Failed = "the reference: " + err.Error()
				results = append(results, r)
				continue
			}
			if r.Failed = refusalOf(m.Ops, c.Op); r.Failed != "" {
				results = append(results, r)
				continue
			}
			if d == nil {
				if d, err = startDSP(ctx, m); err != nil {
					return nil, fmt.Errorf("%s: %w", m.Arch, err)
				}
			}
			got, err := d.execute(in)
			if err != nil {
				r.Failed = d.name + ": " + err.Error()
				if strings.Contains(r.Failed, "no such op") {
					r.Failed += "; the library has " + strings.Join(d.ops, ", ")
				}
				if !errors.Is(err, errRefused) || strings.Contains(r.Failed, "0x8000040d") { // a fault has ended it
					_ = d.close()
					d = nil
				}
				results = append(results, r)
				continue
			}
			for o := range c.Outputs {
				r.compare(c, o, got[o], want[o])
			}
			results = append(results, r)
		}
	}
	return results, nil
}
