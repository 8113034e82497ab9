package dag_test

import (
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/dag"
)

// graph reads "a:bc b:c c:" as a needs b and c, b needs c.
func graph(s string) (keys []string, deps func(string) []string) {
	m := make(map[string][]string)
	for _, f := range strings.Fields(s) {
		k, ds, _ := strings.Cut(f, ":")
		keys = append(keys, k)
		for _, d := range ds {
			m[k] = append(m[k], string(d))
		}
	}
	return keys, func(k string) []string { return m[k] }
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct{ graph, order, cycles string }{
		{"", "", ""},
		{"a:", "a", ""},
		{"a: b: c:", "a b c", ""},
		{"a:bc b:c c:", "c b a", ""},
		{"a:c b:c c:d d:", "d c a b", ""},
		{"a:x", "a", ""},
		{"a:a", "", "aa"},
		{"a:b b:a", "", "aba"},
		{"a:b b:c c:bd d:", "", "bcb"},
		{"a:b b:a c:d d:c", "", "aba cdc"},
		{"a:b b:cd c:d d:a", "", "abda"}, // the short way round
	} {
		keys, deps := graph(tt.graph)
		order, cycles := dag.Order(keys, deps)
		var got []string
		for _, c := range cycles {
			got = append(got, strings.Join(c, "")+c[0])
		}
		if g := strings.Join(got, " "); g != tt.cycles {
			t.Errorf("%q: cycles %q, want %q", tt.graph, g, tt.cycles)
		}
		if g := strings.Join(order, " "); tt.cycles == "" && g != tt.order {
			t.Errorf("%q: order %q, want %q", tt.graph, g, tt.order)
		}
	}
}

// Random graphs whose edges all go to smaller numbers have an order in which dependencies come first; one edge back
// along a path makes a circle, and the circle reported is one.
func TestOrderRandom(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 200 {
		n := 2 + rng.Intn(30)
		deps := make([][]int, n)
		for k := 1; k < n; k++ {
			deps[k] = append(deps[k], rng.Intn(k))
			for d := range k {
				if rng.Intn(4) == 0 {
					deps[k] = append(deps[k], d)
				}
			}
		}
		keys := rng.Perm(n)
		order, cycles := dag.Order(keys, func(k int) []int { return deps[k] })
		if cycles != nil || len(order) != n {
			t.Fatalf("order %v, cycles %v", order, cycles)
		}
		at := make([]int, n)
		for i, k := range order {
			at[k] = i
		}
		for k := range n {
			for _, d := range deps[k] {
				if at[d] > at[k] {
					t.Fatalf("%d comes before its dependency %d in %v", k, d, order)
				}
			}
		}
		deps[0] = append(deps[0], n-1) // every key reaches 0
		_, cycles = dag.Order(keys, func(k int) []int { return deps[k] })
		if len(cycles) != 1 {
			t.Fatalf("cycles %v, want one", cycles)
		}
		c := cycles[0]
		for i, k := range c {
			if !slices.Contains(deps[k], c[(i+1)%len(c)]) {
				t.Fatalf("%v is no circle", c)
			}
		}
	}
}

func TestOrderDeepChain(t *testing.T) {
	const n = 200_000
	order, cycles := dag.Order([]int{n}, func(k int) []int { return []int{k - 1} })
	if len(order) != 1 || cycles != nil {
		t.Fatal("keys outside the graph were visited")
	}
	keys := make([]int, n)
	for i := range keys {
		keys[i] = n - i
	}
	order, cycles = dag.Order(keys, func(k int) []int { return []int{k - 1} })
	if len(order) != n || order[0] != 1 || cycles != nil {
		t.Fatalf("%d of %d ordered, cycles %v", len(order), n, cycles)
	}
}

func TestReach(t *testing.T) {
	_, deps := graph("a:b b:c c: d:c e:")
	reach := dag.Reach([]string{"b", "d"}, deps)
	if len(reach) != 3 || !reach["b"] || !reach["c"] || !reach["d"] {
		t.Errorf("reach %v", reach)
	}
}
