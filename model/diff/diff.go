// Package diff has what two files differ in, as data: sections, such as nodes or tensors, and in each what was added, removed, changed or renamed. One enters it with
// Section. It does not know what the files are, nor how their parts were found to belong together.
package diff

import (
	"fmt"
	"io"
	"strings"
)

// What an entry says.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
	Renamed = "renamed"
)

// Entry is one difference.
type Entry struct {
	Change string   `json:"change"` // one of the words above
	Name   string   `json:"name"`   // of what was added, removed or changed; of what was renamed the old one
	A      string   `json:"a,omitempty"`
	B      string   `json:"b,omitempty"`
	What   []string `json:"what,omitempty"` // of something changed that has parts: which, and how
}

// Section is what differs in one respect.
type Section struct {
	Of      string  `json:"of"`      // "nodes"
	Same    int     `json:"same"`    // how many do not differ
	Entries []Entry `json:"entries"` // in the order of the files
}

// Most is how many entries of a section a person is shown.
const Most = 100

// Text writes a section for people: a line that says how much there is, and a line for each entry. Clean is what texts of the files go through.
func (s Section) Text(w io.Writer, clean func(string) string) {
	if len(s.Entries) == 0 {
		return
	}
	count := map[string]int{}
	for _, e := range s.Entries {
		count[e.Change]++
	}
	var parts []string
	for _, c := range []string{Added, Removed, Changed, Renamed} {
		if n := count[c]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	fmt.Fprintf(w, "%s: %s, %d the same\n", s.Of, strings.Join(parts, ", "), s.Same)
	for i, e := range s.Entries {
		if i == Most {
			fmt.Fprintf(w, "  … and %d more (--json has all)\n", len(s.Entries)-i)
			return
		}
		fmt.Fprintf(w, "  %s\n", clean(e.text()))
	}
}

func (e Entry) text() string {
	switch e.Change {
	case Added:
		return "+ " + e.B
	case Removed:
		return "- " + e.A
	case Renamed:
		return "~ " + e.Name + " is now called " + e.B
	}
	if len(e.What) > 0 {
		return "~ " + e.Name + ": " + strings.Join(e.What, "; ")
	}
	return "~ " + e.Name + ": " + e.A + " → " + e.B
}
