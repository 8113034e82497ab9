package aotconfig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "aot-config/1"

// Spec says what to write a config for.
type Spec struct {
	Target
	ModelConfig string `json:"model_config"` // the model's config.json
	Out         string `json:"out"`          // file to write
}

// Run is the tool.
func Run(_ context.Context, s Spec, env tool.Env) error {
	m, err := ReadModel(s.ModelConfig)
	if err != nil {
		return err
	}
	raw, err := Write(s.Target, m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.Out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(s.Out, raw, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "wrote %s\n", s.Out)
	return nil
}
