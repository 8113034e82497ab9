package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/plan"
)

func at(name string) addrs.Instance {
	return addrs.Instance{Step: addrs.Step{Kind: "exec", Name: name}}
}

func from(name string) action.Input {
	return action.Input{Path: name, Artifact: &addrs.Output{Instance: at(name), Name: "out"}}
}

// newNode is a step with one action of that name, which takes the outputs of deps.
func newNode(name string, deps ...string) *plan.Instance {
	n := &plan.Instance{At: at(name), Outputs: map[string]action.Artifact{
		"out": {Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: name, Path: "out"}}}},
	}}
	s := action.Spec{Name: name}
	for _, d := range deps {
		n.Deps = append(n.Deps, at(d))
		s.Inputs = append(s.Inputs, from(d))
	}
	n.Specs = []action.Spec{s}
	return n
}

// record keeps what a build said.
type record struct {
	ended map[string]event.Outcome
	order []string
}

func (r *record) Send(e event.Event) {
	if e, ok := e.(event.ActionFinished); ok {
		name := e.Name
		if name == "" {
			name = e.Step
		}
		r.ended[name] = e.Outcome
		r.order = append(r.order, name)
	}
}

// expansion makes an instance's actions of a listing.
type expansion func(action.Listing) ([]action.Spec, map[string]action.Artifact, error)

type fakeWork struct {
	took map[string]time.Duration
	bad  map[string]bool
	max  int // most that ran at once

	expand map[addrs.Instance]expansion

	lookups int             // how many are looked up at once
	lookup  time.Duration   // what that takes
	known   map[string]bool // what is found

	peak func(step, name string) int64 // memory
}

// runFake builds the instances in fake time and returns how it went, and how long it took.
func runFake(t *testing.T, jobs int, keepGoing bool, f *fakeWork, sizes map[string]int64,
	nodes ...*plan.Instance) (*record, event.BuildFinished, time.Duration, error) {
	t.Helper()
	r := &record{ended: map[string]event.Outcome{}}
	var sum event.BuildFinished
	var took time.Duration
	var err error
	synctest.Test(t, func(t *testing.T) {
		g, units, gerr := newGraph(&plan.Plan{Instances: nodes})
		if gerr != nil {
			t.Fatal(gerr)
		}
		g.lookAhead = f.lookups
		running := make(chan int, 1)
		running <- 0
		work := func(ctx context.Context, u *unit, say func(message)) outcome {
			if u.spec == nil {
				more := *u.instance.plan
				var err error
				if more.Specs, more.Outputs, err = f.expand[more.At](action.Listing{"x": {"a", "b", "c"}}); err != nil {
					return outcome{failure: &event.Failure{Summary: err.Error()}}
				}
				more.Waits, more.Await = plan.ForNothing, nil
				return outcome{plan: &more}
			}
			if g.isAhead(u) {
				time.Sleep(f.lookup)
				return outcome{kind: event.Cached, missed: !f.known[u.spec.Name]}
			}
			time.Sleep(time.Duration(u.id)) // so that units ask for resources in their order
			if f.known[u.spec.Name] {
				return outcome{kind: event.Cached}
			}
			if u.demand == nil {
				u.demand = demand(u, f.peak)
			}
			if !u.reserve(say) {
				return outcome{missed: true}
			}
			n := <-running + 1
			f.max = max(f.max, n)
			running <- n
			defer func() { running <- <-running - 1 }()
			say(message{u: u, started: true})
			select {
			case <-time.After(f.took[u.spec.Name]):
			case <-ctx.Done():
				return outcome{kind: event.Failed, failure: &event.Failure{}, err: context.Cause(ctx)}
			}
			if f.bad[u.spec.Name] {
				return outcome{kind: event.Failed, failure: &event.Failure{}}
			}
			return outcome{kind: event.Executed}
		}
		pools := map[string]*pool{}
		for name, size := range sizes {
			pools[name] = &pool{size: size}
		}
		l := &loop{g: g, work: work, sink: r, jobs: jobs, keepGoing: keepGoing, pools: pools,
			messages: make(chan message, 16)}
		start := time.Now()
		err = l.run(t.Context(), append(units, g.gates()...))
		took, sum = time.Since(start).Truncate(time.Millisecond), l.sum
		for name, p := range pools {
			if sum.NotRun == 0 && (p.taken != 0 || len(p.queue) > 0) {
				t.Errorf("in the end %d of %s are taken, and %d units wait", p.taken, name, len(p.queue))
			}
		}
	})
	return r, sum, took, err
}

func TestOrderAndParallelism(t *testing.T) {
	f := &fakeWork{took: map[string]time.Duration{"a": time.Second, "b": time.Second, "c": time.Second,
		"link": time.Second}}
	r, sum, took, err := runFake(t, 2, false, f, nil, newNode("a"), newNode("b"), newNode("c"),
		newNode("link", "a", "b", "c"))
	if err != nil || sum.Executed != 4 || r.order[3] != "link" || took != 3*time.Second || f.max != 2 {
		t.Errorf("order %v in %v, at most %d at once, %+v, %v", r.order, took, f.max, sum, err)
	}
}

func TestCriticalPathFirst(t *testing.T) {
	// "long" heads a chain of three; with one worker after "root" it must go before the leaves named earlier.
	f := &fakeWork{}
	nodes := []*plan.Instance{newNode("leaf1"), newNode("leaf2"), newNode("long"), newNode("mid", "long"),
		newNode("end", "mid")}
	r, _, _, err := runFake(t, 1, false, f, nil, nodes...)
	if want := []string{"long", "mid", "leaf1", "leaf2", "end"}; err != nil || !reflect.DeepEqual(r.order, want) {
		t.Errorf("order %v, want %v (%v)", r.order, want, err)
	}
}

// TestAway: what runs elsewhere takes no slot of this machine, and no more of a pool than there is; of one step the
// first actions go first.
func TestAway(t *testing.T) {
	f := &fakeWork{took: map[string]time.Duration{"compile": 3 * time.Second, "compile2": time.Second}}
	run := newNode("run")
	run.Specs = nil
	for i := range 6 {
		name := fmt.Sprint("run#", i)
		f.took[name] = time.Second
		run.Specs = append(run.Specs,
			action.Spec{Name: name, Platform: map[string]string{action.PropertyExecutor: "elsewhere",
				action.PropertyPool: "board=1"}})
	}
	run.Outputs = nil
	r, _, took, err := runFake(t, 1, false, f, map[string]int64{"board": 3}, newNode("compile"), newNode("compile2"),
		run)
	if err != nil || took != 4*time.Second || f.max != 4 {
		t.Errorf("%d at once in %v, %v", f.max, took, err)
	}
	first := append([]string(nil), r.order[:3]...)
	sort.Strings(first)
	if want := []string{"run#0", "run#1", "run#2"}; !reflect.DeepEqual(first, want) {
		t.Errorf("order %v, want %v first", r.order, want)
	}
}

// TestDownloads: downloads take no slot of -j, and no more run than the pool has.
func TestDownloads(t *testing.T) {
	f := &fakeWork{took: map[string]time.Duration{"compile": 2 * time.Second}}
	nodes := []*plan.Instance{newNode("compile")}
	for i := range 4 {
		n := newNode(fmt.Sprint("fetch", i))
		n.Specs[0].Platform = map[string]string{action.PropertyPool: action.DownloadsPool + "=1"}
		f.took[n.Specs[0].Name] = time.Second
		nodes = append(nodes, n)
	}
	_, _, took, err := runFake(t, 1, false, f, map[string]int64{action.DownloadsPool: 2}, nodes...)
	if err != nil || took != 2*time.Second || f.max != 3 {
		t.Errorf("%d at once in %v, %v, want 3 in 2s", f.max, took, err)
	}
}

// TestLookupsAhead: many are looked up at once, whatever runs; what is not known waits for its turn, and holds
// nothing of a pool before.
func TestLookupsAhead(t *testing.T) {
	f := &fakeWork{lookups: 10, lookup: time.Second,
		took:  map[string]time.Duration{"n00": 3 * time.Second, "n01": 3 * time.Second, "link": time.Second},
		known: map[string]bool{}}
	var nodes []*plan.Instance
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("n%02d", i))
		nodes = append(nodes, newNode(names[i]))
		nodes[i].Specs[0].Platform = map[string]string{action.PropertyPool: "board=1"}
		f.known[names[i]] = i > 1
	}
	nodes = append(nodes, newNode("link", names...))
	r, sum, took, err := runFake(t, 2, false, f, map[string]int64{"board": 1}, nodes...)
	if err != nil || took != 9*time.Second || f.max != 1 || sum.Cached != 18 || sum.Executed != 3 ||
		len(r.order) != 21 || r.order[20] != "link" {
		t.Errorf("%d at once in %v, %+v, order %v, %v", f.max, took, sum, r.order, err)
	}
	f.bad, f.lookups = map[string]bool{"n00": true}, 1
	f.took["n00"] = 0
	f.known["n00"], f.known["n01"] = false, false
	if r, sum, _, err = runFake(t, 1, false, f, nil, nodes...); err != nil || sum.Failed != 1 ||
		r.ended["n01"] != event.NotRun || r.ended["link"] != event.NotRun || sum.Executed != 0 {
		t.Errorf("a failure: %+v, %v, %v", sum, r.ended, err)
	}
}

func TestFailureStopsOnlyWhatNeedsIt(t *testing.T) {
	nodes := func() []*plan.Instance {
		return []*plan.Instance{newNode("bad"), newNode("after", "bad"), newNode("other"), newNode("later", "other"),
			newNode("both", "after", "later")}
	}
	f := &fakeWork{bad: map[string]bool{"bad": true}}
	r, sum, _, err := runFake(t, 1, true, f, nil, nodes()...)
	want := map[string]event.Outcome{"bad": event.Failed, "after": event.NotRun, "other": event.Executed,
		"later": event.Executed, "both": event.NotRun}
	if err != nil || !reflect.DeepEqual(r.ended, want) || sum.Failed != 1 || sum.NotRun != 2 || sum.Executed != 2 {
		t.Errorf("keep going: %v %+v %v", r.ended, sum, err)
	}
	r, sum, _, err = runFake(t, 1, false, f, nil, nodes()...)
	if err != nil || sum.Failed != 1 || sum.Executed != 0 || r.ended["other"] != event.NotRun {
		t.Errorf("stop at once: %v %+v %v", r.ended, sum, err)
	}
}

// TestFailureStartsNothing: after a failure no action starts, whether its inputs are ready or become ready. An action
// that runs finishes, so a next run finds its result.
func TestFailureStartsNothing(t *testing.T) {
	f := &fakeWork{bad: map[string]bool{"bad": true}, took: map[string]time.Duration{"bad": time.Second,
		"runs": 72 * time.Second}}
	r, sum, took, err := runFake(t, 2, false, f, nil, newNode("bad"), newNode("runs"), newNode("ready"),
		newNode("after", "bad"), newNode("later", "runs"), newNode("both", "bad", "runs"))
	want := map[string]event.Outcome{"bad": event.Failed, "runs": event.Executed, "ready": event.NotRun,
		"after": event.NotRun, "later": event.NotRun, "both": event.NotRun}
	if err != nil || !reflect.DeepEqual(r.ended, want) || took != 72*time.Second {
		t.Errorf("%v in %v, %+v, %v", r.ended, took, sum, err)
	}
}

// comesAfter has the instance come after others, of which it takes nothing.
func comesAfter(n *plan.Instance, others ...addrs.Instance) *plan.Instance {
	n.After = append(n.After, others...)
	return n
}

// copiesOf are n copies of a step, each with one action, named a, b, c, ….
func copiesOf(name string, n int) []*plan.Instance {
	var all []*plan.Instance
	for i := range n {
		c := newNode(fmt.Sprintf("%s.%c", name, 'a'+i))
		c.At = addrs.Instance{Step: at(name).Step, Key: string(rune('a' + i)), Keyed: true}
		all = append(all, c)
	}
	return all
}

// TestDependsOn: what an instance comes after is done before any of its actions starts, or none of them runs.
func TestDependsOn(t *testing.T) {
	three := func(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
		var specs []action.Spec
		for _, name := range l["x"] {
			specs = append(specs, action.Spec{Name: name})
		}
		return specs, nil, nil
	}
	deferred := func(n *plan.Instance) *plan.Instance {
		n.Waits, n.Await = plan.ForListing, []action.Input{from("source")}
		return n
	}
	none := func(n *plan.Instance) *plan.Instance {
		n.Specs, n.Outputs = nil, nil
		return n
	}
	for name, c := range map[string]struct {
		nodes []*plan.Instance
		took  int    // seconds, where each action takes one
		bad   string // what fails; then the others that end in vain are NotRun
		skips string
		found expansion // of the deferred; nil: three
	}{
		"a step": {nodes: []*plan.Instance{newNode("a"), comesAfter(newNode("b"), at("a"))},
			took: 2},
		"all copies": {nodes: append(copiesOf("a", 3), comesAfter(newNode("b"), at("a"))), took: 2},
		"copies come after copies": {nodes: append(copiesOf("a", 3), comesAfter(copiesOf("b", 1)[0], at("a"))),
			took: 2},
		"what is not there": {nodes: []*plan.Instance{comesAfter(newNode("b"), at("a"),
			addrs.Instance{Step: at("a").Step, Key: "a", Keyed: true})}, took: 1},
		"a chain": {nodes: []*plan.Instance{newNode("a"), comesAfter(newNode("b"), at("a")),
			comesAfter(newNode("c"), at("b"))}, took: 3},
		"a chain through what has none": {nodes: []*plan.Instance{newNode("a"),
			comesAfter(none(newNode("b")), at("a")), comesAfter(newNode("c"), at("b"))}, took: 2},
		"a chain through several": {nodes: []*plan.Instance{newNode("a"), none(newNode("b", "a")),
			comesAfter(none(newNode("c")), at("b")), comesAfter(newNode("d"), at("c"))}, took: 2},
		"what is found out later": {nodes: []*plan.Instance{newNode("source"),
			deferred(newNode("a", "source")), comesAfter(newNode("d"), at("a"))}, took: 3},
		"found out later, and waits": {nodes: []*plan.Instance{newNode("source"), newNode("s"), newNode("t", "s"),
			comesAfter(deferred(newNode("d", "source")), at("t"))}, took: 3},
		"it failed": {nodes: []*plan.Instance{newNode("a"), comesAfter(newNode("b"), at("a")),
			newNode("c", "b")}, took: 1, bad: "a", skips: "b c"},
		"a copy failed": {nodes: append(copiesOf("a", 3), comesAfter(newNode("b"), at("a"))),
			took: 1, bad: "a.b", skips: "b"},
		"it was not run": {nodes: []*plan.Instance{newNode("a"), newNode("b", "a"),
			comesAfter(newNode("c"), at("b"))}, took: 1, bad: "a", skips: "b c"},
		"it failed before one with none": {nodes: []*plan.Instance{newNode("a"),
			comesAfter(none(newNode("b")), at("a")), comesAfter(newNode("c"), at("b"))}, took: 1, bad: "a", skips: "c"},
		"it was never found out": {nodes: []*plan.Instance{newNode("source"), deferred(newNode("a", "source")),
			comesAfter(newNode("d"), at("a"))}, took: 1, bad: "exec.a", skips: "d",
			found: func(action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
				return nil, nil, errors.New("no")
			}},
		"none are found out": {nodes: []*plan.Instance{newNode("source"), deferred(newNode("a", "source")),
			comesAfter(newNode("d"), at("a"))}, took: 2,
			found: func(action.Listing) ([]action.Spec, map[string]action.Artifact, error) { return nil, nil, nil }},
	} {
		if c.found == nil {
			c.found = three
		}
		f := &fakeWork{took: map[string]time.Duration{"a": time.Second}, bad: map[string]bool{c.bad: true},
			expand: map[addrs.Instance]expansion{at("a"): c.found, at("d"): c.found}}
		for _, name := range strings.Fields("a b c d s t source a.a a.b a.c b.a") {
			f.took[name] = time.Second
		}
		for range 20 { // maps have no order
			r, sum, took, err := runFake(t, 8, true, f, nil, c.nodes...)
			want := map[string]event.Outcome{}
			for n := range r.ended {
				want[n] = event.Executed
			}
			if c.bad != "" {
				want[c.bad] = event.Failed
			}
			for _, n := range strings.Fields(c.skips) {
				want[n] = event.NotRun
			}
			if err != nil || took != time.Duration(c.took)*time.Second || !reflect.DeepEqual(r.ended, want) ||
				sum.Actions != len(r.ended) {
				t.Fatalf("%s: %v in %v, want %v in %d s (%+v, %v)", name, r.ended, took, want, c.took, sum, err)
			}
		}
	}
}

// Many that come after many cost a wait for each, not for each pair.
func TestManyDependOnMany(t *testing.T) {
	const many = 3000
	var nodes []*plan.Instance
	for i := range 2 * many {
		n := &plan.Instance{At: addrs.Instance{Step: at([]string{"a", "b"}[i/many]).Step, Key: fmt.Sprint(i),
			Keyed: true}, Specs: []action.Spec{{Name: fmt.Sprint(i)}}}
		if i >= many {
			n.After = []addrs.Instance{at("a")}
		}
		nodes = append(nodes, n)
	}
	g, units, err := newGraph(&plan.Plan{Instances: nodes})
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{g: g, sink: discard{}}
	gates := g.gates()
	if err := l.admit(append(units, gates...)); err != nil || len(gates) != 1 {
		t.Fatalf("%d gates, %v", len(gates), err)
	}
	waits := len(gates[0].waiters)
	for _, u := range units {
		waits += len(u.waiters)
	}
	if waits != 2*many {
		t.Errorf("%d waits, want one for each of %d", waits, 2*many)
	}
}

func TestExpansion(t *testing.T) {
	ex := newNode("compile", "source")
	ex.Waits, ex.Await = plan.ForListing, []action.Input{from("source")}
	f := &fakeWork{expand: map[addrs.Instance]expansion{ex.At: func(l action.Listing) ([]action.Spec,
		map[string]action.Artifact, error) {
		var specs []action.Spec
		art := action.Artifact{Class: action.Tree}
		for _, name := range l["x"] {
			specs = append(specs, action.Spec{Name: name + ".o", Inputs: []action.Input{from("source")}})
			art.Parts = append(art.Parts,
				action.Input{Path: name, Spec: &action.SpecOutput{Spec: name + ".o", Path: "o"}})
		}
		return specs, map[string]action.Artifact{"out": art}, nil
	}}}
	r, sum, _, err := runFake(t, 4, false, f, nil, newNode("source"), ex, newNode("link", "compile"))
	got := append([]string(nil), r.order[1:4]...)
	sort.Strings(got)
	if err != nil || sum.Actions != 5 || r.order[0] != "source" || r.order[4] != "link" ||
		!reflect.DeepEqual(got, []string{"a.o", "b.o", "c.o"}) {
		t.Errorf("order %v, %+v, %v", r.order, sum, err)
	}
	f.expand[ex.At] = func(action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
		return nil, nil, errors.New("no sources")
	}
	r, sum, _, err = runFake(t, 4, false, f, nil, newNode("source"), ex, newNode("link", "compile"))
	if err != nil || sum.Failed != 1 || r.ended["link"] != event.NotRun || r.ended["exec.compile"] != event.Failed {
		t.Errorf("failed expansion: %v %+v %v", r.ended, sum, err)
	}
}

func TestPools(t *testing.T) {
	f := &fakeWork{took: map[string]time.Duration{}}
	var nodes []*plan.Instance
	for i := range 4 {
		n := newNode(fmt.Sprint("n", i))
		n.Specs[0].Platform = map[string]string{action.PropertyPool: "board=1"}
		f.took[n.Specs[0].Name] = time.Second
		nodes = append(nodes, n)
	}
	_, sum, took, err := runFake(t, 4, false, f, nil, nodes...)
	if err != nil || sum.Executed != 4 || took != 4*time.Second || f.max != 1 {
		t.Errorf("one board: %d at once in %v, %v", f.max, took, err)
	}
	f.max = 0
	if _, _, took, _ = runFake(t, 4, false, f, map[string]int64{"board": 2}, nodes...); took != 2*time.Second ||
		f.max != 2 {
		t.Errorf("two boards: %d at once in %v", f.max, took)
	}
	for _, n := range nodes {
		n.Specs[0].Platform[action.PropertyPool] = "board=9"
	}
	_, sum, _, err = runFake(t, 4, false, f, map[string]int64{"board": 2}, nodes...)
	if err != nil || sum.Executed != 4 {
		t.Errorf("more wanted than there is: %+v, %v", sum, err)
	}
}

// TestRoom: what is expected to take more memory than is left waits, and all that has to run and takes any after it;
// what takes none, or is not known, does not.
func TestRoom(t *testing.T) {
	took := map[string]int64{"large": 70, "half": 50, "other": 50, "huge": 500}
	f := &fakeWork{took: map[string]time.Duration{"large": 10 * time.Second, "half": 10 * time.Second,
		"other": 10 * time.Second, "huge": 10 * time.Second, "new": time.Second, "n2": time.Second},
		peak: func(_, name string) int64 { return took[name] }}
	run := func(want time.Duration, most int, nodes ...*plan.Instance) {
		t.Helper()
		f.max = 0
		r, sum, d, err := runFake(t, 8, false, f, map[string]int64{MemoryPool: 100}, nodes...)
		if err != nil || sum.Executed != len(nodes) || d != want || f.max != most {
			t.Errorf("%v in %v, at most %d at once, %+v, %v", r.order, d, f.max, sum, err)
		}
	}
	run(10*time.Second, 2, newNode("half"), newNode("other"))
	run(20*time.Second, 2, newNode("large"), newNode("half"), newNode("new"))
	// which does not fit at all, and runs all the same
	run(20*time.Second, 1, newNode("large"), newNode("huge"))
	// other would fit before large, which came first
	run(30*time.Second, 2, newNode("half"), newNode("new"), newNode("large", "new"), newNode("n2", "new"),
		newNode("other", "n2"))
	f.bad = map[string]bool{"half": true, "large": true}
	if r, sum, _, err := runFake(t, 8, false, f, map[string]int64{MemoryPool: 100}, newNode("half"), newNode("large"),
		newNode("after", "large", "half")); err != nil || sum.Failed != 1 || sum.NotRun != 2 {
		t.Errorf("after a failure: %v, %+v, %v", r.ended, sum, err)
	}
	f.bad = nil
	n := newNode("says")
	n.Resources = map[string]int{MemoryPool: 64}
	f.took["says"] = time.Second
	took["large"] = 70 << 30
	_, sum, d, err := runFake(t, 8, false, f, map[string]int64{MemoryPool: 100 << 30}, newNode("large"), n)
	if err != nil || sum.Executed != 2 || d != 11*time.Second {
		t.Errorf("one that says what it takes, and never ran: %+v in %v, %v", sum, d, err)
	}
}

// TestCachedTakesNoResource: an action whose result is cached waits for no resource.
func TestCachedTakesNoResource(t *testing.T) {
	f := &fakeWork{took: map[string]time.Duration{"long": 10 * time.Second, "first": time.Second, "after": time.Second},
		known: map[string]bool{"cached": true}}
	long, cached := newNode("long"), newNode("cached", "first")
	for _, n := range []*plan.Instance{long, cached} {
		n.Resources = map[string]int{"board": 1}
	}
	r, sum, took, err := runFake(t, 2, false, f, nil, newNode("first"), long, cached, newNode("after", "cached"))
	if want := []string{"first", "cached", "after", "long"}; err != nil || sum.Cached != 1 || took != 10*time.Second ||
		!reflect.DeepEqual(r.order, want) {
		t.Errorf("%v in %v, %+v, %v", r.order, took, sum, err)
	}
}

// TestTwoResources: an action that needs two resources waits for both, and takes none before.
func TestTwoResources(t *testing.T) {
	f := &fakeWork{took: map[string]time.Duration{}}
	var nodes []*plan.Instance
	for i, resources := range []map[string]int{{"x": 1}, {"y": 1}, {"z": 1}, {"x": 1, "y": 1, "z": 1, "free": 1}} {
		n := newNode(fmt.Sprint(i))
		n.Resources = resources
		f.took[fmt.Sprint(i)] = time.Second
		nodes = append(nodes, n)
	}
	for range 20 { // the order of resources is random
		_, sum, took, err := runFake(t, 8, false, f, nil, nodes...)
		if err != nil || sum.Executed != 4 || took != 2*time.Second {
			t.Fatalf("%+v in %v, %v", sum, took, err)
		}
	}
}

// TestNextInOtherQueue: a unit that waited for two resources lets the next one that waits for one of them run.
func TestNextInOtherQueue(t *testing.T) {
	f := &fakeWork{took: map[string]time.Duration{}}
	var nodes []*plan.Instance
	for i, resources := range []map[string]int{{"board": 1}, {"board": 1, "disk": 2}, {"disk": 1}} {
		n := newNode(fmt.Sprint(i))
		n.Resources = resources
		f.took[fmt.Sprint(i)] = time.Second
		nodes = append(nodes, n)
	}
	_, sum, took, err := runFake(t, 8, false, f, map[string]int64{"board": 1, "disk": 3}, nodes...)
	if err != nil || sum.Executed != 3 || took != 2*time.Second {
		t.Errorf("%+v in %v, %v", sum, took, err)
	}
}

// TestManyWaitForOne: the loop looks at a unit that waits for a resource when it comes and when its turn is, and not
// each time that another one starts.
func TestManyWaitForOne(t *testing.T) {
	const many = 5000
	n := &plan.Instance{At: at("a"), Resources: map[string]int{"board": 1}}
	for i := range many {
		n.Specs = append(n.Specs, action.Spec{Name: fmt.Sprint(i)})
	}
	_, sum, _, err := runFake(t, 2, false, &fakeWork{}, nil, n)
	if err != nil || sum.Executed != many {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestCancel(t *testing.T) {
	r := &record{ended: map[string]event.Outcome{}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		g, units, err := newGraph(&plan.Plan{Instances: []*plan.Instance{newNode("a"), newNode("b", "a")}})
		if err != nil {
			t.Fatal(err)
		}
		cause := errors.New("interrupted")
		work := func(ctx context.Context, u *unit, say func(message)) outcome {
			time.AfterFunc(time.Second, func() { cancel(cause) })
			<-ctx.Done()
			return outcome{kind: event.Failed, failure: &event.Failure{}, err: context.Cause(ctx)}
		}
		l := &loop{g: g, work: work, sink: r, jobs: 1, pools: map[string]*pool{}, messages: make(chan message, 16)}
		if err := l.run(ctx, units); !errors.Is(err, cause) {
			t.Errorf("err = %v, want the cause", err)
		}
	})
	if r.ended["b"] != event.NotRun {
		t.Errorf("%v", r.ended)
	}
}

func TestGraphErrors(t *testing.T) {
	for name, nodes := range map[string][]*plan.Instance{
		"not in the plan": {newNode("a", "missing")},
		`no output "nope"`: {newNode("a"),
			{At: at("b"), Specs: []action.Spec{{Name: "b",
				Inputs: []action.Input{{Artifact: &addrs.Output{Instance: at("a"), Name: "nope"}}}}}}},
		"two actions named": {{At: at("a"), Specs: []action.Spec{{Name: "x"}, {Name: "x"}}}},
		"no action \"nothing\"": {{At: at("a"),
			Specs: []action.Spec{{Name: "x", Inputs: []action.Input{{Spec: &action.SpecOutput{Spec: "nothing"}}}}}}},
	} {
		g, units, err := newGraph(&plan.Plan{Instances: nodes})
		if err == nil {
			l := &loop{g: g, sink: &record{ended: map[string]event.Outcome{}}, jobs: 1, pools: map[string]*pool{},
				messages: make(chan message, 16)}
			err = l.run(t.Context(), append(units, g.gates()...))
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("err = %v, want %q", err, name)
		}
	}
}

// Whoever reports on an action that ended, after the build did, is not kept waiting.
func TestLateProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, units, err := newGraph(&plan.Plan{Instances: []*plan.Instance{newNode("a")}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		work := func(ctx context.Context, u *unit, say func(message)) outcome {
			go func() {
				defer close(ended)
				time.Sleep(time.Second)
				for range 100 { // more than the channel holds
					say(message{u: u, progress: event.ActionProgress{ID: int(u.id)}})
				}
			}()
			return outcome{kind: event.Executed}
		}
		l := &loop{g: g, work: work, sink: &record{ended: map[string]event.Outcome{}}, jobs: 1,
			pools: map[string]*pool{}, messages: make(chan message, 16)}
		if err := l.run(t.Context(), units); err != nil {
			t.Error(err)
		}
		<-ended // else synctest reports the deadlock
	})
}

func TestSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int64
		p := throttled(func(done, total int64, text string) { got = append(got, done) })
		for i := range int64(101) {
			p(i, 100, "")
			time.Sleep(time.Millisecond)
		}
		if want := []int64{0, 50, 100}; !reflect.DeepEqual(got, want) {
			t.Errorf("passed on %v, want %v", got, want)
		}
	})
}

func TestTail(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a\nb\n\n", "a\nb"},
		{"1\n2\n3\n4\n", "… 2 lines omitted …\n3\n4"},
	} {
		if got := tail([]byte(c.in), 2); got != c.want {
			t.Errorf("tail(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := tail([]byte(strings.Repeat("ü", maxTail)), 2); len(got) > maxTail+64 ||
		!strings.Contains(got, "bytes omitted …\nü") {
		t.Errorf("%d bytes: %.60q", len(got), got)
	}
}

func TestDiscard(t *testing.T) {
	eventtest.Sink(t, "engine.discard", func(*testing.T) event.Sink { return discard{} })
}
