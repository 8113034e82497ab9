package measure

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Cell is one run of a step: a repetition of a variant. A variant is one combination of the values of a matrix's axes.
// A step without axes has one variant, without values.
type Cell struct {
	Values     map[string]string // by axis
	Label      string            // "model=a,seq=64", unique: for names of actions and folders
	Repetition int               // from 1
	Dir        string            // slash path among the results, "" for the only run
	Name       string            // of its action
}

// Cells returns all runs in the order of a plan: each variant has its first run before one has its second. A build
// starts ready actions in that order.
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

// placeholder returns the text that stands for the value of an axis.
func placeholder(axis string) string { return "${matrix." + axis + "}" }

// Fill replaces the placeholders of a text.
func (c Cell) Fill(text string) string {
	var pairs []string
	for a, x := range c.Values {
		pairs = append(pairs, placeholder(a), x)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Has tells whether a text has the placeholder of the axis.
func Has(text, axis string) bool {
	return strings.Contains(text, placeholder(axis))
}

// IsName tells whether a metric or an axis may have the name.
func IsName(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
