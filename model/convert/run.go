package convert

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Run is the tool "convert": it reads --input_path, writes --output_path and returns an exit code (0 ok, 1 failed, 2 usage).
// Unlike upstream's converter it never ends with 0 without having written the file.
func Run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("convert", flag.ContinueOnError)
	fs.SetOutput(stderr)
	in := fs.String("input_path", "", "a .safetensors file or a .safetensors.index.json")
	out := fs.String("output_path", "", "the .mllm `file` to write")
	name := fs.String("model_name", "", "model name stored in a version 2 header")
	format := fs.String("format", "v2", "v1 or v2")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	o := Options{ModelName: *name}
	switch *format {
	case "v1":
		o.Version = mllm.V1
	case "v2":
		o.Version = mllm.V2
	default:
		fmt.Fprintf(stderr, "convert: --format is %q; choose v1 or v2\n", *format)
		return 2
	}
	if *in == "" || *out == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "convert: --input_path and --output_path are required, and nothing else is taken")
		return 2
	}
	if err := convertFile(ctx, *in, *out, o); err != nil {
		fmt.Fprintf(stderr, "convert: %v\n", err)
		return 1
	}
	st, err := os.Stat(*out)
	if err != nil {
		fmt.Fprintf(stderr, "convert: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "wrote %s, %d bytes\n", *out, st.Size())
	return 0
}

// convertFile writes beside the final name first, so that a failed conversion leaves no file that looks finished.
func convertFile(ctx context.Context, in, out string, o Options) (err error) {
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
