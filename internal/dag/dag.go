// Package dag orders things by their dependencies: topological order, cycles, what is reachable, and which chain is
// longest.
//
// A graph is a list of keys and a function that gives each key's dependencies; nothing is stored. Results depend only on
// the order of the keys and of each one's dependencies, so they are the same every time. The package does not know what
// the keys mean.
package dag

// Order returns the keys so that each comes after all its dependencies, and otherwise in the order given. A dependency
// that is not among the keys is passed over. When keys depend on each other in a circle, cycles has one shortest circle
// for each group of such keys (each key depends on the next and the last on the first), and order has no meaning.
func Order[K comparable](keys []K, deps func(K) []K) (order []K, cycles [][]K) {
	s := &tarjan[K]{deps: deps, index: make(map[K]int, len(keys)), low: make(map[K]int, len(keys))}
	s.known = make(map[K]bool, len(keys))
	for _, k := range keys {
		s.known[k] = true
	}
	for _, k := range keys {
		if s.index[k] == 0 {
			s.visit(k)
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
// recursion.
type tarjan[K comparable] struct {
	deps       func(K) []K
	known      map[K]bool
	index, low map[K]int // index 0: not seen
	onStack    map[K]bool
	stack      []K
	order      []K
	groups     [][]K
}

type frame[K comparable] struct {
	key  K
	deps []K
	next int
}

func (s *tarjan[K]) visit(root K) {
	if s.onStack == nil {
		s.onStack = make(map[K]bool)
	}
	var frames []frame[K]
	enter := func(k K) {
		n := len(s.index) + 1
		s.index[k], s.low[k] = n, n
		s.stack, s.onStack[k] = append(s.stack, k), true
		frames = append(frames, frame[K]{key: k, deps: s.deps(k)})
	}
	enter(root)
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.next < len(f.deps) {
			d := f.deps[f.next]
			f.next++
			switch {
			case !s.known[d]:
			case s.low[d] == 0:
				enter(d)
			case s.onStack[d]:
				s.low[f.key] = min(s.low[f.key], s.index[d])
			}
			continue
		}
		k := f.key
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			up := frames[len(frames)-1].key
			s.low[up] = min(s.low[up], s.low[k])
		}
		s.order = append(s.order, k)
		if s.low[k] != s.index[k] {
			continue
		}
		for i := len(s.stack) - 1; ; i-- {
			s.onStack[s.stack[i]] = false
			if s.stack[i] == k {
				s.groups = append(s.groups, append([]K(nil), s.stack[i:]...))
				s.stack = s.stack[:i]
				break
			}
		}
	}
}

// shortestCircle returns a shortest circle through the first key of a strongly connected group, or nil when the group is
// a single key that does not depend on itself.
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
	seen := make(map[K]bool)
	queue := append([]K(nil), roots...)
	for len(queue) > 0 {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[k] {
			continue
		}
		seen[k] = true
		queue = append(queue, deps(k)...)
	}
	return seen
}

// Priorities returns, for keys in the order that Order gave, the weight of the heaviest chain from each key up to
// anything that needs it, itself included: what is on the critical path has the greatest. Weights must not be negative.
func Priorities[K comparable](order []K, deps func(K) []K, weight func(K) int64) map[K]int64 {
	prio := make(map[K]int64, len(order))
	above := make(map[K]int64, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		k := order[i]
		prio[k] = above[k] + weight(k)
		for _, d := range deps(k) {
			above[d] = max(above[d], prio[k])
		}
	}
	return prio
}
