package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// TextOptions say how Text writes.
type TextOptions struct {
	Width int                                // columns; 0 is 100
	Paint func(s Status, text string) string // colours a word; nil: none
	Steps []Step                             // what is done by hand, after the findings
}

const (
	nameWidth    = 20
	sectionSteps = "by hand, in this order"
)

// Text writes findings for people: sections, a line or a few for each, and at the end what to type next.
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
		o.line(&b, f.Status, string(f.Status), f.Name, f.Detail, f.Remedy)
	}
	if len(o.Steps) > 0 {
		b.WriteString("\n" + sectionSteps + "\n")
	}
	for _, s := range o.Steps {
		o.line(&b, map[State]Status{Done: OK, Next: Missing, Later: Optional}[s.State], string(s.State), s.Name, s.What, s.Do)
	}
	b.WriteString("\n" + summary(found, o))
	_, err := io.WriteString(w, b.String())
	return err
}

// line writes one thing that was looked at.
func (o TextOptions) line(b *strings.Builder, s Status, state, name, what, do string) {
	const before = 2 + 10
	fmt.Fprintf(b, "  %s%-*s", o.Paint(s, fmt.Sprintf("%-10s", state)), nameWidth, name)
	indent := before + nameWidth + 1
	if utf8.RuneCountInString(name) > nameWidth { // a long name has its own line
		b.WriteString("\n" + strings.Repeat(" ", indent))
	} else {
		b.WriteByte(' ')
	}
	b.WriteString(wrap(what, o.Width, indent) + "\n")
	if s != OK && do != "" {
		b.WriteString(strings.Repeat(" ", indent) + "→ " + wrap(do, o.Width, indent+2) + "\n")
	}
}

// wrap breaks a text at blanks so that no line goes beyond width, where words allow; lines after the first are indented.
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

// summary counts, and says which commands to type.
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
	left := 0
	for _, s := range o.Steps {
		if s.State != Done {
			left++
		}
	}
	var b strings.Builder
	switch {
	case missing == 0 && left > 0: // said below
	case missing == 0 && optional == 0:
		b.WriteString(o.Paint(OK, "Nothing is missing.") + "\n")
	case missing == 0 && optional == 1:
		b.WriteString(o.Paint(OK, "Nothing is missing.") + " One thing is optional.\n")
	case missing == 0:
		fmt.Fprintf(&b, "%s %d things are optional: real SDKs, models and phones want them.\n", o.Paint(OK, "Nothing is missing."), optional)
	default:
		fmt.Fprintf(&b, "%s, %d optional.\n", o.Paint(Missing, fmt.Sprintf("%d missing", missing)), optional)
	}
	cmds, title := Commands(found, nil), "next"
	if i := slices.IndexFunc(o.Steps, func(s Step) bool { return s.State == Next }); i >= 0 {
		next := o.Steps[i]
		fmt.Fprintf(&b, "%s left to do by hand: %d of %d.\n\nnext: %s\n", o.Paint(Missing, "Steps"), left, len(o.Steps), next.Name)
		if next.Command != "" {
			b.WriteString("  " + next.Command + "\n")
		} else {
			b.WriteString("  " + wrap(next.Do, o.Width, 2) + "\n")
		}
		b.WriteString("  Then ask doctor again, which goes on from there.\n")
		title = "also"
		cmds = slices.DeleteFunc(cmds, func(c string) bool { return slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Command == c }) })
	}
	if len(cmds) > 0 {
		b.WriteString("\n" + title + "\n")
		for _, c := range cmds {
			b.WriteString("  " + c + "\n")
		}
	}
	return b.String()
}

// Commands returns the commands that get what is not OK, in order, each once, the packages of all in one; before them that of the step that is next.
func Commands(found []Finding, steps []Step) []string {
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
	if i := slices.IndexFunc(steps, func(s Step) bool { return s.State == Next && s.Command != "" }); i >= 0 {
		first := steps[i].Command
		out = slices.Insert(slices.DeleteFunc(out, func(c string) bool { return c == first }), 0, first)
	}
	return out
}
