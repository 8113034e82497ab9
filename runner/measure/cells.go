package measure

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Cell is one run of a step: a variant, which is one combination of the values of a matrix's axes, and which repetition of it. A step without axes
// has one variant, without values.
type Cell struct {
	Values     map[string]string // by axis
	Label      string            // "model=a,seq=64": for names of actions and folders, unlike that of every other variant
	Repetition int               // from 1
	Dir        string            // slash path among the results, "" when there is only one run
	Name       string            // of its action
}

// Cells returns all runs in the order in which one device does them, since a build begins the ready actions of a step in the order of its
// plan: no variant is done before the others began.
func Cells(matrix map[string][]string, repeat int) []Cell {
	variants := combine(matrix)
	var out []Cell
	for n := 1; n <= repeat; n++ {
		for _, c := range variants {
			c.Repetition, c.Name = n, "run"
			if c.Label != "" {
				c.Name += "[" + c.Label + "]"
			}
			if repeat > 1 || len(matrix) > 0 {
				c.Name += fmt.Sprintf("#%d", n)
				c.Dir = path.Join(c.Label, fmt.Sprint(n))
			}
			out = append(out, c)
		}
	}
	return out
}

// combine makes a variant of every combination of values; the last axis changes fastest.
func combine(matrix map[string][]string) []Cell {
	all := []Cell{{Values: map[string]string{}}}
	for _, a := range slices.Sorted(maps.Keys(matrix)) {
		var next []Cell
		for _, c := range all {
			for _, x := range matrix[a] {
				with := maps.Clone(c.Values)
				with[a] = x
				label := a + "=" + word(x)
				if c.Label != "" {
					label = c.Label + "," + label
				}
				next = append(next, Cell{Values: with, Label: label})
			}
		}
		all = next
	}
	seen := map[string]bool{}
	for i := range all {
		label := all[i].Label
		for n := 2; seen[all[i].Label]; n++ {
			all[i].Label = fmt.Sprintf("%s~%d", label, n)
		}
		seen[all[i].Label] = true
	}
	return all
}

// word makes a value a short part of a file's name.
func word(s string) string {
	const most = 40
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+", r) {
			return r
		}
		return '_'
	}, s)
	return clean[:min(len(clean), most)]
}

// Hole is where a text has the value of an axis.
func Hole(axis string) string { return "${matrix." + axis + "}" }

// Fill puts the values where a text has holes.
func (c Cell) Fill(text string) string {
	var pairs []string
	for a, x := range c.Values {
		pairs = append(pairs, Hole(a), x)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Has tells whether a text has a hole for the axis.
func Has(text, axis string) bool {
	return strings.Contains(text, Hole(axis))
}

// IsName tells whether a metric, or an axis, may be called so.
func IsName(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
