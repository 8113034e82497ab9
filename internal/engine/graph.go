package engine

import (
	"container/heap"
	"fmt"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
)

// graph is the state of a build. One goroutine owns it (see run.go); workers may look up instances.
//
// A unit is a spec to run, or the expansion of an instance whose specs are deferred. A unit waits for blockers: units
// that produce its inputs, and instances whose outputs are deferred. When the last known blocker finishes, the graph
// looks for blockers again, because an expanded instance may add new ones. A third sort of unit, a gate, does no work.
// It finishes when all of its instances do, and releases the actions of the instances that depend on them (depends_on).
type graph struct {
	instances  map[addrs.Instance]*instance
	order      []*instance
	units      int
	ready      readyHeap // units that use a slot of this machine
	away       readyHeap // units that use no slot of this machine: they run elsewhere
	lookAhead  int       // how many results are looked up at once ahead of execution; 0: none
	aheadQueue readyHeap // units whose results are looked up ahead of execution
}

type instance struct {
	plan     *plan.Instance          // as last extended
	values   map[addrs.Output][]byte // the values that extended it
	level    int                     // length of the longest chain of instances that depend on this one
	resolved bool
	failed   bool // its expansion failed or was skipped
	specs    []*unit
	byName   map[string]*unit // specs
	outputs  map[string]action.Artifact
	waiters  []*unit
	after    []*unit // gates of its actions
}

type unit struct {
	id       int32
	wait     int32 // number of unfinished blockers
	state    unitState
	instance *instance    // nil: a gate
	spec     *action.Spec // nil: an expansion
	gate     *gate        // nil: none
	waiters  []*unit
	counted  *int // the loop's counter of running units of this sort
	missed   bool // its lookup was a cache miss
	out      made // when done

	demand  map[string]int64   // resources that its action needs; nil: unknown before a cache miss
	holds   bool               // it holds them
	printed *execute.OutputLog // of the running action
}

// gate finishes when its instances do, and blocks the actions that come after them.
type gate struct{ needs []*instance }

// unitState is the state of a unit.
type unitState uint8

const (
	waiting unitState = iota // has blockers
	ready                    // in a ready heap, or waiting for a resource
	running                  // a worker has it
	done                     // its outputs are in the store
	failed                   // ran and failed, or could not run
	skipped                  // one of its dependencies failed, or the build was stopped
)

func (s unitState) ended() bool { return s >= done }

// newGraph returns the graph of the plan, and its initial units.
func newGraph(p *plan.Plan) (*graph, []*unit, error) {
	g := &graph{instances: make(map[addrs.Instance]*instance, len(p.Instances))}
	var units []*unit
	for _, pn := range p.Instances {
		n := &instance{plan: pn}
		g.instances[n.plan.At] = n
		g.order = append(g.order, n)
		if pn.Waits != plan.ForNothing {
			units = append(units, g.newUnit(n, nil))
			continue
		}
		us, err := g.resolve(n, pn.Specs, pn.Outputs)
		if err != nil {
			return nil, nil, err
		}
		units = append(units, us...)
	}
	whole := map[addrs.Step]int{}            // minimum level of all instances of a step
	for i := len(g.order) - 1; i >= 0; i-- { // reverse topological order: dependents come first
		n := g.order[i]
		n.level = max(n.level, whole[n.plan.At.Step])
		n.plan.EachNeed(func(at addrs.Instance) {
			if dep := g.instances[at]; dep != nil {
				dep.level = max(dep.level, n.level+1)
			} else {
				whole[at.Step] = max(whole[at.Step], n.level+1)
			}
		})
	}
	return g, units, nil
}

// instance returns the instance with the address, or nil. Workers may call it: a graph never changes its set of
// instances.
func (g *graph) instance(at addrs.Instance) *instance { return g.instances[at] }

func (g *graph) newUnit(n *instance, s *action.Spec) *unit {
	g.units++
	return &unit{id: int32(g.units), instance: n, spec: s}
}

// resolve sets the specs and outputs of an instance. It returns the units that waited for the instance, and the new
// ones.
func (g *graph) resolve(n *instance, specs []action.Spec, outs map[string]action.Artifact) ([]*unit, error) {
	n.resolved, n.outputs, n.byName = true, outs, make(map[string]*unit, len(specs))
	for i := range specs {
		name := specs[i].Name
		if n.byName[name] != nil {
			return nil, fmt.Errorf("%s plans two actions named %q", n.plan.At, name)
		}
		n.byName[name] = g.newUnit(n, &specs[i])
		n.specs = append(n.specs, n.byName[name])
	}
	return n.specs, nil
}

// gates makes the actions of instances wait for the instances before them, and returns the gates. Through a gate,
// 10,000 instances that come after 10,000 others wait for one unit each, not for 10,000.
func (g *graph) gates() []*unit {
	var gates []*unit
	known := map[addrs.Instance]*unit{}
	for _, n := range g.order {
		for _, at := range n.plan.After {
			if known[at] == nil {
				known[at] = &unit{gate: &gate{g.copies(at)}}
				gates = append(gates, known[at])
			}
			n.after = append(n.after, known[at])
		}
	}
	return gates
}

// copies returns the instances for an element of plan.Instance.After.
func (g *graph) copies(at addrs.Instance) []*instance {
	if n := g.instances[at]; n != nil || at.Keyed {
		return []*instance{n}
	}
	var all []*instance
	for _, n := range g.order {
		if n.plan.At.Step == at.Step {
			all = append(all, n)
		}
	}
	return all
}

// eachOf calls f for every action of the instances, and for every instance with deferred actions. An instance without
// actions is done when its dependencies are.
func (g *graph) eachOf(instances []*instance, seen map[*instance]bool, f func(*instance, *unit)) {
	for _, n := range instances {
		switch {
		case n == nil || seen[n]:
		case !n.resolved:
			f(n, nil)
		case len(n.specs) > 0:
			for _, u := range n.specs {
				f(nil, u)
			}
		default:
			seen[n] = true
			for _, d := range n.plan.Needs() {
				g.eachOf(g.copies(d), seen, f)
			}
		}
	}
}

// inputs returns the inputs that the unit reads: those of the spec, or those that an expansion awaits.
func (u *unit) inputs() []action.Input {
	if u.spec != nil {
		return u.spec.Inputs
	}
	in := append([]action.Input(nil), u.instance.plan.Await...)
	for i := range u.instance.plan.AwaitValues {
		in = append(in, action.Input{Path: "value", Artifact: &u.instance.plan.AwaitValues[i]})
	}
	return in
}

// block registers u with each of its blockers and reports whether any of them failed.
func (g *graph) block(u *unit) (bad bool, err error) {
	u.wait, u.state = 0, waiting
	seenInstances, seenUnits := map[*instance]bool{}, map[*unit]bool{}
	add := func(n *instance, b *unit) {
		switch {
		case n != nil && !seenInstances[n]:
			seenInstances[n] = true
			if n.failed {
				bad = true
				return
			}
			n.waiters = append(n.waiters, u)
			u.wait++
		case b != nil && !seenUnits[b]:
			seenUnits[b] = true
			switch b.state {
			case done:
			case failed, skipped:
				bad = true
			default:
				b.waiters = append(b.waiters, u)
				u.wait++
			}
		}
	}
	if u.instance == nil {
		g.eachOf(u.gate.needs, map[*instance]bool{}, add)
		return bad, nil
	}
	if u.spec != nil {
		for _, gate := range u.instance.after {
			add(nil, gate)
		}
	}
	err = g.eachBlocker(u.instance, u.inputs(), 0, add)
	return bad, err
}

// eachBlocker calls f for every unresolved instance and every unit that produces one of the inputs of instance n.
func (g *graph) eachBlocker(n *instance, inputs []action.Input, depth int, f func(*instance, *unit)) error {
	if depth > 100 {
		return fmt.Errorf("%s: outputs refer to each other in a cycle", n.plan.At)
	}
	for _, in := range inputs {
		switch {
		case in.Spec != nil:
			b := n.byName[in.Spec.Spec]
			if b == nil {
				return fmt.Errorf("%s: the step has no action %q", n.plan.At, in.Spec.Spec)
			}
			f(nil, b)
		case in.Artifact != nil:
			m := g.instances[in.Artifact.Instance]
			if m == nil {
				return fmt.Errorf("%s needs %s, which is not in the plan", n.plan.At, in.Artifact)
			}
			if !m.resolved {
				f(m, nil)
				continue
			}
			a, ok := m.outputs[in.Artifact.Name]
			if !ok {
				return fmt.Errorf("%s has no output %q", m.plan.At, in.Artifact.Name)
			}
			if err := g.eachBlocker(m, a.Parts, depth+1, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// readyHeap orders ready units: those that hold resources, then by the longest chain of dependents, then by age.
type readyHeap []*unit

func (h readyHeap) Len() int { return len(h) }
func (h readyHeap) Less(i, j int) bool {
	if h[i].holds != h[j].holds {
		return h[i].holds
	}
	if h[i].instance.level != h[j].instance.level {
		return h[i].instance.level > h[j].instance.level
	}
	return h[i].id < h[j].id
}
func (h readyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *readyHeap) Push(x any) { *h = append(*h, x.(*unit)) }

// Pop implements heap.Interface.
func (h *readyHeap) Pop() any {
	old := *h
	u := old[len(old)-1]
	*h = old[:len(old)-1]
	return u
}

func (g *graph) pushReady(u *unit) {
	u.state = ready
	heap.Push(g.queue(u), u)
}

// queue returns the queue of the unit while it is ready.
func (g *graph) queue(u *unit) *readyHeap {
	if g.isAhead(u) {
		return &g.aheadQueue
	}
	if u.away() {
		return &g.away
	}
	return &g.ready
}

// isAhead reports whether the unit's result is looked up ahead of execution.
func (g *graph) isAhead(u *unit) bool { return g.lookAhead > 0 && u.spec != nil && !u.missed }

// away reports whether the unit uses no processor slot of this machine: it runs elsewhere, or it downloads.
func (u *unit) away() bool {
	if u.spec == nil {
		return false
	}
	if ResourcesOf(u.instance.plan, *u.spec)[action.DownloadsPool] > 0 {
		return true
	}
	where := u.spec.Platform[action.PropertyExecutor]
	return where != "" && where != action.ExecutorLocal
}
