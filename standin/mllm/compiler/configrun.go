package compiler

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

// ConfigTool is the tool's name, and its behaviour version: raise it whenever an output changes.
const ConfigTool tool.Name[ConfigSpec] = "aot-config/1"

// ConfigSpec says what to write a config of the compiler for.
type ConfigSpec struct {
	Target
	ModelConfig string `json:"model_config"` // the model's config.json
	Out         string `json:"out"`          // file to write
}

// RunConfig is the tool.
func RunConfig(_ context.Context, s ConfigSpec, env tool.Env) error {
	if err := writeConfig(s.Target, s.ModelConfig, s.Out); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "wrote %s\n", s.Out)
	return nil
}

func writeConfig(t Target, model, out string) error {
	c, err := qwen3.ReadConfig(model)
	if err != nil {
		return err
	}
	raw, err := AOTConfig(t, c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, raw, 0o644)
}
