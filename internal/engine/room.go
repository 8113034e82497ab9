package engine

import (
	"sync"
)

// room is the memory of this machine, and what of it is taken by actions that run: as much as each took when it last
// ran. Of one that never ran it is what its step says; where that says nothing it counts for nothing.
//
// A worker asks for room when its action was looked up and has to run. Where there is none the unit goes back to the
// loop, which starts it when there is, the most urgent first. Until then no other unit of known size starts: small
// ones would keep a large one waiting for ever.
type room struct {
	total int64                         // 0: all fits
	took  func(step, name string) int64 // nil: nobody knows

	mu      sync.Mutex
	taken   int64
	waiting int
}

// reserve gives the unit what its action is expected to take, or returns false.
func (r *room) reserve(u *unit) bool {
	if r.total <= 0 || r.took == nil || u.roomy || u.away() {
		return true
	}
	if u.memory = r.took(u.instance.plan.At.Short(), u.spec.Name); u.memory == 0 {
		u.memory = int64(Demand(u.instance.plan, *u.spec)[MemoryPool]) << 30
	}
	if u.memory == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting > 0 || !r.fits(u) {
		r.waiting++
		return false
	}
	r.hold(u)
	return true
}

// MemoryPool is the resource by which a step says how much memory it takes, in GB.
const MemoryPool = "memory_gb"

// admit gives a unit that waits what it is expected to take, or returns false.
func (r *room) admit(u *unit) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.fits(u) {
		return false
	}
	r.waiting--
	r.hold(u)
	return true
}

// fits tells whether there is room. A unit larger than the machine runs when no unit of known size runs.
func (r *room) fits(u *unit) bool { return r.taken == 0 || r.taken+u.memory <= r.total }

func (r *room) hold(u *unit) {
	r.taken += u.memory
	u.roomy = true
}

// free takes back what the unit has, if it has any.
func (r *room) free(u *unit) {
	if !u.roomy {
		return
	}
	u.roomy = false
	r.mu.Lock()
	r.taken -= u.memory
	r.mu.Unlock()
}
