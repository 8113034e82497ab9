package runlog

import (
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
)

// Instance describes an instance of a step with its dependencies, as input for an estimate.
type Instance struct {
	Step  string
	Needs []string
}

// Estimator estimates the remaining time of a build from the durations of earlier runs. It is an event.Sink that passes
// all events on to the next sink, and sometimes adds a BuildProgress. Any goroutine may call Left.
//
// The estimate is the larger of two times: all remaining work divided by the number of workers, and the longest chain
// of dependent steps. If half of a step's finished actions were cache hits, the estimate halves the durations of the
// step's remaining actions.
type Estimator struct {
	next event.Sink
	load func() Costs

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

// estimate holds the known durations of one instance.
type estimate struct {
	group   *groupEstimate
	waiters []*estimate // the instances that depend on it
	took    map[string]time.Duration
	sum     time.Duration   // sum of took: actions that have not begun
	over    map[string]bool // actions that ended before learn was called
	planned int
	begun   int // and not ended
	ended   int
	tail    time.Duration
}

// groupEstimate holds the known durations of all instances of a step.
type groupEstimate struct {
	sum      time.Duration // sum of known durations
	known    int
	executed int // in this build
	ended    int
}

type active struct {
	of    *estimate
	full  time.Duration // expected duration; 0 if unknown
	start time.Time
}

// sayEvery is the minimum interval between two BuildProgress events.
const sayEvery = time.Second

// Estimate returns an Estimator for a build with the given number of workers. It calls the function load when the first
// action starts. A build with only cache hits does not load the costs.
func Estimate(next event.Sink, jobs int, load func() Costs) *Estimator {
	return &Estimator{next: next, load: load, jobs: max(1, jobs),
		by: map[string]*estimate{}, groups: map[string]*groupEstimate{}, running: map[int]active{}}
}

// Plan sets the dependencies between steps. The instances must be in topological order. Before Plan is called,
// Estimator treats all steps as independent.
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
		base := addrs.WithoutKeys(step)
		g := e.groups[base]
		if g == nil {
			g = &groupEstimate{}
			e.groups[base] = g
		}
		n = &estimate{group: g, took: map[string]time.Duration{}, over: map[string]bool{}}
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
		e.running[ev.ID] = active{of: n, full: n.forget(ev.Name), start: time.Now()}
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
			n.over[ev.Name] = true
		}
		n.forget(ev.Name)
		if now := time.Now(); e.loaded && now.Sub(e.sent) >= sayEvery {
			if left, ok := e.left(now); ok {
				e.sent = now
				return event.BuildProgress{Ended: e.ended, Actions: e.total, RemainingSeconds: left.Seconds()}, true
			}
		}
	}
	return event.BuildProgress{}, false
}

// forget removes an action from those that have not begun, and returns its expected duration.
func (n *estimate) forget(name string) time.Duration {
	d := n.took[name]
	n.sum -= d
	delete(n.took, name)
	return d
}

// learn adds the durations of earlier runs.
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
		n.took[a.name] = cost.Duration
		n.sum += cost.Duration
	}
}

// Left returns the estimated remaining time and true. It returns false before the first action starts, or if most of
// the remaining actions never ran before.
func (e *Estimator) Left() (time.Duration, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.left(time.Now())
}

func (e *Estimator) left(now time.Time) (time.Duration, bool) {
	if !e.loaded {
		return 0, false
	}
	busy := map[*estimate]time.Duration{} // the longest running action of an instance
	var work time.Duration
	for _, r := range e.running {
		rest := r.full - now.Sub(r.start)
		if rest < 0 { // it already takes longer than expected, and no one can say how much longer
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

// remaining returns the work of the instance that has not begun, and its longest action. For actions that never ran, it
// uses the average of their step.
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
