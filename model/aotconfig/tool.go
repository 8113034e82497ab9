package aotconfig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "aot-config/3"

// Spec holds the arguments of the tool.
type Spec struct {
	Target
	ModelConfig string `json:"model_config"` // the model's config.json
	Out         string `json:"out"`          // output file: the compiler's config
	ModelOut    string `json:"model_out"`    // output file: the model's config for mllm's programs
}

// Run writes the configs.
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
