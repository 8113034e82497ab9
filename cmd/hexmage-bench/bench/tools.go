package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
)

// Names of tools, as in the report.
const (
	strict       = "hexmage" // as it comes: what is not declared cannot be read
	staged       = "hexmage staged"
	ninja        = "ninja"
	ninjaDefault = "ninja, own -j"
	maketool     = "make"
	floor        = "floor" // the same work with nothing around it
)

// tool is one tool with a workspace of its own.
type tool struct {
	name    string
	program program
	out     string   // folder with what compares to out/ of the graph
	state   []string // what a build leaves, for a cold one to be cold
	hexmage bool
}

func newTools(o Options, dir string) []*tool {
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
	for _, name := range []string{strict, staged} {
		t := add(name, "out/graph", []string{"out", "cache"}, o.Hexmage, "run", "graph", j)
		t.hexmage = true
		mode := "strict"
		if name == staged {
			mode = "staged"
		}
		t.program.env = append(t.program.env, "HEXMAGE_CACHE="+filepath.Join(t.program.dir, "cache"), "HEXMAGE_SANDBOX="+mode)
	}
	built := []string{"out", "obj", ".ninja_log", ".ninja_deps"}
	add(ninja, "out", built, o.Ninja, j)
	add(ninjaDefault, "out", built, o.Ninja)
	add(maketool, "out", built, o.Make, "-rs", j) // -r: no search for implicit rules, as in makefiles that care
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
