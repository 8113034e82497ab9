// Package dag orders things by their dependencies: topological order, cycles, what is reachable, and which chain is
// longest.
//
// A graph is a list of keys and a function that gives each key's dependencies; nothing is stored. Results depend only
// on the order of the keys and of each one's dependencies, so they are the same every time. The package does not know
// what the keys mean.
package dag

// Order returns the keys so that each comes after all its dependencies, and otherwise in the order given. A
// dependency that is not among the keys is passed over. When keys depend on each other in a circle, cycles has one
// shortest circle for each group of such keys (each key depends on the next and the last on the first), and order has
// no meaning.
func Order[K comparable](keys []K, deps func(K) []K) (order []K, cycles [][]K) {
	s := &tarjan[K]{keys: keys, deps: deps, at: make(map[K]int32, len(keys)), state: make([]state, len(keys))}
	for i, k := range keys {
		s.at[k] = int32(i)
	}
	s.order = make([]K, 0, len(keys))
	for _, k := range keys {
		if i := s.at[k]; s.state[i].index == 0 {
			s.visit(i)
		}
	}
	for _, group := range s.groups {
		if c := shortestCircle(group, deps); c != nil {
			cycles = append(cycles, c)
		}
	}
	return s.order, cycles
}

// tarjan finds strongly connected groups; it keeps its own stack of frames so that a chain of 100,000 keys is no deep
// recursion. Inside, a key is its place in keys.
type tarjan[K comparable] struct {
	keys   []K
	deps   func(K) []K
	at     map[K]int32
	state  []state
	seen   int32
	stack  []int32
	frames []frame[K]
	order  []K
	groups [][]K // those that may have a circle
}

type state struct {
	index, low int32 // index 0: not seen
	onStack    bool
	itself     bool // it depends on itself
}

type frame[K comparable] struct {
	key  int32
	deps []K
	next int
}

func (s *tarjan[K]) enter(i int32) {
	s.seen++
	s.state[i] = state{index: s.seen, low: s.seen, onStack: true}
	s.stack = append(s.stack, i)
	s.frames = append(s.frames, frame[K]{key: i, deps: s.deps(s.keys[i])})
}

func (s *tarjan[K]) visit(root int32) {
	s.enter(root)
	for len(s.frames) > 0 {
		f := &s.frames[len(s.frames)-1]
		if f.next < len(f.deps) {
			d, known := s.at[f.deps[f.next]]
			f.next++
			switch {
			case !known:
			case s.state[d].index == 0:
				s.enter(d)
			case s.state[d].onStack:
				s.state[f.key].low = min(s.state[f.key].low, s.state[d].index)
				s.state[d].itself = s.state[d].itself || d == f.key
			}
			continue
		}
		s.leave(f.key)
	}
}

func (s *tarjan[K]) leave(k int32) {
	s.frames = s.frames[:len(s.frames)-1]
	if len(s.frames) > 0 {
		up := &s.state[s.frames[len(s.frames)-1].key]
		up.low = min(up.low, s.state[k].low)
	}
	s.order = append(s.order, s.keys[k])
	if s.state[k].low != s.state[k].index {
		return
	}
	first := len(s.stack) - 1
	for s.stack[first] != k {
		first--
	}
	group := s.stack[first:]
	s.stack = s.stack[:first]
	for _, i := range group {
		s.state[i].onStack = false
	}
	if len(group) == 1 && !s.state[k].itself {
		return
	}
	keys := make([]K, len(group))
	for i, at := range group {
		keys[i] = s.keys[at]
	}
	s.groups = append(s.groups, keys)
}

// shortestCircle returns a shortest circle through the first key of a strongly connected group, or nil when the group
// is a single key that does not depend on itself.
func shortestCircle[K comparable](group []K, deps func(K) []K) []K {
	in := make(map[K]bool, len(group))
	for _, k := range group {
		in[k] = true
	}
	start := group[0]
	from := make(map[K]K)
	queue := []K{start}
	for len(queue) > 0 {
		k := queue[0]
		queue = queue[1:]
		for _, d := range deps(k) {
			if d == start {
				circle := []K{k}
				for k != start {
					k = from[k]
					circle = append(circle, k)
				}
				for i, j := 0, len(circle)-1; i < j; i, j = i+1, j-1 {
					circle[i], circle[j] = circle[j], circle[i]
				}
				return circle
			}
			if _, seen := from[d]; in[d] && !seen {
				from[d] = k
				queue = append(queue, d)
			}
		}
	}
	return nil
}

// Reach returns the roots and everything they depend on, directly or not.
func Reach[K comparable](roots []K, deps func(K) []K) map[K]bool {
	seen := make(map[K]bool, len(roots))
	queue := make([]K, 0, len(roots))
	add := func(ks []K) {
		for _, k := range ks {
			if !seen[k] {
				seen[k] = true
				queue = append(queue, k)
			}
		}
	}
	add(roots)
	for len(queue) > 0 {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		add(deps(k))
	}
	return seen
}
