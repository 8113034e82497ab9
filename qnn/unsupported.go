package qnn

// UnsupportedOp is an operation that the compilers for the HTP do not take, and what may stand in its place.
type UnsupportedOp struct {
	Op         string `hcl:"op,label" json:"op"`                  // "Cosh"; "*" is any
	Format     string `hcl:"format" json:"format"`                // whose name it is: onnx, aten
	Rank       int    `hcl:"rank,optional" json:"rank,omitempty"` // of a tensor that it takes or gives, at least
	Change     string `hcl:"change" json:"change"`                // what to put in its place
	Confidence string `hcl:"confidence" json:"confidence"`        // documented, observed, inferred
	Source     string `hcl:"source" json:"source"`
}
