// Package bench measures hexmage against ninja and make: the same graphs of the same tiny actions, run in turn.
//
// It starts all three as programs, as their users do, and takes the time of whole processes. It does not know how hexmage
// works inside: what an action costs there, profiles tell (docs/performance.md).
package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Options say what to measure with what.
type Options struct {
	Hexmage     string   // the binary
	Ninja, Make string   // the programs
	Entr        string   // "": watching is not measured
	EntrEnv     []string // KEY=value, that entr needs
	CC          Compiler // for the programs that are the actions
	Dir         string   // an existing folder on the file system to measure on; a folder in it is made, and removed at the end
	Jobs        int      // of all tools; 0: one a processor
	Graphs      []Graph
	Repeat      int           // cold builds of each graph by each tool, at least; at least 1
	Budget      time.Duration // cold builds of a graph are repeated beyond Repeat, up to 9 times, while they took less than this together
	Large       int64         // size in bytes of each of the eight large files; 0: leave them out
	Examples    []string      // workspaces whose pipelines' no-op is measured
	Env         []string      // of those runs, KEY=value
	Main        string        // a pipeline of the working directory whose no-op is measured; "": none
	Profiles    string        // folder for CPU profiles of hexmage, one a scenario; "": none
	Log         io.Writer

	noWatch bool
}

// Run measures. The error says what kept it from measuring; wrong outputs and actions that should not have run are
// in the report's Problems.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	dir, err := os.MkdirTemp(o.Dir, "hexmage-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if o.Profiles != "" {
		if err := os.MkdirAll(o.Profiles, 0o755); err != nil {
			return nil, err
		}
	}
	r := &Report{Jobs: o.Jobs, Machine: describe(dir), Compiler: o.CC.String(), Date: time.Now()}
	if err := o.CC.build(ctx, filepath.Join(dir, "programs")); err != nil {
		return nil, err
	}
	for _, g := range o.Graphs {
		fmt.Fprintf(o.Log, "%s: %d actions\n", g.Name, len(g.Nodes))
		res, err := measureGraph(ctx, o, g, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.Name, err)
		}
		r.Graphs = append(r.Graphs, res)
	}
	if o.Large > 0 {
		fmt.Fprintf(o.Log, "eight files of %d MB\n", o.Large>>20)
		if r.Large, err = measureLarge(ctx, o, filepath.Join(dir, "large")); err != nil {
			return nil, fmt.Errorf("large files: %w", err)
		}
	}
	if o.Entr != "" {
		g := Wide(min(1000, o.watched()))
		fmt.Fprintf(o.Log, "watching %s\n", g.Name)
		if r.Watch, err = measureWatch(ctx, o, g, filepath.Join(dir, "programs"), filepath.Join(dir, "watch")); err != nil {
			return nil, fmt.Errorf("watching: %w", err)
		}
	}
	for _, ws := range o.Examples {
		fmt.Fprintf(o.Log, "example %s\n", filepath.Base(ws))
		more, err := measureExample(ctx, o, ws, filepath.Join(dir, "example-"+filepath.Base(ws)))
		if err != nil {
			return nil, fmt.Errorf("example %s: %w", filepath.Base(ws), err)
		}
		r.Examples = append(r.Examples, more...)
	}
	if o.Main != "" {
		fmt.Fprintf(o.Log, "pipeline %s\n", o.Main)
		e, err := measureNoOp(ctx, o, "", o.Main)
		if err != nil {
			return nil, err
		}
		r.Examples = append(r.Examples, e)
	}
	return r, nil
}

// Report is what was measured.
type Report struct {
	Machine, Compiler string
	Jobs              int
	Date              time.Time
	Graphs            []*GraphResult
	Large             *LargeResult // nil: not measured
	Watch             *WatchResult // likewise
	Examples          []Example
}

// Problems are what is wrong, as opposed to slow: outputs that differ, actions that ran for nothing.
func (r *Report) Problems() []string {
	var all []string
	for _, g := range r.Graphs {
		all = append(all, g.Problems...)
	}
	if r.Large != nil {
		all = append(all, r.Large.Problems...)
	}
	if r.Watch != nil {
		all = append(all, r.Watch.Problems...)
	}
	return all
}

// watched is how many actions the graph has that is watched: as many as the first that is measured.
func (o *Options) watched() int {
	if len(o.Graphs) == 0 {
		return 1000
	}
	return len(o.Graphs[0].Sources)
}

// GraphResult is what was measured on one graph.
type GraphResult struct {
	Graph    Graph
	Series   []*Series
	Problems []string
}

// Find returns the series of a tool in a scenario, or nil.
func (g *GraphResult) Find(s Scenario, tool string) *Series {
	i := slices.IndexFunc(g.Series, func(x *Series) bool { return x.Scenario == s && x.Tool == tool })
	if i < 0 {
		return nil
	}
	return g.Series[i]
}

func (g *GraphResult) add(s Scenario, tool string, x Sample) {
	have := g.Find(s, tool)
	if have == nil {
		have = &Series{Scenario: s, Tool: tool}
		g.Series = append(g.Series, have)
	}
	have.Samples = append(have.Samples, x)
}

// Example is the no-op of a pipeline.
type Example struct {
	Name string
	NoOp Series
}
