// Package bench measures hexmage against ninja and make, and with a remote cache against Bazel: the same graphs of
// the same tiny actions, run in turn.
//
// It starts all three as programs, as their users do, and takes the time of whole processes. It does not know how
// hexmage works inside: what an action costs there, profiles tell (docs/performance.md).
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
	Floor       string   // the program of this command
	Ninja, Make string   // the programs
	Samurai     string   // "": it is not measured
	Strace      string   // "": system calls are not counted
	Entr        string   // for watching
	EntrEnv     []string // KEY=value, that entr needs
	Bazel       string   // the folder it was unpacked to, with a Java
	Casd        string   // buildbox-casd, a server of remote caches
	CC          Compiler // for the programs that are the actions
	// an existing folder on the file system to measure on; a folder in it is made, and removed at the end
	Dir    string
	Jobs   int // of all tools; 0: one a processor
	Cases  []Case
	Repeat int // cold builds of each graph by each tool, at least; at least 1
	// Age of sources when they are first built, and of large ones whenever they are. What the file system says of a
	// file that is younger than its clock is fine may not be relied on, so that the next build hashes it again: which
	// is not what is to be measured.
	Age time.Duration
	// cold builds of a graph are repeated beyond Repeat, up to 9 times, while they took less than this together
	Budget   time.Duration
	Sandbox  string   // what hexmage says of the one that it comes with here
	Watched  int      // actions in the graph that is watched; 0: watching is not measured
	Remote   int      // actions in the graph whose results are fetched from a server; 0: that is not measured
	Examples []string // workspaces whose pipelines' no-op is measured
	Env      []string // of those runs, KEY=value
	Main     string   // a pipeline of the working directory whose no-op is measured; "": none
	Profiles string   // folder for CPU profiles of hexmage, one a scenario; "": none
	Log      io.Writer
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
	r := &Report{Jobs: o.Jobs, Machine: describe(dir), Compiler: o.CC.String(), Sandbox: o.Sandbox, Date: time.Now()}
	if err := o.CC.build(ctx, filepath.Join(dir, "programs")); err != nil {
		return nil, err
	}
	// A start takes a few milliseconds: after graphs of ten thousand files were built and removed the machine is busy
	// with that for minutes.
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
	for _, c := range o.Cases {
		res, err := measureGraph(ctx, o, c, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		r.Graphs = append(r.Graphs, res)
	}
	if o.Watched > 0 {
		fmt.Fprintf(o.Log, "watching %d actions\n", o.Watched)
		if r.Watch, err = measureWatch(ctx, o, Wide(o.Watched, 1, false), filepath.Join(dir, "programs"), filepath.Join(dir, "watch")); err != nil {
			return nil, fmt.Errorf("watching: %w", err)
		}
	}
	if o.Remote > 0 {
		fmt.Fprintf(o.Log, "remote %d\n", o.Remote)
		if r.Remote, err = measureRemote(ctx, o, Wide(o.Remote-1, 1, false), filepath.Join(dir, "programs"), filepath.Join(dir, "remote")); err != nil {
			return nil, fmt.Errorf("remote: %w", err)
		}
	}
	return r, nil
}

// Report is what was measured.
type Report struct {
	Machine, Compiler, Sandbox string
	Jobs                       int
	Date                       time.Time
	Graphs                     []*GraphResult
	Watch                      *WatchResult  // nil: not measured
	Remote                     *RemoteResult // nil: not measured
	Examples                   []Example
}

// Problems are what is wrong, as opposed to slow: outputs that differ, actions that ran for nothing.
func (r *Report) Problems() []string {
	var all []string
	for _, g := range r.Graphs {
		all = append(all, g.Problems...)
	}
	if r.Watch != nil {
		all = append(all, r.Watch.Problems...)
	}
	if r.Remote != nil {
		all = append(all, r.Remote.Problems...)
	}
	return all
}

// GraphResult is what was measured on one graph.
type GraphResult struct {
	Case
	Actions  int
	Large    bool // the sources are
	Series   []*Series
	Syscalls Syscalls // nil: not counted
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
