package compiler

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

// ConfigVersion names the bytes AOTConfig produces; it goes into cache keys.
const ConfigVersion = "1"

// RunConfig is the tool "aot-config": it writes the compiler's config for a target and a model. Exit codes: 0 ok, 1 failed, 2 usage.
func RunConfig(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("aot-config", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var t Target
	fs.StringVar(&t.Arch, "arch", "", "Hexagon arch, for example v79")
	fs.StringVar(&t.SoC, "soc", "", "SoC, for example SM8750")
	fs.IntVar(&t.VTCMMB, "vtcm", 8, "VTCM, megabytes")
	fs.BoolVar(&t.SignedPD, "signed_pd", false, "ask for a signed protection domain")
	model := fs.String("model_config", "", "the model's config.json")
	out := fs.String("out", "", "`file` to write")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if t.Arch == "" || t.SoC == "" || *model == "" || *out == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "aot-config: --arch, --soc, --model_config and --out are required, and nothing else is taken")
		return 2
	}
	if err := writeConfig(t, *model, *out); err != nil {
		fmt.Fprintf(stderr, "aot-config: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "wrote %s\n", *out)
	return 0
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
