package report

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
)

// leastMessage is the minimum width of a check's message, in columns.
const leastMessage = 32

// checkTable returns the results of the build's checks, one line each. It lists the checks of steps that were not
// selected by name.
func (l *lines) checkTable() string {
	checks := l.checks
	l.checks = nil
	var shown []event.CheckFinished
	var out []string // names of checks that were not selected
	wide := 0
	for _, c := range checks {
		if c.Result == event.CheckNotSelected {
			out = append(out, c.Check)
			continue
		}
		shown, wide = append(shown, c), max(wide, columns(c.Check))
	}
	if l.o.Width > 0 {
		wide = max(narrowName, min(wide, l.o.Width-len("  not evaluated    warning  ")-leastMessage))
	}
	var b strings.Builder
	if len(shown) > 0 {
		b.WriteString("\n" + l.bold("checks") + "\n")
	}
	for _, c := range shown {
		b.WriteString(l.checkLine(c, wide))
	}
	if len(out) > 0 {
		fmt.Fprintf(&b, "%s skipped, because this run omits their steps: %s\n", Count(len(out), "check"),
			some(out, 3))
	}
	return b.String()
}

// checkLine returns a line: " failed check.words error They are 3, fewer than 10."
func (l *lines) checkLine(c event.CheckFinished, wide int) string {
	word, paint, text := string(c.Result), l.red, c.Message
	switch {
	case c.Result == event.CheckPassed:
		paint, text = l.green, c.Description
	case c.Result == event.CheckUnknown:
		word, paint = "not evaluated", l.yellow
	case c.Severity != "error":
		paint = l.yellow
	}
	if c.Result == event.CheckFailed && c.Where != "" &&
		!strings.Contains(text, strings.TrimRight(c.Where, "0123456789")) {
		text = strings.TrimRight(text, "\n") + "\nat " + c.Where
	}
	name := c.Check
	if l.o.Width > 0 {
		name = Middle(name, wide)
	}
	name += strings.Repeat(" ", max(0, wide-columns(name)))
	before := fmt.Sprintf("  %s  %s  %-7s", paint(fmt.Sprintf("%-13s", word)), name, c.Severity)
	said := strings.Split(shown(strings.TrimRight(text, "\n")), "\n")
	if c.Result == event.CheckPassed {
		said[0] = l.dim(said[0])
	}
	line := strings.TrimRight(before+"  "+said[0], " ") + "\n"
	for _, more := range said[1:] {
		line += strings.TrimRight(strings.Repeat(" ", len("  not evaluated    warning  ")+wide)+more, " ") + "\n"
	}
	return line
}
