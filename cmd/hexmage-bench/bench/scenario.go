package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
)

// Scenario is what happened before a build.
type Scenario string

// The scenarios, in the order of the report.
const (
	Cold     Scenario = "cold"            // nothing is there: no outputs, no cache
	NoOp     Scenario = "no-op"           // nothing happened
	Changed  Scenario = "one changed"     // a source has new content
	Back     Scenario = "changed back"    // and its old content again
	Touched  Scenario = "touched"         // a source has a new time and its old content
	Restored Scenario = "outputs removed" // all of them; the others than hexmage would build anew, so they are not asked
)

// tick is more than a file's time is exact to on Linux, where the kernel's clock sets it. Ninja and make take a source that
// was written in the tick of its output for one that did not change.
const tick = 20 * time.Millisecond

const (
	mostCold = 9 // cold builds of a graph by each tool
	edits    = 3 // edits after each cold build
	noOps    = 3 // no-ops after each cold build
)

// graphRun is the measuring of one graph.
type graphRun struct {
	Options
	g       Graph
	dir     string
	floor   string // workspace of the floor
	tools   []*tool
	res     *GraphResult
	turn    int    // who begins: the order rotates
	edition uint64 // of changed sources
	trashed int    // folders, so far
}

func measureGraph(ctx context.Context, o Options, g Graph, programs string) (*GraphResult, error) {
	dir := filepath.Join(programs, "graph")
	r := &graphRun{Options: o, g: g, dir: dir, floor: filepath.Join(dir, "floor"), tools: newTools(o, dir), res: &GraphResult{Graph: g}}
	defer remove(dir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	atomicfile.Spread(dir) // no tool is to pay for what another one removed
	workspaces := []string{r.floor}
	for _, t := range r.tools {
		workspaces = append(workspaces, t.program.dir)
	}
	for _, ws := range workspaces {
		if err := g.write(ws, filepath.Join(programs, "programs", "tiny")); err != nil {
			return nil, err
		}
	}
	var spent time.Duration
	for n := 0; n < mostCold && (n < o.Repeat || spent < o.Budget); n++ {
		begin := time.Now()
		if err := r.round(ctx); err != nil {
			return nil, err
		}
		spent += time.Since(begin)
		fmt.Fprintf(o.Log, "  round %d: %.1f s\n", n+1, time.Since(begin).Seconds())
	}
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	return r.res, r.profiles(ctx)
}

// round measures every scenario.
func (r *graphRun) round(ctx context.Context) error {
	if err := r.cold(ctx); err != nil {
		return err
	}
	r.compare("a cold build", append([]string{r.floor + "/out"}, r.outs(r.tools)...)...)
	// The rest is the same for both ways of isolation, and for both numbers of jobs.
	tools := slices.DeleteFunc(slices.Clone(r.tools), func(t *tool) bool { return t.name == staged || t.name == ninjaDefault })
	for range noOps {
		s, err := floorNoOp(r.g, r.floor, r.Jobs)
		if err != nil {
			return err
		}
		r.res.add(NoOp, floor, s)
		if err := r.each(ctx, NoOp, tools); err != nil {
			return err
		}
	}
	for range edits {
		r.edition++
		source := int(r.edition*37) % len(r.g.Sources)
		for _, step := range []struct {
			Scenario
			edition uint64
		}{{Changed, r.edition}, {Back, 0}, {Touched, 0}} {
			time.Sleep(tick)
			for _, t := range tools {
				if err := writeSource(filepath.Join(t.program.dir, r.g.Sources[source]), uint64(source), step.edition); err != nil {
					return err
				}
			}
			if err := r.each(ctx, step.Scenario, tools); err != nil {
				return err
			}
			if r.edition%edits == 1 {
				r.compare(string(step.Scenario), r.outs(tools)...)
			}
		}
	}
	return r.restore(ctx)
}

func (r *graphRun) cold(ctx context.Context) error {
	if err := r.aside(filepath.Join(r.floor, "out"), filepath.Join(r.floor, "obj")); err != nil {
		return err
	}
	for _, t := range r.tools {
		if err := r.aside(t.state...); err != nil {
			return err
		}
	}
	settle()
	s, err := floorCold(ctx, r.g, r.floor, r.Jobs)
	if err != nil {
		return err
	}
	r.res.add(Cold, floor, s)
	return r.each(ctx, Cold, r.tools)
}

// aside takes files and folders away without freeing an inode (see atomicfile.Spread). They are removed at the end.
func (r *graphRun) aside(paths ...string) error {
	trash := filepath.Join(r.dir, "trash")
	if err := os.MkdirAll(trash, 0o755); err != nil {
		return err
	}
	for _, p := range paths {
		r.trashed++
		if err := os.Rename(p, filepath.Join(trash, strconv.Itoa(r.trashed))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r *graphRun) restore(ctx context.Context) error {
	hexmage := r.tools[:1]
	for range noOps {
		s, err := floorRestore(r.g, r.floor)
		if err != nil {
			return err
		}
		r.res.add(Restored, floor, s)
		if err := remove(filepath.Dir(hexmage[0].out)); err != nil {
			return err
		}
		if err := r.each(ctx, Restored, hexmage); err != nil {
			return err
		}
	}
	r.compare("outputs were removed", r.floor+"/out", hexmage[0].out)
	return nil
}

// each measures the tools in turn.
func (r *graphRun) each(ctx context.Context, s Scenario, tools []*tool) error {
	r.turn++
	for i := range tools {
		t := tools[(i+r.turn)%len(tools)]
		if s == Cold || s == Restored {
			settle()
		}
		x, err := t.program.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", s, t.name, err)
		}
		r.res.add(s, t.name, x)
	}
	return nil
}

func (r *graphRun) outs(tools []*tool) []string {
	var all []string
	for _, t := range tools {
		all = append(all, t.out)
	}
	return all
}

// compare notes a problem if folders differ.
func (r *graphRun) compare(after string, dirs ...string) {
	var first string
	for i, dir := range dirs {
		sum, err := hashFolder(dir)
		if err != nil {
			sum = err.Error()
		}
		if i == 0 {
			first = sum
		} else if sum != first {
			r.res.Problems = append(r.res.Problems, fmt.Sprintf("%s: after %s, the outputs in %s are not those in %s: %s, %s",
				r.g.Name, after, r.short(dir), r.short(dirs[0]), sum, first))
		}
	}
}

func (r *graphRun) short(dir string) string {
	rel, _ := filepath.Rel(r.dir, dir)
	return rel
}

// check counts the actions that hexmage runs.
func (r *graphRun) check(ctx context.Context) error {
	t := r.tools[0]
	source := r.g.Sources[0]
	write := func(edition uint64) func() error {
		return func() error { return writeSource(filepath.Join(t.program.dir, source), 0, edition) }
	}
	for _, c := range []struct {
		Scenario
		prepare func() error
		want    int
	}{
		{NoOp, func() error { return nil }, 0},
		{Changed, write(r.edition + 1), r.g.affected(source)},
		{Back, write(0), 0},
		{Touched, write(0), 0},
		{Restored, func() error { return remove(filepath.Dir(t.out)) }, 0},
	} {
		if err := c.prepare(); err != nil {
			return err
		}
		got, err := t.executed(ctx)
		if err != nil {
			return err
		}
		if got != c.want {
			r.res.Problems = append(r.res.Problems, fmt.Sprintf("%s, %s: hexmage ran %d actions, not %d", r.g.Name, c.Scenario, got, c.want))
		}
	}
	return nil
}

// hashFolder is a digest of all files' names and contents.
func hashFolder(dir string) (string, error) {
	h := sha256.New()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		n++
		fmt.Fprintf(h, "%q %d\n", rel, len(b))
		h.Write(b)
		return nil
	})
	return fmt.Sprintf("%d files, %s", n, hex.EncodeToString(h.Sum(nil)[:6])), err
}

// profiles runs hexmage once more in each scenario and keeps profiles of it: GRAPH-SCENARIO.cpu and .mem.
func (r *graphRun) profiles(ctx context.Context) error {
	if r.Profiles == "" {
		return nil
	}
	t := r.tools[0]
	source := filepath.Join(t.program.dir, r.g.Sources[0])
	for _, c := range []struct {
		Scenario
		prepare func() error
	}{
		{NoOp, func() error { return nil }},
		{Changed, func() error { return writeSource(source, 0, r.edition+2) }},
		{Back, func() error { return writeSource(source, 0, 0) }},
		{Restored, func() error { return remove(filepath.Dir(t.out)) }},
		{Cold, func() error { return remove(t.state...) }},
	} {
		if err := c.prepare(); err != nil {
			return err
		}
		if err := profile(ctx, t.program, r.Profiles, strings.ReplaceAll(r.g.Name+"-"+string(c.Scenario), " ", "-")); err != nil {
			return err
		}
	}
	return nil
}

// profile runs hexmage and keeps dir/NAME.cpu and .mem.
func profile(ctx context.Context, hexmage program, dir, name string) error {
	base, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	hexmage.env = append(slices.Clone(hexmage.env), "HEXMAGE_CPUPROFILE="+base+".cpu", "HEXMAGE_MEMPROFILE="+base+".mem")
	_, err = hexmage.measure(ctx)
	return err
}

// floorCold starts the graph's processes from Go, level by level, with nothing around them.
func floorCold(ctx context.Context, g Graph, dir string, jobs int) (Sample, error) {
	for _, sub := range []string{"out", "obj"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return Sample{}, err
		}
	}
	var cpu atomic.Int64
	begin := time.Now()
	for _, level := range levels(g) {
		err := parallel(jobs, len(level), func(i int) error {
			cmd := exec.CommandContext(ctx, "./tools/tiny", append([]string{level[i].Out}, level[i].In...)...)
			cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin"}
			err := cmd.Run()
			if err == nil {
				cpu.Add(int64(cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()))
			}
			return err
		})
		if err != nil {
			return Sample{}, err
		}
	}
	return Sample{Wall: time.Since(begin), CPU: time.Duration(cpu.Load()), Read: -1}, nil
}

// floorNoOp asks for the stat data of every source and output.
func floorNoOp(g Graph, dir string, jobs int) (Sample, error) {
	paths := append(g.outputs(), g.Sources...)
	begin := time.Now()
	err := parallel(jobs, jobs, func(w int) error {
		for i := w; i < len(paths); i += jobs {
			if _, err := os.Lstat(filepath.Join(dir, paths[i])); err != nil {
				return err
			}
		}
		return nil
	})
	return Sample{Wall: time.Since(begin), Read: -1}, err
}

// floorRestore makes a hard link for every output.
func floorRestore(g Graph, dir string) (Sample, error) {
	settle()
	begin := time.Now()
	to, err := os.MkdirTemp(dir, "restored-")
	if err != nil {
		return Sample{}, err
	}
	for i, out := range g.outputs() {
		if err := os.Link(filepath.Join(dir, out), filepath.Join(to, strconv.Itoa(i))); err != nil {
			return Sample{}, err
		}
	}
	return Sample{Wall: time.Since(begin), Read: -1}, nil
}

// levels are actions that don't need each other.
func levels(g Graph) [][]Node {
	at := map[string]int{}
	var all [][]Node
	for _, n := range g.Nodes {
		level := 0
		for _, in := range n.In {
			if l, ok := at[in]; ok {
				level = max(level, l+1)
			}
		}
		at[n.Out] = level
		if level == len(all) {
			all = append(all, nil)
		}
		all[level] = append(all[level], n)
	}
	return all
}

// parallel calls f for 0 to n-1 on some goroutines and returns one of the errors.
func parallel(jobs, n int, f func(int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, jobs)
	for range jobs {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
