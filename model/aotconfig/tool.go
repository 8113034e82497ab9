package aotconfig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "aot-config/3"

// Spec says what to write configs for.
type Spec struct {
	Target
	ModelConfig string `json:"model_config"` // the model's config.json
	Out         string `json:"out"`          // file to write: how to compile
	ModelOut    string `json:"model_out"`    // file to write: the model's config as mllm's programs read it
}

// Run is the tool.
func Run(_ context.Context, s Spec, env tool.Env) error {
	m, model, err := ReadModel(s.ModelConfig)
	if err != nil {
		return err
	}
	aot, err := Write(s.Target, m)
	if err != nil {
		return err
	}
	for name, raw := range map[string][]byte{s.Out: aot, s.ModelOut: model} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(env.Stdout, "wrote %s and %s\n", s.Out, s.ModelOut)
	return nil
}
