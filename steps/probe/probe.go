// Package probe compiles sources of an op package where that may fail, and reports the result: for a table of SDKs and
// targets.
//
// It has three tools: one runs a compiler, one sums up the results for an SDK, one makes the table. The package does not
// know how a source is compiled.
package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/patches"
)

// The tools' names, and their behaviour versions: raise them whenever an output changes.
const (
	Compile tool.Name[CompileSpec] = "probe-compile/2"
	Gather  tool.Name[GatherSpec]  = "probe-gather/2"
	Matrix  tool.Name[MatrixSpec]  = "probe-matrix/1"
)

// maxSaid bounds what is kept of a compiler's output, and maxCells a file, in bytes.
const (
	maxSaid  = 1 << 20
	maxCells = 4 << 20
)

// Cell is the result of one source, or of all, for one target.
type Cell struct {
	Compiled int    `json:"compiled"`
	Of       int    `json:"of"`
	First    string `json:"first,omitempty"` // the first error, FILE:LINE:COLUMN: text
	Rule     string `json:"rule,omitempty"`  // the rule that fixes it, if one is known
}

// CompileSpec says what to compile.
type CompileSpec struct {
	Args  []string `json:"args"`
	Rules string   `json:"rules"` // patches.Digest: rules are in results
	Out   string   `json:"out"`   // the file for the Cell
}

// words keeps the first maxSaid bytes.
type words struct{ bytes.Buffer }

func (w *words) Write(p []byte) (int, error) {
	_, _ = w.Buffer.Write(p[:min(len(p), maxSaid-w.Len())])
	return len(p), nil
}

// RunCompile is the tool that compiles. A compiler that fails is no failure of it; one that cannot be started is.
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

// place finds a compiler's error, and where it is.
var place = lazyregexp.New(`(?m)^(\S+?:\d+:\d+): (?:fatal )?error: (.*)$`)

// first is the first error of what a compiler said, at a path that begins at the package's folder src.
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

// rule names the first shipped rule that fixes an error of a compiler's output, "" if none does.
func rule(said string) string {
	for _, h := range patches.Diagnose(said) {
		return fmt.Sprintf("rename %s of patches/%s/%s", h.Rule.Name, h.Series, h.Range)
	}
	return ""
}

// GatherSpec says what to sum up.
type GatherSpec struct {
	Results map[string][]string `json:"results"` // by target: files with a Cell each
	Out     string              `json:"out"`     // the file for the Cells, by target
}

// RunGather is the tool that sums up cells.
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

// Of are the cells of one SDK.
type Of struct {
	SDK   string `json:"sdk"`
	Cells string `json:"cells"` // the file that RunGather has written
}

// MatrixSpec says what to put into a table.
type MatrixSpec struct {
	Title string `json:"title"`
	SDKs  []Of   `json:"sdks"` // a line each
	Out   string `json:"out"`
}

// RunMatrix is the tool that makes the table.
func RunMatrix(_ context.Context, s MatrixSpec, _ tool.Env) error {
	all, known := make([]map[string]Cell, len(s.SDKs)), map[string]bool{}
	for i, of := range s.SDKs {
		if err := read(of.Cells, &all[i]); err != nil {
			return err
		}
		for t := range all[i] {
			known[t] = true
		}
	}
	targets := slices.Sorted(maps.Keys(known))
	columns := []map[string]string{{"name": "sdk", "label": "SDK"}}
	for _, t := range targets {
		columns = append(columns, map[string]string{"name": t, "label": t})
	}
	var lines [][]string
	var notes []string
	complete := true
	for i, of := range s.SDKs {
		line := []string{of.SDK}
		for _, t := range targets {
			c, ok := all[i][t]
			cell := fmt.Sprintf("%d of %d", c.Compiled, c.Of)
			switch {
			case !ok:
				cell, complete = "", false
			case c.Compiled < c.Of:
				cell, complete = cell+": no", false
				note := fmt.Sprintf("%s, %s: %s", of.SDK, t, c.First)
				if c.Rule != "" {
					note += " (" + c.Rule + ")"
				}
				notes = append(notes, note)
			}
			line = append(line, cell)
		}
		lines = append(lines, line)
	}
	if complete {
		notes = []string{"All sources compile everywhere."}
	}
	note := strings.Join(notes, "\n")
	return write(s.Out, map[string]any{"title": s.Title, "columns": columns, "lines": lines, "note": note})
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
