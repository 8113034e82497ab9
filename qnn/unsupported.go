package qnn

// UnsupportedOp is an operation that HTP compilers reject, and its replacement.
type UnsupportedOp struct {
	Op         string `hcl:"op,label" json:"op"`                  // "Cosh"; "*" for any operation
	Format     string `hcl:"format" json:"format"`                // namespace of the name: onnx, aten
	Rank       int    `hcl:"rank,optional" json:"rank,omitempty"` // smallest rank of an input or output
	Change     string `hcl:"change" json:"change"`                // the replacement
	Confidence string `hcl:"confidence" json:"confidence"`        // documented, observed, inferred
	Source     string `hcl:"source" json:"source"`
}
