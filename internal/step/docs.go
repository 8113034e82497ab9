package step

import (
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Description describes a kind of step for users, for editors (completion and checks), and for the reference pages.
type Description struct {
	Kind        string     `json:"kind"`
	Summary     string     `json:"summary"`
	Arguments   []Argument `json:"arguments"`
	Outputs     []Output   `json:"outputs"`
	OutputsFrom string     `json:"outputs_from,omitempty"` // an argument whose elements are also outputs
	OwnOutputs  bool       `json:"own_outputs,omitempty"`  // its `output` blocks define outputs
	Toolchains  []string   `json:"toolchains,omitempty"`   // the toolchains that it always uses
	Example     string     `json:"example,omitempty"`
}

// Output describes an output that every step of a kind has.
type Output struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Doc   string `json:"doc"`
}

// Describe returns the descriptions of all kinds, sorted by name. The description of toolchain blocks comes last.
func Describe(kinds map[string]Kind) []Description {
	var all []Description
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		s := kinds[name].Schema()
		d := Description{name, s.Summary, s.Arguments, []Output{}, s.OutputsFrom, s.OwnOutputs, s.Toolchains, s.Example}
		for _, o := range s.Outputs {
			d.Outputs = append(d.Outputs, Output{o.Name, o.Class.String(), o.Doc})
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b Description) int {
		switch {
		case a.Kind == addrs.Toolchain:
			return 1
		case b.Kind == addrs.Toolchain:
			return -1
		}
		return 0
	})
	return all
}

// Text returns the documentation of an argument, without name and type.
func (a Argument) Text() string {
	s := a.Doc
	if a.Values != "" {
		s += " Values: " + a.Values + "."
	}
	if a.Default != "" {
		s += " Default: " + a.Default + "."
	}
	return strings.TrimSpace(s)
}
