// Package probe tries to compile the sources of an op package, and reports the results for a table of SDKs and targets.
//
// It has two tools: one runs a compiler, and one collects the results for an SDK. The package does not know the command
// lines of compilers.
package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/patches"
)

// Names and behavior versions of the tools. Raise a version whenever the tool's output changes.
const (
	Compile tool.Name[CompileSpec] = "probe-compile/2"
	Gather  tool.Name[GatherSpec]  = "probe-gather/2"
)

// maxSaid is the limit on stored compiler output, maxCells on a results file, in bytes.
const (
	maxSaid  = 1 << 20
	maxCells = 4 << 20
)

// Cell is the result of compiling one source, or all sources together, for one target.
type Cell struct {
	Compiled int    `json:"compiled"`
	Of       int    `json:"of"`
	First    string `json:"first"` // the first error, FILE:LINE:COLUMN: text
	Rule     string `json:"rule"`  // rule that fixes the error; "" if unknown
}

// CompileSpec describes one compilation.
type CompileSpec struct {
	Args  []string `json:"args"`
	Rules string   `json:"rules"` // patches.Digest; part of the spec because results name rules
	Out   string   `json:"out"`   // output file for the Cell
}

// words stores the first maxSaid bytes.
type words struct{ bytes.Buffer }

func (w *words) Write(p []byte) (int, error) {
	_, _ = w.Buffer.Write(p[:min(len(p), maxSaid-w.Len())])
	return len(p), nil
}

// RunCompile compiles one source. It fails if the compiler cannot start, but not if the compilation fails.
func RunCompile(ctx context.Context, s CompileSpec, env tool.Env) error {
	var said words
	cmd := exec.CommandContext(ctx, s.Args[0], s.Args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env.Vars, &said, &said
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || !failed.Exited()) {
		return fmt.Errorf("%s: %w", s.Args[0], err)
	}
	text := said.String()
	fmt.Fprint(env.Stderr, text)
	if err != nil {
		return write(s.Out, Cell{Of: 1, First: first(text), Rule: rule(text)})
	}
	return write(s.Out, Cell{Of: 1, Compiled: 1})
}

// place matches a compiler's error with its position.
var place = lazyregexp.New(`(?m)^(\S+?:\d+:\d+): (?:fatal )?error: (.*)$`)

// first returns the first error in a compiler's output, with a path that begins at the package's folder src.
func first(said string) string {
	if m := place.FindStringSubmatch(said); m != nil {
		at := m[1]
		if i := strings.LastIndex(at, "/src/"); i >= 0 {
			at = at[i+1:]
		}
		return at + ": " + m[2]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return line
}

// rule returns the first shipped rule that fixes an error in a compiler's output, or "".
func rule(said string) string {
	for _, h := range patches.Diagnose(said) {
		return fmt.Sprintf("rename %s of patches/%s/%s", h.Rule.Name, h.Series, h.Range)
	}
	return ""
}

// GatherSpec lists the results to collect.
type GatherSpec struct {
	Results map[string][]string `json:"results"` // files with one Cell each, by target
	Out     string              `json:"out"`     // output file for the Cells, by target
}

// RunGather collects results into one file.
func RunGather(_ context.Context, s GatherSpec, _ tool.Env) error {
	cells := map[string]Cell{}
	for target, results := range s.Results {
		var sum Cell
		for _, name := range results {
			var c Cell
			if err := read(name, &c); err != nil {
				return err
			}
			sum.Compiled, sum.Of = sum.Compiled+c.Compiled, sum.Of+c.Of
			if sum.First == "" {
				sum.First, sum.Rule = c.First, c.Rule
			}
		}
		cells[target] = sum
	}
	return write(s.Out, cells)
}

func read(name string, to any) error {
	raw, err := boundedfile.Read(name, maxCells)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func write(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, append(raw, '\n'), 0o644)
}
