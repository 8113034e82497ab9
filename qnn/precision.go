package qnn

import (
	"slices"
	"strings"
)

// Precision lists the data types that the HTP compiler accepts for operations, by arch.
//
// a16w8 means 16-bit activations with 8-bit weights. a16a8 means two activations, with 16 and 8 bits. a8 and a16 are
// for activations only. f16 and f32 are floats.
type Precision struct {
	Name       string              `hcl:"name,label" json:"name"`
	Ops        []string            `hcl:"ops" json:"ops"`     // ONNX names: "MatMul"
	Takes      map[string][]string `hcl:"takes" json:"takes"` // by arch
	Confidence string              `hcl:"confidence" json:"confidence"`
	Source     string              `hcl:"source" json:"source"`
}

// FindPrecision returns the record for an operation, or nil.
func (f *Facts) FindPrecision(op string) *Precision {
	return find(f.Precisions, func(p *Precision) bool { return slices.Contains(p.Ops, op) })
}

// HasFloats reports whether an HTP with these features supports floats in some operations. If no feature is known, it
// returns true.
func HasFloats(features []string) bool {
	return len(features) == 0 || slices.ContainsFunc(features, func(f string) bool { return strings.HasPrefix(f, "fp16") })
}

// TypesOn returns the types in p that the SoC supports. It omits floats if the SoC has no float feature.
func (f *Facts) TypesOn(s *SoC, p *Precision) []string {
	lacks := !HasFloats(f.Features(s))
	return slices.DeleteFunc(slices.Clone(p.Takes[s.Arch]), func(t string) bool { return lacks && t[0] == 'f' })
}
