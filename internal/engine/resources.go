package engine

import (
	"container/heap"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/plan"
)

// pool is a limited resource, such as the memory of this machine.
//
// A unit holds its resources while its action runs, but not while its result is looked up, unless it works elsewhere.
// After a cache miss, the worker asks the loop for all of them. If one is not free, the unit leaves its worker and
// waits in the queue of each of its resources. No unit passes another in a queue: small units would starve a large
// one.
type pool struct {
	size, taken int64
	queue       []*unit // oldest first
}

// MemoryPool is the name of the resource for memory. A step declares the memory that it needs in GB, but the size of
// the pool is in bytes.
const MemoryPool = "memory_gb"

// demand returns the amount of each resource that the unit's action holds while it runs. Its memory is the peak of its
// last run, else the size that its step declares. An action elsewhere needs no memory of this machine.
func demand(u *unit, peak func(step, name string) int64) map[string]int64 {
	need := map[string]int64{}
	for name, n := range ResourcesOf(u.instance.plan, *u.spec) {
		if n > 0 {
			need[name] = int64(n)
		}
	}
	memory := need[MemoryPool] << 30
	delete(need, MemoryPool)
	if u.away() {
		return need
	}
	if peak != nil {
		if last := peak(u.instance.plan.At.Short(), u.spec.Name); last > 0 {
			memory = last
		}
	}
	if memory > 0 {
		need[MemoryPool] = memory
	}
	return need
}

// ResourcesOf returns the amount of each resource that an action of an instance uses while it runs.
func ResourcesOf(n *plan.Instance, spec action.Spec) map[string]int {
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

// reserve asks the loop for the resources of a unit that a worker has, and reports whether the unit holds them.
func (u *unit) reserve(say func(message)) bool {
	if u.holds || len(u.demand) == 0 {
		return true
	}
	reply := make(chan bool, 1)
	say(message{u: u, reserve: reply})
	return <-reply
}

// pool returns the resource with the name.
func (l *loop) pool(name string) *pool {
	if l.pools[name] == nil {
		l.pools[name] = &pool{size: 1}
	}
	return l.pools[name]
}

// take gives the unit its resources if they are free and no other unit waits for one of them before it. A unit larger
// than a resource runs if no other unit holds the resource.
func (l *loop) take(u *unit) bool {
	for name, n := range u.demand {
		p := l.pool(name)
		if len(p.queue) > 0 && p.queue[0] != u || p.taken > 0 && p.taken+n > p.size {
			return false
		}
	}
	for name, n := range u.demand {
		p := l.pools[name]
		p.taken += n
		if len(p.queue) > 0 {
			p.queue = p.queue[1:]
		}
	}
	u.holds = true
	return true
}

// free takes the unit's resources back. Units that waited for them become ready.
func (l *loop) free(u *unit) {
	if !u.holds {
		return
	}
	u.holds = false
	for name, n := range u.demand {
		l.pools[name].taken -= n
	}
	l.grant(u.demand)
}

// grant makes the first units in the queues of resources ready, as far as their resources are free. A unit that leaves
// its queues may leave them to another unit that can run.
func (l *loop) grant(resources map[string]int64) {
	for name := range resources {
		for p := l.pools[name]; len(p.queue) > 0; {
			next := p.queue[0]
			if !l.take(next) {
				break
			}
			l.g.pushReady(next)
			l.grant(next.demand)
		}
	}
}

// first pops the most urgent unit of the queue that does not have to wait for a resource, or returns nil.
func (l *loop) first(queue *readyHeap) *unit {
	for queue.Len() > 0 {
		u := heap.Pop(queue).(*unit)
		if l.pools != nil && u.demand == nil && u.away() { // repetitions elsewhere run in the order of the plan
			u.demand = demand(u, nil)
		}
		if u.demand == nil || u.holds || l.take(u) {
			return u
		}
		for name := range u.demand {
			p := l.pool(name)
			p.queue = append(p.queue, u)
		}
	}
	return nil
}
