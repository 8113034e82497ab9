package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Column is the head of one of a Table's columns.
type Column struct {
	Name  string `json:"name"`            // for programs
	Label string `json:"label,omitempty"` // for people; the name when empty
	Unit  string `json:"unit,omitempty"`
}

// head is what stands over the column.
func (c Column) head() string {
	s := c.Label
	if s == "" {
		s = c.Name
	}
	switch c.Unit {
	case "":
	case "us":
		s += ", µs"
	default:
		s += ", " + c.Unit
	}
	return s
}

// writeGrid prints the lines below their columns: texts from the left, numbers from the right.
func (t Table) writeGrid(w io.Writer) {
	if len(t.Columns) == 0 {
		return
	}
	all := [][]string{nil}
	for _, c := range t.Columns {
		all[0] = append(all[0], c.head())
	}
	all = append(all, t.Lines...)
	wide := make([]int, len(t.Columns))
	number := make([]bool, len(t.Columns))
	for i := range number {
		number[i] = true
	}
	for n, line := range all {
		for i, cell := range line[:min(len(line), len(wide))] {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
			if n > 0 && strings.Trim(cell, "0123456789.,±–- ") != "" {
				number[i] = false
			}
		}
	}
	for _, line := range all {
		var b strings.Builder
		for i, cell := range line[:min(len(line), len(wide))] {
			gap := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if number[i] {
				b.WriteString("  " + gap + cell)
			} else {
				b.WriteString("  " + cell + gap)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	if len(t.Rows) > 0 {
		fmt.Fprintln(w)
	}
}
