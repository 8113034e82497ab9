// Package engine carries out plans.
//
// It turns every Spec of a Plan into an Action when its inputs have digests, asks the executor for its Result, passes
// results on, and puts the pipeline's outputs in their place. It does not know the language, kinds of steps,
// processes or other machines.
package engine

import (
	"container/heap"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

// loop is the one goroutine that owns a build's state. Workers only execute and send messages.
type loop struct {
	g         *graph
	work      func(ctx context.Context, u *unit, say func(message)) outcome
	sink      event.Sink
	jobs      int // how many may work on this machine at once
	keepGoing bool
	pools     map[string]int // what is free of each resource; not in the map: one
	room      *room          // of memory
	tight     readyHeap      // units that wait for room

	messages chan message
	units    chan *unit // to the workers
	workers  int
	over     chan struct{} // closed when nobody reads messages any more
	running  int
	// of those that run: how many on this machine, on others, and how many are only looked up
	here, elsewhere, lookingAhead int
	sum                           event.BuildFinished
	firstErr                      error
	broken                        bool // no unit's error: the graph is wrong
}

// message is what a worker tells the loop.
type message struct {
	u        *unit
	started  bool                 // no result is remembered: the action waits for its lock, or runs
	progress event.ActionProgress // with ID 0: none
	out      *outcome             // it ended
}

// outcome is how a unit ended.
type outcome struct {
	out     made
	kind    event.Outcome
	missed  bool          // nothing else: it was only looked up
	key     digest.Digest // of the Action; zero when there is none
	took    time.Duration
	worker  string
	memory  int64
	held    bool // it has to run, and there is no room for it now
	warning string
	failure *event.Failure
	err     error // engine or infrastructure

	// of an expansion
	plan   *plan.Instance
	values map[addrs.Output][]byte // by which it was extended
}

// run builds everything in the graph. It returns when nothing runs any more.
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
			halt, stopped = true, nil // workers see ctx themselves; wait for them
		}
	}
	l.skipRest()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return l.firstErr
}

// open makes the channels to workers, and returns the function that ends the workers.
func (l *loop) open() (end func()) {
	l.over, l.units = make(chan struct{}), make(chan *unit)
	return func() {
		close(l.units)
		close(l.over)
	}
}

// note keeps an error with which the build ends.
func (l *loop) note(err error) {
	if err != nil {
		l.broken, l.firstErr = true, errors.Join(l.firstErr, err)
	}
}

// failed says whether nothing more is to begin.
func (l *loop) failed() bool {
	return l.broken || !l.keepGoing && (l.firstErr != nil || l.sum.Failed > 0)
}

// announce tells how many actions an instance has.
func (l *loop) announce(n *instance) {
	l.sum.Actions += len(n.specs)
	l.sink.Send(event.ActionsPlanned{Step: n.plan.At.Short(), Actions: len(n.specs)})
}

// admit puts new or unblocked units where they belong: ready, waiting, or skipped.
func (l *loop) admit(units []*unit) error {
	for _, u := range units {
		if u.state != waiting { // it was in more than one list and is on its way already
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

// next returns a ready unit whose resources are free, or nil: of those that work elsewhere first, of those that are
// looked up and of those that work here if one more may.
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
	if u := l.fitting(); u != nil {
		return u
	}
	return l.first(&l.g.ready)
}

// first takes from the queue the unit with the highest priority whose resources are free, or returns nil.
func (l *loop) first(queue *readyHeap) *unit {
	var held []*unit
	defer func() {
		for _, u := range held {
			heap.Push(queue, u)
		}
	}()
	for queue.Len() > 0 {
		u := heap.Pop(queue).(*unit)
		if l.reserve(u) {
			return u
		}
		held = append(held, u)
	}
	return nil
}

// fitting takes the first of those that wait for room, if there is room now and its resources are free, or returns
// nil.
func (l *loop) fitting() *unit {
	if l.tight.Len() == 0 || !l.reserve(l.tight[0]) {
		return nil
	}
	if !l.room.admit(l.tight[0]) {
		l.unreserve(l.tight[0])
		return nil
	}
	return heap.Pop(&l.tight).(*unit)
}

// demand is what of each resource the unit holds while it runs.
func demand(u *unit) map[string]int {
	if u.spec == nil {
		return nil
	}
	return Demand(u.instance.plan, *u.spec)
}

// Demand is what of each resource an action of an instance holds while it runs.
func Demand(n *plan.Instance, spec action.Spec) map[string]int {
	need := map[string]int{}
	for name, n := range n.Resources {
		need[name] = n
	}
	for _, kv := range strings.Split(spec.Platform[action.PropertyPool], ",") {
		if name, n, ok := strings.Cut(kv, "="); ok {
			if v, err := strconv.Atoi(n); err == nil && v > 0 {
				need[name] = v
			}
		}
	}
	return need
}

func (l *loop) free(name string) int {
	if n, ok := l.pools[name]; ok {
		return n
	}
	return 1
}

func (l *loop) reserve(u *unit) bool {
	need := demand(u)
	for name, n := range need {
		// A unit that wants more than there is at all runs alone rather than never.
		if l.free(name) < n && l.running > 0 {
			return false
		}
	}
	for name, n := range need {
		l.pools[name] = l.free(name) - n
	}
	return true
}

func (l *loop) unreserve(u *unit) {
	for name, n := range demand(u) {
		l.pools[name] += n
	}
}

// start gives the unit to a worker, and hires one if all are busy. Workers stay for the whole build: the stack of a
// new one would have to grow with each unit.
func (l *loop) start(ctx context.Context, u *unit) {
	u.state, u.counted = running, l.count(u)
	*u.counted++
	if l.running++; l.running > l.workers {
		l.workers++
		go l.serve(ctx)
	}
	l.units <- u
}

// count returns the counter that counts the unit while it runs.
func (l *loop) count(u *unit) *int {
	switch {
	case l.g.isAhead(u):
		return &l.lookingAhead
	case u.away():
		return &l.elsewhere
	}
	return &l.here
}

// serve does units until there are no more. It says of each that it ended; the loop waits for that.
func (l *loop) serve(ctx context.Context) {
	for u := range l.units {
		o := l.work(ctx, u, func(m message) {
			select {
			case l.messages <- m:
			case <-l.over: // somebody still reports on an action that ended
			}
		})
		l.messages <- message{u: u, out: &o}
	}
}

// apply applies what a worker said.
func (l *loop) apply(m message) error {
	u := m.u
	switch {
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
	if !l.g.isAhead(u) {
		l.unreserve(u)
	} else if o.missed {
		u.missed = true
		l.g.pushReady(u)
		return nil
	}
	if o.held {
		u.state = ready
		heap.Push(&l.tight, u)
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
	case event.Skipped:
		u.state = skipped
		l.sum.Skipped++
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
		Key:     hexOf(o.key), Action: o.key, Duration: o.took, Worker: o.worker, Memory: o.memory,
		Failure: o.failure, Warning: o.warning,
	})
	return l.release(u)
}

// description says what the unit does: the step's own words, but of one of several actions its own say more.
func (u *unit) description() string {
	if words := u.instance.plan.Description; words != "" && (u.spec.Description == "" || len(u.instance.specs) == 1) {
		return words
	}
	return u.spec.Description
}

// expanded gives an instance what its expansion found.
func (l *loop) expanded(u *unit, o *outcome) error {
	n := u.instance
	if o.kind == event.Skipped {
		return l.skip(u)
	}
	if o.failure != nil {
		u.state, n.failed = failed, true
		l.sum.Failed++
		l.sum.Actions++
		l.sink.Send(event.ActionsPlanned{Step: n.plan.At.Short(), Actions: 1})
		l.sink.Send(event.ActionFinished{ID: int(u.id), Step: n.plan.At.Short(), Outcome: event.Failed,
			Failure: o.failure})
		return l.admit(drain(&n.waiters))
	}
	u.state = done
	n.plan, n.values = o.plan, o.values
	if n.plan.Waits != plan.ForNothing { // with its values, it waits for a listing
		return l.admit([]*unit{l.g.newUnit(n, nil)})
	}
	units, err := l.g.resolve(n, n.plan.Specs, n.plan.Outputs)
	if err != nil {
		return err
	}
	l.announce(n)
	return l.admit(append(units, drain(&n.waiters)...))
}

// release wakes what waited for u.
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

// skip ends a unit that cannot run, because something it needs failed or the build was stopped, and all that waits
// for it.
func (l *loop) skip(u *unit) error {
	if u.state.ended() {
		return nil
	}
	u.state = skipped
	if u.instance == nil {
		return l.release(u)
	}
	if u.spec == nil {
		u.instance.failed = true
		l.sum.Skipped++
		l.sum.Actions++
		l.sink.Send(event.ActionsPlanned{Step: u.instance.plan.At.Short(), Actions: 1})
		l.sink.Send(event.ActionFinished{ID: int(u.id), Step: u.instance.plan.At.Short(), Outcome: event.Skipped})
		return l.admit(drain(&u.instance.waiters))
	}
	l.sum.Skipped++
	l.sink.Send(event.ActionFinished{ID: int(u.id), Step: u.instance.plan.At.Short(), Name: u.spec.Name,
		Outcome: event.Skipped})
	return l.release(u)
}

// skipRest reports as skipped what never started because the build was stopped.
func (l *loop) skipRest() {
	for _, n := range l.g.order {
		if !n.resolved && !n.failed { // how many actions it has is not known: it counts as one
			n.failed = true
			l.sum.Skipped++
			l.sum.Actions++
			l.sink.Send(event.ActionsPlanned{Step: n.plan.At.Short(), Actions: 1})
			l.sink.Send(event.ActionFinished{Step: n.plan.At.Short(), Outcome: event.Skipped})
		}
		for _, u := range n.specs {
			if !u.state.ended() {
				u.state = skipped
				l.sum.Skipped++
				l.sink.Send(event.ActionFinished{ID: int(u.id), Step: n.plan.At.Short(), Name: u.spec.Name,
					Outcome: event.Skipped})
			}
		}
	}
}

// hexOf is how events name an action, "" for none.
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
