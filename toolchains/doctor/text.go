package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// TextOptions configure Text.
type TextOptions struct {
	Width int                                // columns; 0: 100
	Paint func(s Status, text string) string // colors a word; nil: no colors
}

const nameWidth = 20

// Text writes findings as text: sections with one or more lines per finding, then the commands to run next.
func Text(w io.Writer, found []Finding, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	if o.Paint == nil {
		o.Paint = func(_ Status, text string) string { return text }
	}
	var b strings.Builder
	section := ""
	for _, f := range found {
		if f.Section != section {
			if section = f.Section; b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(section + "\n")
		}
		o.line(&b, f)
	}
	b.WriteString("\n" + summary(found, o))
	_, err := io.WriteString(w, b.String())
	return err
}

func (o TextOptions) line(b *strings.Builder, f Finding) {
	const before = 2 + 10
	fmt.Fprintf(b, "  %s%-*s", o.Paint(f.Status, fmt.Sprintf("%-10s", f.Status)), nameWidth, f.Name)
	indent := before + nameWidth + 1
	if utf8.RuneCountInString(f.Name) > nameWidth { // a long name has its own line
		b.WriteString("\n" + strings.Repeat(" ", indent))
	} else {
		b.WriteByte(' ')
	}
	b.WriteString(wrap(f.Detail, o.Width, indent) + "\n")
	if f.Status != OK && f.Remedy != "" {
		b.WriteString(strings.Repeat(" ", indent) + "→ " + wrap(f.Remedy, o.Width, indent+2) + "\n")
	}
}

// wrap breaks a text at spaces into lines of at most width. Lines after the first are indented.
func wrap(text string, width, indent int) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width && at > indent:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// summary returns the counts and the next commands.
func summary(found []Finding, o TextOptions) string {
	missing, optional := 0, 0
	for _, f := range found {
		switch f.Status {
		case Missing:
			missing++
		case Optional:
			optional++
		}
	}
	var b strings.Builder
	if missing > 0 {
		b.WriteString(o.Paint(Missing, fmt.Sprintf("%d missing", missing)))
	} else {
		b.WriteString(o.Paint(OK, "Nothing missing"))
	}
	fmt.Fprintf(&b, ", %d optional.\n", optional)
	if cmds := Commands(found); len(cmds) > 0 {
		b.WriteString("\nnext\n")
		for _, c := range cmds {
			b.WriteString("  " + c + "\n")
		}
	}
	return b.String()
}

// Commands returns the commands that install missing parts, in order and without duplicates. One command installs all
// packages.
func Commands(found []Finding) []string {
	const apt = "apt-get install "
	out, packages := []string{}, []string{}
	where := -1
	for _, f := range found {
		names, ok := strings.CutPrefix(f.Command, apt)
		switch {
		case f.Command == "" || f.Status == OK:
		case ok:
			if where < 0 {
				where = len(out)
				out = append(out, "")
			}
			for _, n := range strings.Fields(names) {
				if !slices.Contains(packages, n) {
					packages = append(packages, n)
				}
			}
		case !slices.Contains(out, f.Command):
			out = append(out, f.Command)
		}
	}
	if where >= 0 {
		out[where] = apt + strings.Join(packages, " ")
	}
	return out
}
