package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "convert/2"

// Spec holds the arguments of the tool.
type Spec struct {
	// Input is a .safetensors file, a .safetensors.index.json, or a folder that contains model.safetensors or its
	// shards.
	Input  string `json:"input"`
	Output string `json:"output"`                   // the .mllm file
	Name   string `arg:"name,required" json:"name"` // stored in a version 2 header
	Format string `arg:"format" default:"v2" oneof:"v1 v2" json:"format"`
}

// Run converts a model and prints the size of the written file.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if s.Input == "" || s.Output == "" {
		return errors.New("input or output is missing: set both")
	}
	o := Options{ModelName: s.Name}
	switch s.Format {
	case "v1":
		o.Version = mllm.V1
	case "v2":
		o.Version = mllm.V2
	default:
		return fmt.Errorf("unknown format %q: use v1 or v2", s.Format)
	}
	if err := convertFile(ctx, s.Input, s.Output, o); err != nil {
		return err
	}
	st, err := os.Stat(s.Output)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "wrote %s, %d bytes\n", s.Output, st.Size())
	return nil
}

// convertFile writes to a temporary name first, so that a failed conversion leaves no incomplete file.
func convertFile(ctx context.Context, in, out string, o Options) (err error) {
	if st, err := os.Stat(in); err == nil && st.IsDir() {
		in = filepath.Join(in, "model.safetensors")
		if _, err := os.Stat(in); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(in + ".index.json"); err == nil {
				in += ".index.json"
			} else {
				if parts, _ := filepath.Glob(filepath.Join(filepath.Dir(in), "model-*-of-*.safetensors")); len(parts) > 0 {
					return fmt.Errorf("%s has model shards, such as %s, but lacks model.safetensors.index.json: "+
						"download the index too", filepath.Dir(in), filepath.Base(parts[0]))
				}
				return fmt.Errorf("%s: model.safetensors and model.safetensors.index.json are missing: "+
					"choose the folder of a Hugging Face model, or a weights file", filepath.Dir(in))
			}
		}
	}
	m, err := safetensors.Open(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	tmp := out + ".partial"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	err = Convert(ctx, f, m, o)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, out)
}
