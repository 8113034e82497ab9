// Package engine builds plans. When the digests of a Spec's inputs are known, it turns the Spec into an Action and
// passes the Action to the executor. It exports the outputs of the pipeline. It does not know the pipeline language,
// the kinds of steps, processes or other machines.
package engine

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

// loop is the goroutine that owns a build's state. Workers only execute and send messages.
type loop struct {
	g         *graph
	work      func(ctx context.Context, u *unit, say func(message)) outcome
	sink      event.Sink
	jobs      int // maximum number of units that run on this machine
	keepGoing bool
	pools     map[string]*pool // a missing resource has size 1; nil: a preview, which needs none

	messages chan message
	units    chan *unit // to the workers
	workers  int
	over     chan struct{} // closed when the loop stops reading messages
	running  int
	// numbers of running units: on this machine, and lookups only
	here, lookingAhead int
	sum                event.BuildFinished
	firstErr           error
	broken             bool // an error of the graph, not of a unit
}

// message is a worker's report to the loop.
type message struct {
	u        *unit
	reserve  chan<- bool          // the worker asks for the unit's resources
	started  bool                 // cache miss: the action waits for its lock, or runs
	progress event.ActionProgress // ID 0: no progress
	out      *outcome             // the unit ended
}

// outcome is the result of a unit.
type outcome struct {
	out     made
	kind    event.Outcome
	missed  bool          // cache miss, and the action may not run yet; no other field is set
	key     digest.Digest // of the Action; zero without one
	took    time.Duration
	worker  string
	memory  int64
	warning string
	failure *event.Failure
	err     error // engine or infrastructure error

	// of an expansion
	plan   *plan.Instance
	values map[addrs.Output][]byte // the values that extended it
}

// run builds everything in the graph. It returns when no unit is running.
func (l *loop) run(ctx context.Context, units []*unit) error {
	defer l.open()()
	for _, n := range l.g.order {
		if n.resolved {
			l.announce(n)
		}
	}
	if err := l.admit(units); err != nil {
		l.skipRest()
		return err
	}
	stopped := ctx.Done()
	for halt := l.failed(); ; {
		for !halt {
			u := l.next()
			if u == nil {
				break
			}
			l.start(ctx, u)
		}
		if l.running == 0 {
			break
		}
		select {
		case m := <-l.messages:
			l.note(l.apply(m))
			halt = halt || l.failed()
		case <-stopped:
			halt, stopped = true, nil // workers watch ctx themselves; wait for them
		}
	}
	l.skipRest()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return l.firstErr
}

// open creates the channels to workers, and returns the function that stops the workers.
func (l *loop) open() (end func()) {
	l.over, l.units = make(chan struct{}), make(chan *unit)
	return func() {
		close(l.units)
		close(l.over)
	}
}

// note records an error that ends the build.
func (l *loop) note(err error) {
	if err != nil {
		l.broken, l.firstErr = true, errors.Join(l.firstErr, err)
	}
}

// failed reports whether no new unit may start.
func (l *loop) failed() bool {
	return l.broken || !l.keepGoing && (l.firstErr != nil || l.sum.Failed > 0)
}

// announce sends the number of actions of an instance.
func (l *loop) announce(n *instance) {
	l.sum.Actions += len(n.specs)
	l.sink.Send(event.ActionsPlanned{Step: n.plan.At.Short(), Actions: len(n.specs)})
}

// admit sets the state of new or unblocked units: ready, waiting, or skipped.
func (l *loop) admit(units []*unit) error {
	for _, u := range units {
		if u.state != waiting { // it was in more than one list and is already admitted
			continue
		}
		bad, err := l.g.block(u)
		switch {
		case err != nil:
			return err
		case bad:
			if err := l.skip(u); err != nil {
				return err
			}
		case u.wait == 0 && u.instance == nil:
			u.state = done
			if err := l.release(u); err != nil {
				return err
			}
		case u.wait == 0:
			l.g.pushReady(u)
		}
	}
	return nil
}

// next returns a ready unit that may start, or nil. The order is: units that work elsewhere, lookups, units that work
// on this machine.
func (l *loop) next() *unit {
	if u := l.first(&l.g.away); u != nil {
		return u
	}
	if l.lookingAhead < l.g.lookAhead && l.g.aheadQueue.Len() > 0 {
		return heap.Pop(&l.g.aheadQueue).(*unit)
	}
	if l.here >= l.jobs {
		return nil
	}
	return l.first(&l.g.ready)
}

// start gives the unit to a worker, and adds a worker if all are busy. Workers live for the whole build, because a new
// goroutine would have to grow its stack again for each unit.
func (l *loop) start(ctx context.Context, u *unit) {
	u.state, u.counted = running, l.count(u)
	*u.counted++
	if l.running++; l.running > l.workers {
		l.workers++
		go l.serve(ctx)
	}
	l.units <- u
}

// count returns the counter of running units for the unit's sort. Units that run elsewhere have no limit.
func (l *loop) count(u *unit) *int {
	switch {
	case l.g.isAhead(u):
		return &l.lookingAhead
	case u.away():
		return new(int)
	}
	return &l.here
}

// serve processes units until the channel is closed. It reports the end of each unit; the loop waits for the report.
func (l *loop) serve(ctx context.Context) {
	for u := range l.units {
		o := l.work(ctx, u, func(m message) {
			select {
			case l.messages <- m:
			case <-l.over: // an action may report progress after it ended
			}
		})
		l.messages <- message{u: u, out: &o}
	}
}

// apply processes a worker's message.
func (l *loop) apply(m message) error {
	u := m.u
	switch {
	case m.reserve != nil:
		m.reserve <- l.take(u)
		return nil
	case m.started:
		l.sink.Send(event.ActionStarted{ID: int(u.id), Step: u.instance.plan.At.Short(), Name: u.spec.Name,
			Description: u.description()})
		return nil
	case m.out == nil:
		l.sink.Send(m.progress)
		return nil
	}
	o := m.out
	l.running--
	*u.counted--
	l.free(u)
	if o.missed {
		u.missed = true
		l.g.pushReady(u)
		return nil
	}
	if o.err != nil {
		l.firstErr = errors.Join(l.firstErr, o.err)
	}
	if u.spec == nil {
		return l.expanded(u, o)
	}
	switch o.kind {
	case event.Failed:
		u.state = failed
		l.sum.Failed++
	case event.NotRun:
		u.state = skipped
		l.sum.NotRun++
	default:
		u.state = done
		u.out = o.out
		if o.kind == event.Cached {
			l.sum.Cached++
		} else {
			l.sum.Executed++
		}
	}
	l.sink.Send(event.ActionFinished{
		ID: int(u.id), Step: u.instance.plan.At.Short(), Name: u.spec.Name, Description: u.description(),
		Outcome: o.kind,
		Key:     hexOf(o.key), Action: o.key, Seconds: o.took.Seconds(), Worker: o.worker, Memory: o.memory,
		Failure: o.failure, Warning: o.warning,
	})
	return l.release(u)
}

// description returns the description of the step, or that of the action if the step has several actions.
func (u *unit) description() string {
	if words := u.instance.plan.Description; words != "" && (u.spec.Description == "" || len(u.instance.specs) == 1) {
		return words
	}
	return u.spec.Description
}

// expanded applies the expansion of an instance.
func (l *loop) expanded(u *unit, o *outcome) error {
	n := u.instance
	if o.kind == event.NotRun {
		return l.skip(u)
	}
	if o.failure != nil {
		u.state = failed
		l.sum.Failed++
		l.unplanned(n, event.ActionFinished{ID: int(u.id), Outcome: event.Failed, Failure: o.failure})
		return l.admit(drain(&n.waiters))
	}
	u.state = done
	n.plan, n.values = o.plan, o.values
	if n.plan.Waits != plan.ForNothing { // it has its values, and now waits for a listing
		return l.admit([]*unit{l.g.newUnit(n, nil)})
	}
	units, err := l.g.resolve(n, n.plan.Specs, n.plan.Outputs)
	if err != nil {
		return err
	}
	l.announce(n)
	return l.admit(append(units, drain(&n.waiters)...))
}

// unplanned ends an instance whose number of actions is unknown: it counts as one.
func (l *loop) unplanned(n *instance, e event.ActionFinished) {
	n.failed = true
	l.sum.Actions++
	e.Step = n.plan.At.Short()
	l.sink.Send(event.ActionsPlanned{Step: e.Step, Actions: 1})
	l.sink.Send(e)
}

// release unblocks the units that wait for u.
func (l *loop) release(u *unit) error {
	for _, w := range drain(&u.waiters) {
		if w.state != waiting {
			continue
		}
		if w.wait--; w.wait > 0 && u.state == done {
			continue
		}
		if err := l.admit([]*unit{w}); err != nil {
			return err
		}
	}
	return nil
}

// skip ends a unit and its dependents, because a dependency failed or the build was stopped.
func (l *loop) skip(u *unit) error {
	if u.state.ended() {
		return nil
	}
	u.state = skipped
	if u.instance == nil {
		return l.release(u)
	}
	l.sum.NotRun++
	if u.spec == nil {
		l.unplanned(u.instance, event.ActionFinished{ID: int(u.id), Outcome: event.NotRun})
		return l.admit(drain(&u.instance.waiters))
	}
	l.sink.Send(event.ActionFinished{ID: int(u.id), Step: u.instance.plan.At.Short(), Name: u.spec.Name,
		Outcome: event.NotRun})
	return l.release(u)
}

// skipRest reports as skipped the units that never started because the build was stopped.
func (l *loop) skipRest() {
	for _, n := range l.g.order {
		if !n.resolved && !n.failed {
			l.sum.NotRun++
			l.unplanned(n, event.ActionFinished{Outcome: event.NotRun})
		}
		for _, u := range n.specs {
			if !u.state.ended() {
				u.state = skipped
				l.sum.NotRun++
				l.sink.Send(event.ActionFinished{ID: int(u.id), Step: n.plan.At.Short(), Name: u.spec.Name,
					Outcome: event.NotRun})
			}
		}
	}
}

// hexOf returns the name of an action in events, "" for the zero key.
func hexOf(key digest.Digest) string {
	if key.IsZero() {
		return ""
	}
	return key.Hex()
}

func drain[T any](s *[]T) []T {
	v := *s
	*s = nil
	return v
}
