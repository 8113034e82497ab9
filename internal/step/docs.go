package step

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
)

// Description is what there is to say of a kind: for people, for editors that complete and check, and for the
// documentation.
type Description struct {
	Kind        string     `json:"kind"`
	Summary     string     `json:"summary"`
	Arguments   []Argument `json:"arguments"`
	Outputs     []Output   `json:"outputs"`
	OutputsFrom string     `json:"outputs_from,omitempty"` // an argument whose elements are outputs too
	OwnOutputs  bool       `json:"own_outputs,omitempty"`  // it has those of its `output` blocks
	Toolchains  []string   `json:"toolchains,omitempty"`   // that it uses without being told
	Example     string     `json:"example,omitempty"`
}

// Output is an output that every step of a kind has.
type Output struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Doc   string `json:"doc"`
}

// Describe describes kinds, sorted by name, toolchain blocks last.
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

// Block is how a step of the kind begins.
func (d Description) Block() string {
	if d.Kind == addrs.Toolchain {
		return d.Kind
	}
	return fmt.Sprintf("step %q", d.Kind)
}

// Text is all that there is to say of an argument beside its name and its type.
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
