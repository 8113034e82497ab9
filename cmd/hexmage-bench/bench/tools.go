package bench

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Names of tools, as in the report.
const (
	shipped      = "hexmage"        // as it comes
	staged       = "hexmage staged" // without a sandbox
	ninja        = "ninja"
	ninjaDefault = "ninja, own -j"
	samurai      = "samurai"
	maketool     = "make"
	isolated     = "isolated floor" // the floor with actions that are kept from what they do not declare
	floor        = "floor"          // what the promises cost at least; of a restore, hard links
)

// tool is one tool with a workspace of its own.
type tool struct {
	name    string
	program program
	out     string   // folder with what compares to out/ of the graph
	state   []string // what a build leaves, for a cold one to be cold
}

// newTools returns those that build the case: hexmage first, and last the floor.
func newTools(o Options, c Case, dir string) []*tool {
	var all []*tool
	add := func(name, out string, state []string, argv ...string) *tool {
		ws := filepath.Join(dir, name)
		t := &tool{name: name, out: filepath.Join(ws, out), program: program{argv: argv, dir: ws, env: environment(ws)}}
		for _, s := range state {
			t.state = append(t.state, filepath.Join(ws, s))
		}
		all = append(all, t)
		return t
	}
	j := "-j" + strconv.Itoa(o.Jobs)
	built, ofFloor := []string{"out", "obj", ".ninja_log", ".ninja_deps"}, []string{"out", "store", "new", "state"}
	for _, name := range append([]string{shipped}, c.Tools...) {
		switch name {
		case shipped, staged:
			t := add(name, "out/graph", []string{"out", "cache"}, o.Hexmage, "run", "graph", j)
			t.program.env = append(t.program.env, "HEXMAGE_CACHE="+filepath.Join(t.program.dir, "cache"))
			if name == staged {
				t.program.env = append(t.program.env, "HEXMAGE_SANDBOX=staged")
			}
		case ninja:
			add(name, "out", built, o.Ninja, j)
		case ninjaDefault:
			add(name, "out", built, o.Ninja)
		case samurai:
			if o.Samurai != "" {
				add(name, "out", built, o.Samurai, j)
			}
		case isolated:
			add(name, "out", ofFloor, o.Floor, FloorCommand, "-isolated", "-j", strconv.Itoa(o.Jobs))
		case maketool:
			add(name, "out", built, o.Make, "-rs", j) // -r: no search for implicit rules, as in makefiles that care
		}
	}
	add(floor, "out", ofFloor, o.Floor, FloorCommand, "-j", strconv.Itoa(o.Jobs))
	return all
}

// environment is all that measured programs get of it.
func environment(home string) []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LC_ALL=C"}
}

// executed runs hexmage and returns how many actions it ran.
func (t *tool) executed(ctx context.Context) (int, error) {
	p := t.program
	p.argv = append(append([]string(nil), p.argv...), "--json")
	out, err := p.command(ctx).Output()
	if err != nil {
		return 0, p.explain(ctx, err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var last struct {
		Event    string `json:"event"`
		Executed int    `json:"executed"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil || last.Event != "build_finished" {
		return 0, fmt.Errorf("the last line of hexmage's events is %q, %v", lines[len(lines)-1], err)
	}
	return last.Executed, nil
}

//go:embed programs
var programs embed.FS

// Compiler compiles the programs that are the actions.
type Compiler struct {
	Program      string   // cc, or a clang
	Args         []string // more arguments
	Freestanding bool     // it has neither headers nor a C library
}

// String says what the programs are, for the report.
func (c Compiler) String() string {
	if c.Freestanding {
		return "static programs without a C library"
	}
	return "programs linked with the C library of the machine"
}

// build compiles programs/NAME.c to dir/NAME.
func (c Compiler) build(ctx context.Context, dir string) error {
	if err := os.CopyFS(dir, programs); err != nil {
		return err
	}
	for _, name := range []string{"tiny", "flip"} {
		args := append([]string{"-O2", "-o", filepath.Join(dir, name)}, c.Args...)
		if c.Freestanding {
			args = append(args, "-DFREESTANDING", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib")
		}
		cmd := exec.CommandContext(ctx, c.Program, append(args, filepath.Join(dir, "programs", name+".c"))...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile %s.c: %w\n%s", name, err, out)
		}
	}
	return nil
}

// measureExample builds every pipeline of a copy of the workspace, then measures building it again, right away and
// when its files are older. The cache is the user's own, so that toolchains that are there are not fetched again.
func measureExample(ctx context.Context, o Options, ws, dir string) ([]Example, error) {
	if err := errors.Join(os.CopyFS(dir, os.DirFS(ws)), remove(filepath.Join(dir, "out"))); err != nil {
		return nil, err
	}
	pipelines, err := filepath.Glob(filepath.Join(dir, "pipelines", "*.hcl"))
	if err != nil {
		return nil, err
	}
	var all []Example
	for i, when := range []string{", just saved", ""} {
		time.Sleep(time.Duration(i) * o.Age)
		for _, path := range pipelines {
			name := strings.TrimSuffix(filepath.Base(path), ".hcl")
			e, err := measureNoOp(ctx, o, dir, name)
			if err != nil {
				return nil, err
			}
			e.Name = filepath.Base(ws) + "/" + name + when
			all = append(all, e)
		}
	}
	return all, nil
}

// measureNoOp builds a pipeline of a workspace, then measures building it again.
func measureNoOp(ctx context.Context, o Options, ws, name string) (Example, error) {
	p := program{argv: []string{o.Hexmage, "run", name}, dir: ws, env: o.Env}
	e := Example{Name: name}
	if _, err := p.measure(ctx); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	for range brief {
		s, err := p.measure(ctx)
		if err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
		e.NoOp.Samples = append(e.NoOp.Samples, s)
	}
	return e, nil
}
