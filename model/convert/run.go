package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "convert/2"

// checkpoint tells whether a file is a PyTorch checkpoint, by its name or, where that says nothing, by how it begins: as an archive or as a pickle.
func checkpoint(name string) bool {
	switch filepath.Ext(name) {
	case ".pth", ".pt", ".bin":
		return true
	case ".safetensors", ".json":
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [9]byte
	if _, err := io.ReadFull(f, head[:]); err != nil || head[8] == '{' { // safetensors begin with the length of a JSON object, and the object
		return false
	}
	return string(head[:2]) == "PK" || head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

// Spec says what to convert.
type Spec struct {
	Input  string `json:"input"`                    // a .safetensors file, a .safetensors.index.json, a PyTorch checkpoint, or a folder with model.safetensors, whole or in parts
	Output string `json:"output"`                   // the .mllm file to write
	Name   string `arg:"name,required" json:"name"` // stored in a version 2 header
	Format string `arg:"format" default:"v2" oneof:"v1 v2" json:"format"`
}

// Run is the tool. Unlike upstream's converter it never ends well without having written the file.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	if s.Input == "" || s.Output == "" {
		return errors.New("input and output are needed")
	}
	o := Options{ModelName: s.Name}
	switch s.Format {
	case "v1":
		o.Version = mllm.V1
	case "v2":
		o.Version = mllm.V2
	default:
		return fmt.Errorf("format is %q; choose v1 or v2", s.Format)
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

// convertFile writes beside the final name first, so that a failed conversion leaves no file that looks finished.
func convertFile(ctx context.Context, in, out string, o Options) (err error) {
	var from io.Closer
	var to func(io.Writer) error
	if st, err := os.Stat(in); err == nil && st.IsDir() {
		in = filepath.Join(in, "model.safetensors")
		if _, err := os.Stat(in); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(in + ".index.json"); err == nil {
				in += ".index.json"
			} else {
				return fmt.Errorf("there is no model.safetensors in %s, nor model.safetensors.index.json: name a folder that has the weights of a Hugging Face model, or a file of them", filepath.Dir(in))
			}
		}
	}
	if checkpoint(in) {
		f, ferr := os.Open(in)
		from, err, to = f, ferr, func(w io.Writer) error { return convertTorch(ctx, w, f, o) }
	} else {
		m, merr := safetensors.Open(in)
		from, err, to = m, merr, func(w io.Writer) error { return Convert(ctx, w, m, o) }
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	tmp := out + ".partial"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	err = to(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, out)
}
