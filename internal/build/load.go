package build

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// ErrStale says that a plan is not what planning would give now: the pipeline has to be planned again. It is no failure.
var ErrStale = errors.New("what the last plan was made from is no longer so")

// Machine answers what a plan was made from, as it is now.
type Machine struct {
	Workspace string // relative paths are seen from here
	Fn        digest.Function
	Lookup    func(name string) digest.Digest                                         // of a variable of the environment
	Digest    func(path string) (digest.Digest, error)                                // of a file's content, or of the names in a folder
	Glob      func(dir string, patterns []string) (found, listed []string, err error) // what fileset() finds
}

// Loaded is a plan with what the last build of it found out, read in place. It is for one use.
type Loaded struct {
	m       *snapshot.Reader
	machine Machine
	title   snapshot.Title
	changed []int // of hosts: what has to be read again
	others  bool  // other programs may be found than were
	update  snapshot.Update
	exports *exportCheck // nil: the run exports nothing
}

// Load reads the snapshot of the options and looks at every file that the plan or an action was made from, one stat each, and meanwhile at what was
// exported. Of the Options it needs Fn, State, Out and Snapshot. The error says why there is no plan that still holds; it is no failure.
func Load(machine Machine, o Options) (*Loaded, error) {
	r, err := open(machine, o)
	if err != nil {
		return nil, err
	}
	return r, r.lookAt()
}

// LoadTouched is Load, but that a few small files which have other times and the same content have not changed.
func LoadTouched(ctx context.Context, machine Machine, o Options) (*Loaded, error) {
	r, err := Load(machine, o)
	if err != nil || r.title.Always || r.others || len(r.changed) > maxTouchedHosts {
		return r, err
	}
	changed := r.changed
	same, err := r.touched(ctx, changed)
	if same {
		changed = nil
	}
	r.changed = changed
	return r, err
}

// touched tells whether what is in the files of some hosts is the same, though their times are not. Large files and folders are not read: that is
// for a run that shows what it does.
func (r *Loaded) touched(ctx context.Context, hosts []int) (bool, error) {
	if len(hosts) == 0 {
		return true, nil
	}
	for _, i := range hosts {
		h, err := r.m.Host(i)
		if err != nil || h.Dir {
			return false, err
		}
		now, err := r.stamps(h.Files)
		if err != nil {
			return false, err
		}
		for k, f := range h.Files {
			if f.Other || f.Stamp.Size > maxTouched || f.Stamp.Size != now[k].Size {
				return false, nil
			}
		}
	}
	a := newAssembler(nil, r.machine.Fn, merkle.HashFiles(r.machine.Fn), store.WithHostFiles(nil), r.machine.Workspace)
	a.notes, a.others = newNotes(), map[string]snapshot.Host{}
	r.changed = hosts
	other, err := r.reread(ctx, a)
	return err == nil && len(other) == 0, err
}

// maxTouched is how large a file may be, in bytes, that is read to see whether it changed.
const maxTouched = 1 << 20

// maxTouchedHosts is how many hosts are read for that.
const maxTouchedHosts = 64

// open reads the snapshot and looks at what the plan was made from.
func open(machine Machine, o Options) (*Loaded, error) {
	r := &Loaded{machine: machine, update: snapshot.Update{Reads: map[int]snapshot.Read{}, Hosts: map[int]snapshot.Host{},
		Results: map[int]snapshot.Unit{}, Outputs: map[int]snapshot.Output{}, Checks: map[int]snapshot.Check{}}}
	if o.Out != "" {
		r.exports = o.checkExports()
	}
	m, err := snapshot.Open(o.Snapshot.Path)
	if err != nil {
		return nil, err
	}
	r.m = m
	if r.title, err = m.Title(); err != nil {
		return nil, err
	}
	return r, r.Fresh()
}

func (r *Loaded) stamps(files []snapshot.File) ([]stat.Stamp, error) {
	paths := make([]string, len(files))
	for i := range files {
		paths[i] = files[i].Path
	}
	return stat.Lstats(r.machine.Workspace, paths, 0)
}

// lookAt looks at the files of the hosts and notes which of these changed.
func (r *Loaded) lookAt() error {
	files, of := make([]snapshot.File, 0, r.m.Hosts()), make([]int, 0, r.m.Hosts())
	if err := r.m.EachFile(func(host int, f snapshot.File) { files, of = append(files, f), append(of, host) }); err != nil {
		return err
	}
	stamps, err := r.stamps(files)
	if err != nil {
		return err
	}
	for i := range files {
		f := &files[i]
		if f.Clean && f.Stamp == stamps[i] {
			continue
		}
		if len(r.changed) == 0 || r.changed[len(r.changed)-1] != of[i] {
			r.changed = append(r.changed, of[i])
		}
		r.others = r.others || f.Other
	}
	return nil
}

// Fresh returns ErrStale when planning would read something else by now.
func (r *Loaded) Fresh() error {
	plan, err := r.reads()
	if err != nil {
		return err
	}
	stamps, err := stat.Lstats(r.machine.Workspace, plan.paths(), 0)
	if err != nil {
		return err
	}
	return r.checkReads(plan, stamps)
}

// planReads are what a plan was made from.
type planReads struct {
	reads   []snapshot.Read
	globs   []snapshot.Glob
	lookups []snapshot.Lookup
}

func (p *planReads) paths() []string {
	paths := make([]string, len(p.reads))
	for i := range p.reads {
		paths[i] = p.reads[i].Path
	}
	return paths
}

// reads are what the plan was made from.
func (r *Loaded) reads() (*planReads, error) {
	var p planReads
	var errs [3]error
	p.reads, errs[0] = r.m.Reads()
	p.globs, errs[1] = r.m.Globs()
	p.lookups, errs[2] = r.m.Lookups()
	return &p, errors.Join(errs[:]...)
}

// checkReads tells whether planning would read what it read then. Of what was so young then that its Stamp tells nothing, the content does.
func (r *Loaded) checkReads(p *planReads, stamps []stat.Stamp) error {
	for _, l := range p.lookups {
		if r.machine.Lookup(l.Name) != l.Value {
			return fmt.Errorf("%s changed: %w", l.Name, ErrStale)
		}
	}
	now, reads := time.Now(), p.reads
	listed := map[int]bool{}
	for _, g := range p.globs {
		same := true
		for _, i := range g.Dirs {
			listed[i] = true
			same = same && reads[i].Stamp == stamps[i] && !reads[i].Young
		}
		if same {
			continue
		}
		found, dirs, err := r.machine.Glob(g.Dir, g.Patterns)
		if err != nil || !slices.Equal(found, g.Found) {
			return fmt.Errorf("what is in %s changed: %w", g.Dir, ErrStale)
		}
		for _, i := range g.Dirs { // a folder that is new, or gone, needs a record of its own
			if !slices.Contains(dirs, reads[i].Path) {
				return fmt.Errorf("the folders in %s changed: %w", g.Dir, ErrStale)
			}
		}
		if len(dirs) != len(g.Dirs) {
			return fmt.Errorf("the folders in %s changed: %w", g.Dir, ErrStale)
		}
		for _, i := range g.Dirs {
			if !stamps[i].Racy(now) { // it was listed after it was looked at
				r.update.Reads[i] = snapshot.Read{Path: reads[i].Path, Stamp: stamps[i]}
			}
		}
	}
	for i, read := range reads {
		if listed[i] || read.Stamp == stamps[i] && !read.Young {
			continue
		}
		same := stamps[i].IsRegular() && read.Stamp.IsRegular() || stamps[i].IsDir() && read.Stamp.IsDir()
		if !same || read.Digest.IsZero() {
			return fmt.Errorf("%s changed: %w", read.Path, ErrStale)
		}
		d, err := r.machine.Digest(r.path(read.Path))
		if err != nil || d != read.Digest {
			return fmt.Errorf("%s changed: %w", read.Path, ErrStale)
		}
		if !stamps[i].Racy(now) {
			r.update.Reads[i] = snapshot.Read{Path: read.Path, Stamp: stamps[i], Digest: d}
		}
	}
	return nil
}

func (r *Loaded) path(p string) string {
	if p = filepath.FromSlash(p); filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(r.machine.Workspace, p)
}

// Unchanged tells whether nothing that the last build read or exported has changed, so that there is nothing to do.
func (r *Loaded) Unchanged() bool {
	return !r.title.Always && len(r.changed) == 0 && (r.exports == nil || r.exports.whole(r.title.Exported))
}

// Changed is how many of the files and folders that actions read have to be looked into again.
func (r *Loaded) Changed() int { return len(r.changed) }

// EachRead calls f with all that the last build's plan and actions looked at. dir tells of a folder that its entries count.
func (r *Loaded) EachRead(f func(path string, dir bool)) error {
	reads, err := r.m.Reads()
	if err != nil {
		return err
	}
	for _, read := range reads {
		f(read.Path, read.Stamp.IsDir())
	}
	return r.m.EachFile(func(_ int, file snapshot.File) { f(file.Path, file.Stamp.IsDir()) })
}

// Units is how many actions the last build had.
func (r *Loaded) Units() int { return r.m.Units() }

// Finish ends a run in which nothing had changed: it sends the events of a build in which every action was cached.
func (r *Loaded) Finish(o Options, start time.Time) Result {
	if len(r.update.Reads) > 0 || len(r.update.Hosts) > 0 {
		r.save(o)
	}
	o.Sink.Send(event.BuildStarted{Pipeline: r.title.Pipeline, Profile: r.title.Profile, Actions: r.m.Units()})
	if o.Each {
		r.sendCached(o.Sink, nil)
	}
	res := Result{Outputs: make([]event.OutputReady, 0, r.m.Outputs())}
	in := filepath.Clean(o.Out) + string(filepath.Separator)
	for i := range r.m.Outputs() {
		x, err := r.m.OutputLinks(i)
		if err != nil {
			break // it has a right checksum, so this cannot be
		}
		name, _ := plan.FileName(x.Plan.Name)
		out := event.OutputReady{Name: x.Plan.Name, Path: in + name, Show: x.Plan.Show}
		o.Sink.Send(out)
		res.Outputs = append(res.Outputs, out)
	}
	if all, err := r.checks(nil, nil); err == nil { // it has a right checksum
		for _, c := range all {
			res.Checks = append(res.Checks, *c.known)
		}
	}
	res.BuildFinished = event.BuildFinished{Actions: r.m.Units(), Cached: r.m.Units(), Seconds: time.Since(start).Seconds()}
	res.ChecksFailed = sent(o.Sink, res.Checks)
	o.Sink.Send(res.BuildFinished)
	return res
}

// sendCached sends that the units that are not hit are cached: of none of them anything changed.
func (r *Loaded) sendCached(sink event.Sink, hit []bool) {
	for i := range r.m.Units() {
		if anyHit(hit, i) {
			continue
		}
		u, err := r.m.Unit(i)
		if err != nil {
			return // it has a right checksum, so this cannot be
		}
		n, err := r.m.At(u.Instance)
		if err != nil {
			return
		}
		sink.Send(event.ActionFinished{Step: n.Plan.At.Short(), Name: u.Spec.Name, Outcome: event.Cached, Key: hexOf(u.Key), Action: u.Key})
	}
}

// save leaves the snapshot for the next run, with what changed.
func (r *Loaded) save(o Options) {
	_ = r.m.Save(o.Snapshot.Path, r.update) // without it, the next run takes longer
}

// reread reads what changed of the machine's files again, and returns the hosts whose content is another, or cannot be told: then whoever reads it says
// what is wrong.
func (r *Loaded) reread(ctx context.Context, a *assembler) (map[int]bool, error) {
	other := map[int]bool{}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range r.changed {
		g.Go(func() error {
			was, err := r.m.Host(i)
			if err != nil {
				return err
			}
			h := hostPath(&was)
			e, err := a.host(ctx, h)
			if lost(err) || ctx.Err() != nil {
				return err // it was saved while it was read
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				other[i] = true
				return nil
			}
			now := a.notes.of(h)
			if now.Dir != was.Dir || now.Digest != was.Digest || now.Executable != was.Executable || (e.Dir != nil) != was.Dir {
				other[i] = true
				a.others[hostKey(h)] = was
			}
			for _, f := range was.Files {
				if f.Other { // looked at just now, and as it was
					now.Files = append(now.Files, f)
				}
			}
			r.update.Hosts[i] = *now
			return nil
		})
	}
	return other, g.Wait()
}

// affected tells which units may have to run: those that read what changed, those that always run, and all that need them. It
// also returns the instance of each unit.
func (r *Loaded) affected(other map[int]bool) (hit []bool, owner []int, err error) {
	n := r.m.Units()
	owner = make([]int, n)
	var todo []int
	needs, ends := make([]int32, 0, n), make([]int32, n) // what each unit needs stands together, up to its end
	count := make([]int32, n+1)                          // of those that need each
	err = r.m.EachLinks(func(i int, u *snapshot.Unit) {
		owner[i] = u.Instance
		dirty := u.Always
		for _, h := range u.Hosts {
			dirty = dirty || other[h]
		}
		if dirty {
			todo = append(todo, i)
		}
		for _, d := range u.Needs {
			needs = append(needs, int32(d))
			count[d+1]++
		}
		ends[i] = int32(len(needs))
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range n {
		count[i+1] += count[i]
	}
	begin := slices.Clone(count) // those that need unit i are dependents[begin[i]:count[i]] in the end
	dependents := make([]int32, len(needs))
	at := int32(0)
	for i, end := range ends {
		for ; at < end; at++ {
			d := needs[at]
			dependents[count[d]] = int32(i)
			count[d]++
		}
	}
	hit = make([]bool, n)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; hit[i] {
			continue
		}
		hit[i] = true
		for _, d := range dependents[begin[i]:count[i]] {
			todo = append(todo, int(d))
		}
	}
	return hit, owner, nil
}

// anyOf tells whether one of the numbers is in the set.
func anyOf(of map[int]bool, in []int) bool {
	return slices.ContainsFunc(in, func(i int) bool { return of[i] })
}

// anyHit tells whether one of the units is hit; none is where nobody found that out.
func anyHit(hit []bool, units ...int) bool {
	return len(hit) > 0 && slices.ContainsFunc(units, func(i int) bool { return hit[i] })
}

// entryOf is what an output of a unit is.
func entryOf(o snapshot.Out) merkle.Entry {
	if o.Dir {
		return merkle.Entry{Dir: merkle.Ref(o.Digest)}
	}
	return merkle.Entry{File: &merkle.File{Digest: o.Digest, Executable: o.Executable}}
}
