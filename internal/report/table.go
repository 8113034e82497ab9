package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is the JSON content of an output with show = "table". Each row has a name, a value and a unit.
type Table struct {
	Title   string `json:"title"`
	Profile string `json:"profile"` // shown in the title, to separate numbers of different profiles
	Note    string `json:"note,omitempty"`
	Rows    []Row  `json:"rows"`

	// columns of repeated measurements under different conditions, shown before the rows
	Columns []Column   `json:"columns,omitempty"`
	Lines   [][]string `json:"lines,omitempty"` // one cell per column
}

// Row is one measured value.
type Row struct {
	Name  string          `json:"name"`            // for programs
	Label string          `json:"label,omitempty"` // for users; defaults to the name
	Value json.RawMessage `json:"value"`           // a number or a string
	Unit  string          `json:"unit,omitempty"`
}

// ParseTable parses a Table, or a list of objects. For a list, each object is a line of the table, and the columns are
// the sorted names of the fields.
func ParseTable(b []byte) (Table, error) {
	var t Table
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		var all []map[string]json.RawMessage
		if err := json.Unmarshal(b, &all); err != nil {
			return Table{}, fmt.Errorf("invalid table: %w", err)
		}
		return tableOf(all), nil
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return Table{}, fmt.Errorf("invalid table: %w", err)
	}
	return t, nil
}

func tableOf(objects []map[string]json.RawMessage) (t Table) {
	names := map[string]bool{}
	for _, o := range objects {
		for name := range o {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	for _, o := range objects {
		var cells []string
		for _, c := range t.Columns {
			cell := ""
			if v, ok := o[c.Name]; ok && string(v) != "null" {
				cell = Row{Value: v}.Text()
			}
			cells = append(cells, cell)
		}
		t.Lines = append(t.Lines, cells)
	}
	return t
}

// Write prints the table to w. For an empty table, Write prints nothing.
func (t Table) Write(w io.Writer) {
	if t.Title == "" && t.Note == "" && len(t.Rows)+len(t.Columns) == 0 {
		return
	}
	wide, wideValue := 0, 0
	values := make([][2]string, len(t.Rows))
	for i, r := range t.Rows {
		values[i] = r.Measured()
		wide = max(wide, utf8.RuneCountInString(r.Title()))
		wideValue = max(wideValue, utf8.RuneCountInString(values[i][0]))
	}
	title := t.Title
	if t.Profile != "" {
		title += "   profile: " + t.Profile
	}
	fmt.Fprintln(w)
	if title != "" {
		fmt.Fprintf(w, "%s\n%s\n", title, strings.Repeat("─", utf8.RuneCountInString(title)))
	}
	t.writeGrid(w)
	for i, r := range t.Rows {
		gap := strings.Repeat(" ", wideValue-utf8.RuneCountInString(values[i][0]))
		label := r.Title() + strings.Repeat(" ", wide-utf8.RuneCountInString(r.Title()))
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %s   %s%s %s", label, gap, values[i][0], values[i][1]), " "))
	}
	if t.Note != "" {
		fmt.Fprintf(w, "%s\n", t.Note)
	}
}

// Add adds a row to the table. The value must be a number or a string.
func (t *Table) Add(name, label string, value any, unit string) {
	raw, _ := json.Marshal(value) // cannot fail for numbers and strings
	t.Rows = append(t.Rows, Row{name, label, raw, unit})
}

// Title returns the row's name for users.
func (r Row) Title() string {
	return cmp.Or(r.Label, r.Name)
}

// Text returns the row's value for users.
func (r Row) Text() string {
	var s string
	if json.Unmarshal(r.Value, &s) == nil {
		return s
	}
	var f float64
	if json.Unmarshal(r.Value, &f) == nil {
		switch {
		case math.Abs(f) >= 1e15:
			return fmt.Sprintf("%g", f)
		case f == math.Trunc(f):
			return fmt.Sprintf("%.0f", f)
		}
		return fmt.Sprintf("%.2f", f)
	}
	return string(r.Value)
}

// Measured returns two texts for users: the row's value and the row's unit.
func (r Row) Measured() [2]string {
	texts, unit := Measured(r.Unit, r.Text())
	return [2]string{texts[0], unit}
}

// Column describes one column of a Table.
type Column struct {
	Name  string `json:"name"`            // for programs
	Label string `json:"label,omitempty"` // for users; defaults to the name
	Unit  string `json:"unit,omitempty"`
}

// Title returns the heading of the column for users.
func (c Column) Title() string {
	s := cmp.Or(c.Label, c.Name)
	if c.Unit != "" {
		s += ", " + unitText(c.Unit)
	}
	return s
}

// number formats a value with its significant digits.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.5g", v)
}

// unitText returns a unit for users.
func unitText(name string) string {
	if name == "us" {
		return "µs"
	}
	return name
}

// Cells returns the texts of the table for users: the headings, followed by all lines. All values of a column have the
// same unit.
func (t Table) Cells() [][]string {
	all := make([][]string, 1+len(t.Lines))
	for i, line := range t.Lines {
		all[i+1] = slices.Clone(line[:min(len(line), len(t.Columns))])
	}
	for i, c := range t.Columns {
		var cells []string
		for _, line := range all[1:] {
			if i < len(line) {
				cells = append(cells, line[i])
			}
		}
		cells, c.Unit = Measured(c.Unit, cells...)
		for _, line := range all[1:] {
			if i < len(line) {
				line[i], cells = cells[0], cells[1:]
			}
		}
		all[0] = append(all[0], c.Title())
	}
	return all
}

// writeGrid prints the lines below their headings: texts left-aligned, numbers right-aligned.
func (t Table) writeGrid(w io.Writer) {
	if len(t.Columns) == 0 {
		return
	}
	all := t.Cells()
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
