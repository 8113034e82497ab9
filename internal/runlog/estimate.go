package runlog

import (
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// Instance is a step's instance and what it needs, for an estimate.
type Instance struct {
	Step  string
	Needs []string
}

// Estimator says how long a build will go on, about, going by how long its actions took when they last ran. It is an
// event.Sink that passes all events on, with a BuildProgress now and then. Left may be called from any goroutine.
//
// What is left is the larger of two: all work that is left, shared by as many workers as there are, and the longest
// chain of steps that wait for each other. Whether an action that has not begun will find its result in the cache
// nobody knows yet: it counts as much as the part of its step's actions that had to run so far.
type Estimator struct {
	next event.Sink
	load func() Costs
	now  func() time.Time

	mu        sync.Mutex
	profile   string
	jobs      int
	instances []*estimate // in topological order
	by        map[string]*estimate
	groups    map[string]*groupEstimate
	running   map[int]active
	loaded    bool
	ended     int
	total     int
	sent      time.Time
}

// estimate is what is known of one instance.
type estimate struct {
	group   *groupEstimate
	waiters []*estimate // that need it
	took    map[string]time.Duration
	sum     time.Duration   // of took: of actions that have not begun
	over    map[string]bool // what ended before anything was known
	planned int
	begun   int // and not ended
	ended   int
	tail    time.Duration
}

// groupEstimate is what is known of all copies of a step.
type groupEstimate struct {
	sum      time.Duration // of known durations
	known    int
	executed int // in this build
	ended    int
}

type active struct {
	of    *estimate
	full  time.Duration // that it took; 0: not known
	start time.Time
}

// sayEvery is how often a BuildProgress is sent, at most.
const sayEvery = time.Second

// Estimate returns an Estimator for a build with so many workers. load is called when the first action begins to run:
// a build in which nothing runs does without.
func Estimate(next event.Sink, jobs int, load func() Costs) *Estimator {
	return &Estimator{next: next, load: load, now: time.Now, jobs: max(1, jobs),
		by: map[string]*estimate{}, groups: map[string]*groupEstimate{}, running: map[int]active{}}
}

// Plan says which steps need which; instances are in topological order. Without it all steps count as independent.
func (e *Estimator) Plan(instances []Instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range instances {
		to := e.estimateOf(n.Step)
		for _, from := range n.Needs {
			if f := e.by[from]; f != nil {
				f.waiters = append(f.waiters, to)
			}
		}
	}
}

func (e *Estimator) estimateOf(step string) *estimate {
	n := e.by[step]
	if n == nil {
		base, _, _ := strings.Cut(step, "[")
		g := e.groups[base]
		if g == nil {
			g = &groupEstimate{}
			e.groups[base] = g
		}
		n = &estimate{group: g}
		e.by[step] = n
		e.instances = append(e.instances, n)
	}
	return n
}

// Send implements event.Sink.
func (e *Estimator) Send(ev event.Event) {
	e.next.Send(ev)
	if _, ok := ev.(event.ActionProgress); ok {
		return
	}
	if p, ok := e.take(ev); ok {
		e.next.Send(p)
	}
}

func (e *Estimator) take(ev event.Event) (event.BuildProgress, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch ev := ev.(type) {
	case event.BuildStarted:
		e.profile = ev.Profile
	case event.ActionsPlanned:
		e.estimateOf(ev.Step).planned = ev.Actions
		e.total += ev.Actions
	case event.ActionStarted:
		if !e.loaded {
			e.loaded = true
			e.learn(e.load())
		}
		n := e.estimateOf(ev.Step)
		n.begun++
		e.running[ev.ID] = active{of: n, full: n.forget(ev.Name), start: e.now()}
	case event.ActionFinished:
		n := e.estimateOf(ev.Step)
		if _, ok := e.running[ev.ID]; ok {
			n.begun--
			delete(e.running, ev.ID)
		}
		e.ended++
		n.ended++
		n.group.ended++
		if ev.Outcome == event.Executed || ev.Outcome == event.Failed {
			n.group.executed++
		}
		if !e.loaded && n.planned > 1 {
			if n.over == nil {
				n.over = map[string]bool{}
			}
			n.over[ev.Name] = true
		}
		n.forget(ev.Name)
		if now := e.now(); e.loaded && now.Sub(e.sent) >= sayEvery {
			if left, ok := e.left(now); ok {
				e.sent = now
				return event.BuildProgress{Ended: e.ended, Actions: e.total, LeftSeconds: left.Seconds()}, true
			}
		}
	}
	return event.BuildProgress{}, false
}

// forget takes an action off what has not begun, and returns how long it took.
func (n *estimate) forget(name string) time.Duration {
	d := n.took[name]
	n.sum -= d
	delete(n.took, name)
	return d
}

// learn takes the durations of earlier runs.
func (e *Estimator) learn(costs Costs) {
	for a, cost := range costs {
		n := e.by[a.step]
		if n == nil || a.profile != e.profile {
			continue
		}
		n.group.sum += cost.Duration
		n.group.known++
		if n.planned > 0 && n.ended == n.planned || n.over[a.name] {
			continue
		}
		if n.took == nil {
			n.took = map[string]time.Duration{}
		}
		n.took[a.name] = cost.Duration
		n.sum += cost.Duration
	}
}

// Left returns how long the build will go on, about, and whether that is known: not before something runs, and not
// when most of what is left never ran before.
func (e *Estimator) Left() (time.Duration, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.left(e.now())
}

func (e *Estimator) left(now time.Time) (time.Duration, bool) {
	if !e.loaded {
		return 0, false
	}
	busy := map[*estimate]time.Duration{} // the longest of what runs in it
	var work time.Duration
	for _, r := range e.running {
		rest := r.full - now.Sub(r.start)
		if rest < 0 { // it takes longer than it did: nobody knows how much
			rest = now.Sub(r.start) / 10
		}
		work += rest
		busy[r.of] = max(busy[r.of], rest)
	}
	known, unknown := 0, 0
	for i := len(e.instances) - 1; i >= 0; i-- { // dependents come later
		n := e.instances[i]
		n.tail = 0
		for _, w := range n.waiters {
			n.tail = max(n.tail, w.tail)
		}
		if n.planned > 0 && n.ended >= n.planned {
			continue
		}
		waiting, longest := n.remaining()
		work += waiting
		n.tail += max(busy[n], longest)
		if len(n.took) > 0 || n.group.known > 0 {
			known++
		} else {
			unknown++
		}
	}
	if known == 0 || unknown > known {
		return 0, false
	}
	left := work / time.Duration(e.jobs)
	for _, n := range e.instances {
		left = max(left, n.tail)
	}
	return left, true
}

// remaining returns how much work of the instance has not begun, and how long the longest of it takes. Of actions
// that never ran, it takes what others of the step took.
func (n *estimate) remaining() (work, longest time.Duration) {
	work = n.sum
	for _, d := range n.took {
		longest = max(longest, d)
	}
	if n.group.known > 0 {
		mean := n.group.sum / time.Duration(n.group.known)
		if more := max(1, n.planned) - n.ended - n.begun - len(n.took); more > 0 {
			work += time.Duration(more) * mean
			longest = max(longest, mean)
		}
	}
	ran := float64(n.group.executed+1) / float64(n.group.ended+1)
	return time.Duration(float64(work) * ran), time.Duration(float64(longest) * ran)
}
