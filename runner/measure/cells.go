package measure

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Cell is one run of a step: a repetition of a variant. A variant combines one value of each axis of a matrix. A step
// without axes has one variant.
type Cell struct {
	Values     map[string]string // value of each axis
	Label      string            // unique label for names of actions and folders: "model=a,seq=64"
	Repetition int               // number of the repetition, from 1
	Dir        string            // slash path of the run's folder among the results; "" for the only run
	Name       string            // name of the action
}

// Cells returns all runs in the order in which a build starts them: the first run of every variant, then the second,
// and so on.
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

// combine returns a variant for each combination of values. The last axis changes fastest.
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

// word shortens a value for a file name.
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

// placeholder returns the placeholder of an axis in texts.
func placeholder(axis string) string { return "${matrix." + axis + "}" }

// Fill replaces the placeholders in a text with the cell's values.
func (c Cell) Fill(text string) string {
	var pairs []string
	for a, x := range c.Values {
		pairs = append(pairs, placeholder(a), x)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Has reports whether a text contains the axis's placeholder.
func Has(text, axis string) bool {
	return strings.Contains(text, placeholder(axis))
}

// IsName reports whether s is a valid name of a metric or an axis.
func IsName(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
