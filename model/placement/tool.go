package placement

import (
	"context"
	"encoding/json"
	"os"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/qnn"
)

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "fallback/2"

// Spec says what to read.
type Spec struct {
	Title          string               `json:"title"`    // of the table
	Compiled       string               `json:"compiled"` // what Read takes
	UnsupportedOps []*qnn.UnsupportedOp `json:"unsupported_ops,omitempty"`
	Arch           string               `json:"arch,omitempty"` // that it was compiled for, v79
	Precisions     []*qnn.Precision     `json:"precisions,omitempty"`
	Top            int                  `json:"top"`   // nodes that the table shows
	Table          string               `json:"table"` // the file for the table
	Out            string               `json:"out"`   // the file for the Placed
}

// Run is the tool.
func Run(_ context.Context, s Spec, _ tool.Env) error {
	graphs, err := Read(s.Compiled)
	if err != nil {
		return err
	}
	p := Of(graphs, &qnn.Facts{UnsupportedOps: s.UnsupportedOps, Precisions: s.Precisions}, s.Arch)
	if err := write(s.Out, p); err != nil {
		return err
	}
	return write(s.Table, p.show(s.Title, s.Arch, s.Top, len(graphs) > 1))
}

func write(file string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
