// Package kerneltest runs ops of an op package's Hexagon library on the simulated DSP. It compares their outputs, for
// given or random tensors, with outputs of a library that contains the reference branches.
//
// It knows tensors. It does not know the meaning of an op, compiler flags or speed.
package kerneltest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Limits of a case, set by the DSP's protocol.
const (
	maxTensors = 16
	maxBytes   = 32 << 20 // all tensors of a case
	maxCases   = 1000
)

// Case describes calls of an op: one call per seed.
type Case struct {
	Op      string   `arg:"op,label" json:"op"`
	Name    string   `arg:"name" json:"name,omitempty"`   // shown after the op
	Seeds   []uint64 `arg:"seeds" json:"seeds,omitempty"` // default: seed 1
	Inputs  []Tensor `block:"input" json:"inputs"`        // inputs, then parameters in the op's order
	Outputs []Tensor `block:"output,required" json:"outputs"`
	// An element is wrong if its error exceeds both MaxAbs (a real number) and MaxULP (steps of its type). A step of a
	// quantized type is one stored number.
	MaxAbs float64 `arg:"max_abs" json:"max_abs"`
	MaxULP uint64  `arg:"max_ulp" json:"max_ulp"`
}

// Tensor is an input or output of an op. Outputs set only the type, dims and quantization.
type Tensor struct {
	Type  string  `arg:"dtype,required" json:"dtype"`
	Dims  []int   `arg:"dims,required" json:"dims"` // up to four, the last of b, h, w, d
	Scale float32 `arg:"scale" json:"scale,omitempty"`
	Zero  int32   `arg:"zero_point" json:"zero_point,omitempty"`

	Data []float64 `arg:"data" json:"data,omitempty"` // stored numbers: one for each element, or one for all
	// Low and High limit the real values of random numbers. If both are 0, a quantized type has any stored number, a
	// float -1 to 1, and int32 -1000 to 1000.
	Low  float64 `arg:"low" json:"low,omitempty"`
	High float64 `arg:"high" json:"high,omitempty"`
}

// dtype is an element type: its number in simulated_abi.h, its bytes, and its range of stored integers; floats have
// no range.
type dtype struct {
	number   uint32
	bytes    int
	min, max int64
}

func dtypes() map[string]dtype {
	return map[string]dtype{
		"quint8": {1, 1, 0, math.MaxUint8}, "quint16": {2, 2, 0, math.MaxUint16},
		"float32": {3, 4, 0, 0}, "float16": {4, 2, 0, 0},
		"int32": {5, 4, math.MinInt32, math.MaxInt32}, "qint8": {6, 1, math.MinInt8, math.MaxInt8},
		"qint16": {7, 2, math.MinInt16, math.MaxInt16},
	}
}

func (t Tensor) dtype() dtype { return dtypes()[t.Type] }

// quantized reports whether stored numbers have a scale and a zero point.
func (t Tensor) quantized() bool { return t.dtype().max != 0 && t.Type != "int32" }

// shape returns Dims padded to four.
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

func (t Tensor) scale() float32 { return cmp.Or(t.Scale, 1) }

// Validate rejects invalid cases.
func Validate(cases []Case) error {
	if len(cases) == 0 || len(cases) > maxCases {
		return fmt.Errorf("found %d cases, expected 1 to %d", len(cases), maxCases)
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
	n := len(c.Inputs) + len(c.Outputs)
	switch {
	case len(c.Outputs) == 0:
		return fmt.Errorf("missing output")
	case n > maxTensors || len(c.Seeds) > maxCases:
		return fmt.Errorf("found %d tensors and %d seeds, but the limits are %d and %d", n, len(c.Seeds), maxTensors,
			maxCases)
	case c.MaxAbs < 0:
		return fmt.Errorf("invalid max_abs %v", c.MaxAbs)
	}
	bytes := 0
	for k, tensors := range [][]Tensor{c.Outputs, c.Inputs} {
		for i, t := range tensors {
			if err := t.validate(); err != nil {
				return fmt.Errorf("%s %d: %w", []string{"output", "input"}[k], i, err)
			}
			bytes += t.size()
		}
	}
	if bytes > maxBytes {
		return fmt.Errorf("tensors exceed %d MiB", maxBytes>>20)
	}
	return nil
}

func (t Tensor) validate() error {
	d, ok := dtypes()[t.Type]
	if !ok {
		return fmt.Errorf("unknown dtype %q: use one of %v", t.Type, slices.Sorted(maps.Keys(dtypes())))
	}
	n := 1
	for _, dim := range t.Dims {
		if dim < 1 || dim > maxBytes || n > maxBytes/dim {
			return fmt.Errorf("invalid dims %v: each must be at least 1, and the product at most %d·2^20", t.Dims,
				maxBytes>>20)
		}
		n *= dim
	}
	switch {
	case len(t.Dims) == 0 || len(t.Dims) > 4:
		return fmt.Errorf("found %d dims, expected 1 to 4", len(t.Dims))
	case t.Scale < 0:
		return fmt.Errorf("invalid scale %v", t.Scale)
	case t.quantized() && t.Scale == 0:
		return fmt.Errorf("missing scale, which type %s needs", t.Type)
	case len(t.Data) > 1 && len(t.Data) != n:
		return fmt.Errorf("data has %d numbers for %d elements: give one for each element, or one for all",
			len(t.Data), n)
	case t.Low > t.High:
		return fmt.Errorf("low %v is above high %v", t.Low, t.High)
	}
	for _, v := range t.Data {
		if d.max != 0 && (v != math.Trunc(v) || v < float64(d.min) || v > float64(d.max)) {
			return fmt.Errorf("data: invalid value %v: %s stores whole numbers from %d to %d", v, t.Type, d.min, d.max)
		}
	}
	return nil
}
