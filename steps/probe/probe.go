// Package probe compiles sources of an op package where that may fail, and says what came of it: for a table of SDKs and targets.
//
// One enters it with three tools: one runs a compiler, one gathers what was said for an SDK, one makes the table. It does not know how a source is compiled.
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
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/patches"
)

// The tools' names, and their behaviour versions: raise them whenever an output changes.
const (
	Compile tool.Name[CompileSpec] = "probe-compile/1"
	Gather  tool.Name[GatherSpec]  = "probe-gather/1"
	Matrix  tool.Name[MatrixSpec]  = "probe-matrix/1"
)

// maxSaid bounds what is kept of a compiler's words, and maxResult a result's file, in bytes.
const (
	maxSaid   = 1 << 20
	maxResult = 4 << 20
)

// Result is what came of one source for one target.
type Result struct {
	Target string `json:"target"`
	Source string `json:"source"` // in the package
	OK     bool   `json:"ok"`
	First  string `json:"first,omitempty"` // the first error, FILE:LINE:COLUMN: text
	Rule   string `json:"rule,omitempty"`  // what mends it, where that is known
}

// Cell is what came of all sources for one target.
type Cell struct {
	Compiled int    `json:"compiled"`
	Of       int    `json:"of"`
	First    string `json:"first,omitempty"`
	Rule     string `json:"rule,omitempty"`
}

// CompileSpec says what to compile.
type CompileSpec struct {
	Args   []string `json:"args"`
	Target string   `json:"target"`
	Source string   `json:"source"`
	Rules  string   `json:"rules"` // patches.Digest: rules are in results
	Out    string   `json:"out"`   // the file that the Result is written to
}

// words keeps the first maxSaid bytes.
type words struct{ bytes.Buffer }

func (w *words) Write(p []byte) (int, error) {
	_, _ = w.Buffer.Write(p[:min(len(p), maxSaid-w.Len())])
	return len(p), nil
}

// RunCompile is the tool that compiles. A compiler that fails is no failure of it; one that cannot be started is.
func RunCompile(ctx context.Context, s CompileSpec, env tool.Env) error {
	if len(s.Args) == 0 {
		return errors.New("there is nothing to run")
	}
	var said words
	cmd := exec.CommandContext(ctx, s.Args[0], s.Args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env.Vars, &said, &said
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || !failed.Exited()) {
		return fmt.Errorf("%s: %w", s.Args[0], err)
	}
	text := said.String()
	fmt.Fprint(env.Stderr, text)
	r := Result{Target: s.Target, Source: s.Source, OK: err == nil}
	if err != nil {
		r.First, r.Rule = first(text), rule(text)
	}
	return write(s.Out, r)
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

// GatherSpec says what to gather.
type GatherSpec struct {
	Results []string `json:"results"` // files with a Result each
	Out     string   `json:"out"`     // the file for the Cells, by target
}

// RunGather is the tool that makes cells of results.
func RunGather(_ context.Context, s GatherSpec, _ tool.Env) error {
	cells := map[string]*Cell{}
	for _, name := range s.Results {
		var r Result
		if err := read(name, &r); err != nil {
			return err
		}
		c := cells[r.Target]
		if c == nil {
			c = &Cell{}
			cells[r.Target] = c
		}
		c.Of++
		switch {
		case r.OK:
			c.Compiled++
		case c.First == "":
			c.First, c.Rule = r.First, r.Rule
		}
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
	all := make([]map[string]Cell, len(s.SDKs))
	var targets []string
	for i, of := range s.SDKs {
		if err := read(of.Cells, &all[i]); err != nil {
			return err
		}
		for t := range all[i] {
			if !slices.Contains(targets, t) {
				targets = append(targets, t)
			}
		}
	}
	slices.Sort(targets)
	type column struct {
		Name  string `json:"name"`
		Label string `json:"label"`
		Unit  string `json:"unit"`
	}
	columns := []column{{"sdk", "SDK", ""}}
	for _, t := range targets {
		columns = append(columns, column{t, t, ""})
	}
	var lines [][]string
	var red []string
	blank := false
	for i, of := range s.SDKs {
		line := []string{of.SDK}
		for _, t := range targets {
			c, ok := all[i][t]
			switch {
			case !ok:
				line, blank = append(line, ""), true
			case c.Compiled == c.Of:
				line = append(line, fmt.Sprintf("%d of %d", c.Compiled, c.Of))
			default:
				line = append(line, fmt.Sprintf("%d of %d: no", c.Compiled, c.Of))
				text := fmt.Sprintf("%s, %s: %s", of.SDK, t, c.First)
				if c.Rule != "" {
					text += " (" + c.Rule + ")"
				}
				red = append(red, text)
			}
		}
		lines = append(lines, line)
	}
	if len(red) == 0 && !blank {
		red = []string{"All sources compile everywhere."}
	}
	note := strings.Join(red, "\n")
	return write(s.Out, map[string]any{"title": s.Title, "columns": columns, "lines": lines, "note": note})
}

func read(name string, to any) error {
	raw, err := boundedfile.Read(name, maxResult)
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
