package qnn

import (
	"slices"
	"strings"
)

// Precision lists the types that the HTP compiler accepts for operations, by arch.
//
// a16w8 means 16-bit activations with 8-bit weights, and a16a8 means two activations of 16 and 8 bits. a8 and a16
// are for activations only; f16 and f32 are floats.
type Precision struct {
	Name       string              `hcl:"name,label" json:"name"`
	Ops        []string            `hcl:"ops" json:"ops"`     // ONNX names: "MatMul"
	Takes      map[string][]string `hcl:"takes" json:"takes"` // by arch
	Confidence string              `hcl:"confidence" json:"confidence"`
	Source     string              `hcl:"source" json:"source"`
}

// FindPrecision returns the record of an operation, or nil.
func (f *Facts) FindPrecision(op string) *Precision {
	return find(f.Precisions, func(p *Precision) bool { return slices.Contains(p.Ops, op) })
}

// HasFloats reports whether an HTP with these features computes floats, at least for some operations. If no feature is
// known, it returns true.
func HasFloats(features []string) bool {
	return len(features) == 0 || slices.ContainsFunc(features, func(f string) bool { return strings.HasPrefix(f, "fp16") })
}

// TypesOn returns the types in which the SoC runs the operations. These are the types of its arch, without floats if
// the SoC has no float feature.
func (f *Facts) TypesOn(s *SoC, p *Precision) []string {
	lacks := !HasFloats(f.Features(s))
	return slices.DeleteFunc(slices.Clone(p.Takes[s.Arch]), func(t string) bool { return lacks && t[0] == 'f' })
}
