package qnn

import "slices"

// Precision says in which types the compiler for the HTP takes operations, by arch. a16w8 is 16 bits for activations and 8 for weights, a16a8 the same for two
// activations, a8 and a16 activations alone, f16 and f32 floats.
type Precision struct {
	Name       string              `hcl:"name,label" json:"name"`
	Ops        []string            `hcl:"ops" json:"ops"`     // of ONNX: "MatMul"
	Takes      map[string][]string `hcl:"takes" json:"takes"` // by arch
	Confidence string              `hcl:"confidence" json:"confidence"`
	Source     string              `hcl:"source" json:"source"`
}

// FindPrecision returns what is known of an operation, nil when nothing is.
func (f *Facts) FindPrecision(op string) *Precision {
	return find(f.Precisions, func(p *Precision) bool { return slices.Contains(p.Ops, op) })
}
