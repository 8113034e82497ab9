// Package dag sorts a graph in topological order, finds dependency cycles, and finds all dependencies of a key.
//
// A graph is a list of keys and a function that returns the dependencies of a key. The same order of keys and
// dependencies always gives the same result. The package does not know the meaning of keys.
package dag

import "slices"

// Order sorts the keys so that each key follows all of its dependencies, and otherwise keeps the given order. It
// ignores dependencies that are not in keys. If there are cycles, order is invalid, and the result cycles contains one
// shortest cycle for each group of keys that depend on each other. In a cycle, each key depends on the next key, and
// the last key depends on the first.
func Order[K comparable](keys []K, deps func(K) []K) (order []K, cycles [][]K) {
	t := &tarjan[K]{deps: deps, state: make(map[K]*state, len(keys)), order: make([]K, 0, len(keys))}
	for _, k := range keys {
		t.state[k] = &state{}
	}
	for _, k := range keys {
		if t.state[k].index == 0 {
			t.visit(k)
		}
	}
	return t.order, t.cycles
}

// tarjan finds strongly connected groups.
type tarjan[K comparable] struct {
	deps   func(K) []K
	state  map[K]*state
	seen   int
	stack  []K
	order  []K
	cycles [][]K
}

type state struct {
	index, low int // index 0: not seen
	onStack    bool
}

func (t *tarjan[K]) visit(k K) {
	t.seen++
	s := t.state[k]
	*s = state{t.seen, t.seen, true}
	t.stack = append(t.stack, k)
	for _, d := range t.deps(k) {
		switch of := t.state[d]; {
		case of == nil:
		case of.index == 0:
			t.visit(d)
			s.low = min(s.low, of.low)
		case of.onStack:
			s.low = min(s.low, of.index)
		}
	}
	t.order = append(t.order, k)
	if s.low != s.index {
		return
	}
	first := len(t.stack) - 1
	for t.stack[first] != k {
		first--
	}
	group := t.stack[first:]
	t.stack = t.stack[:first]
	for _, k := range group {
		t.state[k].onStack = false
	}
	if c := shortestCircle(group, t.deps); c != nil {
		t.cycles = append(t.cycles, c)
	}
}

// shortestCircle returns a shortest cycle through the first key of a strongly connected group. For a single key that
// does not depend on itself it returns nil.
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
				slices.Reverse(circle)
				return circle
			}
			if _, seen := from[d]; !seen && in[d] {
				from[d] = k
				queue = append(queue, d)
			}
		}
	}
	return nil
}

// Reach returns the roots and all direct and indirect dependencies of the roots.
func Reach[K comparable](roots []K, deps func(K) []K) map[K]bool {
	seen := make(map[K]bool, len(roots))
	var visit func(ks []K)
	visit = func(ks []K) {
		for _, k := range ks {
			if !seen[k] {
				seen[k] = true
				visit(deps(k))
			}
		}
	}
	visit(roots)
	return seen
}
