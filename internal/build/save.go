package build

import (
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/stat"
)

// Snapshot says where a build leaves what it found out, and what its plan was made from.
type Snapshot struct {
	Path    string // of the file
	Reads   []snapshot.Read
	Globs   []snapshot.Glob
	Lookups []snapshot.Lookup
}

// hostNotes are what was looked at of the machine's files, with the Stamps from before they were read.
type hostNotes struct {
	mu    sync.Mutex
	hosts map[string]*snapshot.Host // by hostKey

	shadowed map[string]bool // programs, by name and where they were looked for
}

func newNotes() *hostNotes {
	return &hostNotes{hosts: map[string]*snapshot.Host{}, shadowed: map[string]bool{}}
}

// note begins a Host's record. It returns what is to be called with every file, folder and symlink before it is read: the
// path relative to the Host's own, or absolute, and what Lstat says of it.
func (n *hostNotes) note(h action.HostPath) (*snapshot.Host, func(rel string, s stat.Stamp)) {
	if n == nil {
		return &snapshot.Host{}, func(string, stat.Stamp) {}
	}
	host := &snapshot.Host{Path: h.Path, Globs: h.Globs}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[hostKey(h)] = host
	return host, func(rel string, s stat.Stamp) {
		f := snapshot.File{Path: path.Clean(h.Path), Stamp: s, Clean: !s.Racy(time.Now())} // which is often h.Path itself, and no more memory
		switch {
		case path.IsAbs(rel):
			f.Path = rel
		case rel != "":
			f.Path = path.Join(h.Path, rel)
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		host.Files = append(host.Files, f)
	}
}

// shadows notes the places where a program was looked for before it was found: one that is put there will be found instead.
func (n *hostNotes) shadows(at, name, list string) {
	if n == nil || name == at {
		return
	}
	if list == "" {
		list = execute.HostPath
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	host := n.hosts[hostKey(action.HostPath{Path: at})]
	key := name + "\x00" + list
	if host == nil || n.shadowed[key] {
		return
	}
	n.shadowed[key] = true
	for _, dir := range filepath.SplitList(list) {
		p := filepath.Join(dir, name)
		if p == at {
			return
		}
		s, _ := stat.Lstat(p) // mostly nothing is there
		host.Files = append(host.Files, snapshot.File{Path: filepath.ToSlash(p), Stamp: s, Clean: !s.Racy(time.Now()), Other: true})
	}
}

// report passes on what was looked at.
func (n *hostNotes) report(look func(path string, dir bool)) {
	if n == nil || look == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.hosts {
		for _, f := range h.Files {
			look(f.Path, f.Stamp.IsDir())
		}
		if len(h.Files) == 0 { // it is not there
			look(h.Path, false)
		}
	}
}

// of returns the record of a Host.
func (n *hostNotes) of(h action.HostPath) *snapshot.Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	host := n.hosts[hostKey(h)]
	slices.SortFunc(host.Files, func(a, b snapshot.File) int { return strings.Compare(a.Path, b.Path) })
	return host
}

// hostPath is the input that a Host is.
func hostPath(h *snapshot.Host) action.HostPath { return action.HostPath{Path: h.Path, Globs: h.Globs} }

// noteLinks notes the symlinks that led to where a Host is, and returns the function to note what is there with.
func noteLinks(p rooted.Place, note func(string, stat.Stamp)) func(string, stat.Stamp) {
	for _, l := range p.Links {
		if s, err := stat.Lstat(l); err == nil {
			note(filepath.ToSlash(l), s)
		}
	}
	if len(p.Links) == 0 {
		return note
	}
	return func(rel string, s stat.Stamp) { note(path.Join(filepath.ToSlash(p.Path), rel), s) }
}

// snapshotter makes a snapshot of a build that succeeded.
type snapshotter struct {
	w        *worker
	to       *snapshot.Writer
	awaiting []int // of Title
	always   bool
	hosts    map[string]int           // by hostKey
	spans    map[addrs.Instance][]int // of snapshot.Instance.After
	links    map[addrs.Output]*links  // of outputs of several parts
}

// links are the hosts and units that something was made from.
type links struct{ hosts, units []int }

func (l *links) add(more *links) {
	l.hosts = append(l.hosts, more.hosts...)
	l.units = append(l.units, more.units...)
}

func (l *links) compact() *links {
	slices.Sort(l.hosts)
	slices.Sort(l.units)
	l.hosts, l.units = slices.Compact(l.hosts), slices.Compact(l.units)
	return l
}

var errNotSaved = errors.New("a part of the build is not known")

// remember returns the snapshot of the build, or an error when something of it cannot be kept.
func (w *worker) remember(p *plan.Plan, outs []output, checks []event.CheckFinished) (*snapshot.Writer, error) {
	units := 0
	for i, n := range w.g.order {
		n.number = i
		for _, u := range n.specs {
			u.number = int32(units)
			units++
		}
	}
	number := func(at addrs.Instance) (int, bool) {
		if n := w.g.instances[at]; n != nil {
			return n.number, true
		}
		return 0, false
	}
	r := &snapshotter{w: w, hosts: map[string]int{}, spans: map[addrs.Instance][]int{}, links: map[addrs.Output]*links{}, to: snapshot.NewWriter(w.fn, number)}
	r.reads(w.o.Snapshot)
	for i, n := range w.g.order {
		if err := r.instance(i, n); err != nil {
			return nil, err
		}
	}
	for i := range outs {
		x := &outs[i]
		l := &links{}
		if err := r.inputs(nil, x.from(), l, 0); err != nil {
			return nil, err
		}
		l.compact()
		r.to.Output(&snapshot.Output{Plan: *x.planned, Hosts: l.hosts, Units: l.units, ID: x.id})
	}
	for i, found := range checks {
		if err := r.check(p.Checks[i], found); err != nil {
			return nil, err
		}
	}
	r.to.Title(snapshot.Title{Pipeline: p.Pipeline, Description: p.Description, Profile: p.Profile, Always: r.always, Awaiting: r.awaiting, Exported: w.o.exportsID()})
	return r.to, nil
}

// reads adds what the plan was made from, and what was looked at for the actions. That is noted no longer then.
func (r *snapshotter) reads(from *Snapshot) {
	for _, read := range from.Reads {
		r.to.Read(read)
	}
	for _, g := range from.Globs {
		r.to.Glob(g)
	}
	for _, l := range from.Lookups {
		r.to.Lookup(l)
	}
	hosts := r.w.notes.hosts
	for i, k := range slices.Sorted(maps.Keys(hosts)) {
		h := hosts[k]
		slices.SortFunc(h.Files, func(a, b snapshot.File) int { return strings.Compare(a.Path, b.Path) })
		r.hosts[k] = i
		r.to.Host(*h)
		delete(hosts, k)
	}
}

// instance adds the instance with that number, and its units.
func (r *snapshotter) instance(i int, n *instance) error {
	p := n.plan
	await := &links{}
	if err := r.inputs(n, n.awaited, await, 0); err != nil {
		return err
	}
	await.compact()
	kept := snapshot.Instance{Plan: *p, After: r.after(n), Level: n.level, AwaitHosts: await.hosts, AwaitUnits: await.units}
	kept.Plan.Specs, kept.Plan.Waits, kept.Plan.AwaitValues, kept.Plan.Await, kept.Plan.Deferred = nil, n.planned.Waits, n.planned.AwaitValues, n.planned.Await, n.planned.Deferred
	if len(await.hosts) > 0 || len(await.units) > 0 {
		r.awaiting = append(r.awaiting, i)
	}
	r.to.Instance(&kept)
	for _, u := range n.specs {
		if u.key.IsZero() {
			return errNotSaved
		}
		l := &links{}
		if err := r.inputs(n, u.spec.Inputs, l, 0); err != nil {
			return err
		}
		for _, p := range u.programs {
			h, ok := r.hosts[hostKey(action.HostPath{Path: p.at})]
			if !ok {
				return errNotSaved
			}
			l.hosts = append(l.hosts, h)
		}
		l.add(await)
		l.compact()
		kept := snapshot.Unit{Instance: i, Spec: *u.spec, Hosts: l.hosts, Needs: l.units, Always: u.spec.NoCache || n.plan.Cache == plan.CacheInputs, Key: u.key, Root: u.root, Outs: u.out}
		r.always = r.always || kept.Always
		r.to.Unit(&kept)
	}
	return nil
}

// after are the instances that have to be done before the instance's units. One without units is done when all that it depends on is.
func (r *snapshotter) after(n *instance) []int {
	of := n.plan.After
	if len(n.specs) == 0 {
		of = n.plan.Needs()
	}
	var all []int
	for _, at := range of {
		spans, ok := r.spans[at]
		if !ok {
			for _, m := range r.w.g.copies(at) {
				last := len(spans) - 1
				switch {
				case m == nil:
				case last > 0 && spans[last] == m.number-1:
					spans[last] = m.number
				default:
					spans = append(spans, m.number, m.number)
				}
			}
			r.spans[at] = spans
		}
		all = append(all, spans...)
	}
	return all
}

// inputs adds what the inputs, seen from instance n, come from.
func (r *snapshotter) inputs(n *instance, inputs []action.Input, to *links, depth int) error {
	if depth > 100 {
		return errNotSaved
	}
	for i := range inputs {
		switch in := &inputs[i]; {
		case in.Host != nil:
			h, ok := r.hosts[hostKey(*in.Host)]
			if !ok {
				return errNotSaved
			}
			to.hosts = append(to.hosts, h)
		case in.Spec != nil:
			if n == nil || n.named(in.Spec.Spec) == nil {
				return errNotSaved
			}
			to.units = append(to.units, int(n.named(in.Spec.Spec).number))
		case in.Artifact != nil:
			m := r.w.g.instances[in.Artifact.Instance]
			if m == nil {
				return errNotSaved
			}
			parts := m.outputs[in.Artifact.Name].Parts
			if len(parts) == 1 { // as most have, which are not worth keeping
				if err := r.inputs(m, parts, to, depth+1); err != nil {
					return err
				}
				break
			}
			l := r.links[*in.Artifact]
			if l == nil {
				l = &links{}
				if err := r.inputs(m, parts, l, depth+1); err != nil {
					return err
				}
				r.links[*in.Artifact] = l.compact()
			}
			to.add(l)
		}
	}
	return nil
}

// from are the inputs that the output was made from.
func (x *output) from() []action.Input {
	var in []action.Input
	if x.planned.Class != 0 {
		in = append(in, x.planned.Artifact)
	}
	for i := range x.planned.AwaitValues {
		in = append(in, action.Input{Artifact: &x.planned.AwaitValues[i]})
	}
	return in
}

// saveSnapshot leaves the snapshot for the next run. That it could not be is no failure: the next run plans. Nothing is built any more: what was
// found out on the way goes before the snapshot takes as much memory.
func (w *worker) saveSnapshot(p *plan.Plan, outs []output, checks []event.CheckFinished) {
	w.hosts, w.artifacts, w.folders = nil, nil, nil
	for i := range outs {
		outs[i].entry, outs[i].found = nil, exported{}
	}
	freeHeap(w.g.units)
	m, err := w.remember(p, outs, checks)
	if err != nil {
		_ = os.Remove(w.o.Snapshot.Path)
		return
	}
	_ = m.Save(w.o.Snapshot.Path)
}
