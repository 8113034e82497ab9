package kerneltest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is this tool's name and version. Raise the version whenever the report changes.
const Tool tool.Name[Spec] = "kernel-test/3"

// Spec is the input of Tool.
type Spec struct {
	Cases     []Case   `json:"cases"`
	Tested    DSP      `json:"tested"`
	Reference DSP      `json:"reference"`
	Sources   []Source `json:"sources"` // sources of the tested library
	Out       string   `json:"out"`     // text file for the report
}

// RunTool runs cases for an arch and writes their results.
func RunTool(ctx context.Context, s Spec, env tool.Env) error {
	if err := Validate(s.Cases); err != nil {
		return err
	}
	bad, err := refused(s.Sources)
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		fmt.Fprintln(env.Stderr, strings.Join(bad, "\n"))
		return tool.ErrSaid
	}
	for _, d := range []*DSP{&s.Tested, &s.Reference} {
		for _, p := range []*string{&d.Qemu, &d.Shell, &d.Library} {
			if *p, err = filepath.Abs(*p); err != nil {
				return err
			}
		}
	}
	var report strings.Builder
	failed, calls := 0, 0
	for i, c := range s.Cases {
		if len(c.Seeds) == 0 {
			c.Seeds = []uint64{1}
		}
		for _, seed := range c.Seeds {
			r := run(ctx, s.Tested, s.Reference, c, i, seed)
			if err := ctx.Err(); err != nil {
				return err
			}
			fmt.Fprintln(&report, r)
			if calls++; !r.OK() {
				failed++
				fmt.Fprintln(env.Stderr, r)
			}
		}
	}
	if failed > 0 {
		fmt.Fprintf(env.Stderr, "%d of %d kernel tests failed on %s\n", failed, calls, s.Tested.Arch)
		return tool.ErrSaid
	}
	return os.WriteFile(s.Out, []byte(report.String()), 0o644)
}
