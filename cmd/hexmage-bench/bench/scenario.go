package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
)

// Scenario is what happened before a build.
type Scenario string

// The scenarios, in the order of the report.
const (
	Cold    Scenario = "cold"            // nothing is there: no outputs, no cache
	NoOp    Scenario = "no-op"           // nothing happened
	Changed Scenario = "one changed"     // a source has new content
	Back    Scenario = "changed back"    // and its old content again
	Touched Scenario = "touched"         // a source has a new time and its old content
	Comment Scenario = "comment changed" // a source has new content, of which its action makes what it made before
	// all of them; the others than hexmage would build anew, so they are not asked
	Restored Scenario = "outputs removed"
)

// tick is more than a file's time is exact to on Linux, where the kernel's clock sets it. Ninja and make take a
// source that was written in the tick of its output for one that did not change.
const tick = 20 * time.Millisecond

const (
	mostCold = 9  // cold builds of a graph by each tool
	edits    = 3  // edits after each cold build
	noOps    = 3  // no-ops after each cold build
	brief    = 30 // no-ops where each takes a few milliseconds
)

// graphRun is the measuring of one graph.
type graphRun struct {
	Options
	Case
	Graph
	dir        string
	tools      []*tool
	hexmage    *tool    // of them
	floor      *tool    // likewise
	workspaces []string // of tools
	res        *GraphResult
	turn       int    // who begins: the order rotates
	edition    uint64 // of changed sources
	trashed    int    // folders, so far
}

func measureGraph(ctx context.Context, o Options, c Case, dir string) (*GraphResult, error) {
	programs := filepath.Join(dir, "programs")
	dir = filepath.Join(dir, "graph")
	r := &graphRun{Options: o, Case: c, Graph: c.Graph(), dir: dir, tools: newTools(o, c, dir), res: &GraphResult{Case: c}}
	r.res.Actions, r.res.Large = len(r.Nodes), r.large()
	fmt.Fprintf(o.Log, "%s: %d actions\n", c.Name, r.res.Actions)
	r.hexmage, r.floor = r.tools[0], r.tools[len(r.tools)-1]
	defer r.remove()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	for _, t := range r.tools {
		r.workspaces = append(r.workspaces, t.program.dir)
	}
	if err := r.write(programs, r.workspaces...); err != nil {
		return nil, err
	}
	r.HCL = nil // which is much
	time.Sleep(o.Age)
	var spent time.Duration
	for n := 0; n < mostCold && (n < o.Repeat || spent < o.Budget); n++ {
		begin := time.Now()
		if err := r.round(ctx, n); err != nil {
			return nil, err
		}
		spent += time.Since(begin)
		fmt.Fprintf(o.Log, "  round %d: %.1f s\n", n+1, time.Since(begin).Seconds())
	}
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if err := r.syscalls(ctx); err != nil {
		return nil, err
	}
	return r.res, r.profiles(ctx)
}

// round measures every scenario.
func (r *graphRun) round(ctx context.Context, n int) error {
	if n == 0 || !r.ColdOnce {
		if err := r.cold(ctx); err != nil {
			return err
		}
	}
	// The rest is the same for both numbers of jobs.
	tools := slices.DeleteFunc(slices.Clone(r.tools), func(t *tool) bool { return t.name == ninjaDefault })
	if r.measures(NoOp) {
		for range cmp.Or(r.NoOps, noOps) {
			if err := r.each(ctx, NoOp, tools); err != nil {
				return err
			}
		}
	}
	for range edits {
		if err := r.edits(ctx, tools); err != nil {
			return err
		}
	}
	if r.measures(Restored) {
		return r.restore(ctx)
	}
	return nil
}

func (r *graphRun) measures(s Scenario) bool { return slices.Contains(r.Scenarios, s) }

// edits measures what happens to one source after the other; the last of it leaves what a cold build built.
func (r *graphRun) edits(ctx context.Context, tools []*tool) error {
	r.edition++
	source := int(r.edition*37) % len(r.Sources)
	for _, step := range []struct {
		Scenario
		edition uint64
		comment string
	}{{Comment, 0, r.comment()}, {Changed, r.edition, ""}, {Back, 0, ""}, {Touched, 0, ""}} {
		if !r.measures(step.Scenario) {
			continue
		}
		time.Sleep(tick)
		if err := r.edit(source, step.edition, step.comment, r.workspaces...); err != nil {
			return err
		}
		if r.large() {
			time.Sleep(r.Age)
		}
		if err := r.each(ctx, step.Scenario, tools); err != nil {
			return err
		}
		if r.edition%edits == 1 {
			r.compare(string(step.Scenario), tools)
		}
	}
	return nil
}

// comment is a new one.
func (r *graphRun) comment() string { return fmt.Sprintf("/* %d */", r.edition) }

func (r *graphRun) cold(ctx context.Context) error {
	for _, t := range r.tools {
		if err := r.aside(t.state...); err != nil {
			return err
		}
	}
	if err := r.each(ctx, Cold, r.tools); err != nil {
		return err
	}
	r.compare("a cold build", r.tools)
	return nil
}

// aside takes files and folders away without freeing an inode. They are removed at the end; few large ones at once,
// as there is no room for them.
func (r *graphRun) aside(paths ...string) error {
	if r.large() {
		return remove(paths...)
	}
	for _, p := range paths {
		r.trashed++
		if err := os.Rename(p, filepath.Join(r.dir, strconv.Itoa(r.trashed))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// remove removes all that was made, in many places at once: the files are hundreds of thousands.
func (r *graphRun) remove() {
	all, _ := os.ReadDir(r.dir)
	_ = parallel(4*r.Jobs, len(all), func(i int) error { return os.RemoveAll(filepath.Join(r.dir, all[i].Name())) })
	_ = os.RemoveAll(r.dir)
}

func (r *graphRun) restore(ctx context.Context) error {
	for range noOps {
		s, err := linkOutputs(r.Graph, r.floor.program.dir)
		if err != nil {
			return err
		}
		r.res.add(Restored, floor, s)
		if err := remove(filepath.Dir(r.hexmage.out)); err != nil {
			return err
		}
		if err := r.each(ctx, Restored, []*tool{r.hexmage}); err != nil {
			return err
		}
	}
	r.compare("outputs were removed", []*tool{r.hexmage})
	return nil
}

// each measures the tools in turn.
func (r *graphRun) each(ctx context.Context, s Scenario, tools []*tool) error {
	r.turn++
	shrink()
	for i := range tools {
		t := tools[(i+r.turn)%len(tools)]
		if s == Cold || s == Restored || r.large() {
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

// compare notes a problem if a tool's outputs are not those of the floor.
func (r *graphRun) compare(after string, tools []*tool) {
	digestOf := func(dir string) string {
		sum, err := hashFolder(dir)
		if err != nil {
			return err.Error()
		}
		return sum
	}
	want := digestOf(r.floor.out)
	for _, t := range tools {
		if t == r.floor {
			continue
		}
		if got := digestOf(t.out); got != want {
			r.res.Problems = append(r.res.Problems, fmt.Sprintf("%s: after %s, the outputs in %s are not those in %s: %s, %s",
				r.Name, after, r.short(t.out), r.short(r.floor.out), got, want))
		}
	}
}

func (r *graphRun) short(dir string) string {
	rel, _ := filepath.Rel(r.dir, dir)
	return rel
}

// again has hexmage run once more in each scenario that is measured, which is not measured.
func (r *graphRun) again(run func(Scenario) error) error {
	t := r.hexmage
	r.edition++
	edit := func(edition uint64, comment string) func() error {
		return func() error { return r.edit(0, edition, comment, t.program.dir) }
	}
	for _, c := range []struct {
		Scenario
		prepare func() error
	}{
		{NoOp, func() error { return nil }},
		{Comment, edit(0, r.comment())},
		{Changed, edit(r.edition, "")},
		{Back, edit(0, "")},
		{Touched, edit(0, "")},
		{Restored, func() error { return remove(filepath.Dir(t.out)) }},
	} {
		if !r.measures(c.Scenario) {
			continue
		}
		if err := c.prepare(); err != nil {
			return err
		}
		if err := run(c.Scenario); err != nil {
			return err
		}
	}
	return nil
}

// smallRead is what a run may read that reads no large file: itself, pipelines, what it remembers. Bytes.
const smallRead = 1 << 20

// check counts the actions that hexmage runs, and what it reads when it runs none.
func (r *graphRun) check(ctx context.Context) error {
	if s := r.res.Find(NoOp, shipped); s != nil && r.large() && r.Age > 0 {
		if n := slices.Max(s.values(read)); n > smallRead {
			r.res.Problems = append(r.res.Problems, fmt.Sprintf("%s: with nothing changed, %.0f bytes were read", r.Name, n))
		}
	}
	want := map[Scenario]int{Comment: 1, Changed: r.affected(r.Sources[0])} // of others none
	return r.again(func(s Scenario) error {
		got, err := r.hexmage.executed(ctx)
		if err == nil && got != want[s] {
			r.res.Problems = append(r.res.Problems, fmt.Sprintf("%s, %s: hexmage ran %d actions, not %d", r.Name, s, got, want[s]))
		}
		return err
	})
}

// hashFolder is a digest of all files' names and contents.
func hashFolder(dir string) (string, error) {
	h := digest.BLAKE3.New()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum, err := hashFile(path)
		rel, _ := filepath.Rel(dir, path)
		n++
		fmt.Fprintf(h, "%q %s\n", rel, sum)
		return err
	})
	return fmt.Sprintf("%d files, %s", n, digest.BLAKE3.Sum(h, 0).Short()), err
}

// profiles runs hexmage once more in each scenario and keeps profiles of it: GRAPH-SCENARIO.cpu and .mem.
func (r *graphRun) profiles(ctx context.Context) error {
	if r.Profiles == "" {
		return nil
	}
	keep := func(s Scenario) error {
		return profile(ctx, r.hexmage.program, r.Profiles, strings.ReplaceAll(r.Name+"-"+string(s), " ", "-"))
	}
	if err := r.again(keep); err != nil {
		return err
	}
	if err := remove(r.hexmage.state...); err != nil {
		return err
	}
	return keep(Cold)
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

// linkOutputs makes a hard link for every output: what a restore takes at least.
func linkOutputs(g Graph, dir string) (Sample, error) {
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
