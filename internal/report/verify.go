package report

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
)

// verified is what came of running an action once more: nothing for people when all is the same.
func (l *lines) verified(e event.ActionVerified) string {
	name := strings.TrimSpace(e.Step + " " + e.Name)
	var b strings.Builder
	switch e.Verdict {
	case event.Unverified:
		fmt.Fprintf(&b, "  %s %s: %s\n", l.yellow("not verified"), name, e.Reason)
	case event.Different:
		with := "two runs left different outputs"
		if e.Known {
			with = "it left something else than what the cache has"
		}
		fmt.Fprintf(&b, "\n%s %s: %s\n", l.red("≠"), l.bold(name), with)
		for _, d := range e.Differences {
			b.WriteString(l.difference(d))
		}
		if e.More > 0 {
			fmt.Fprintf(&b, "  and %d more\n", e.More)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (l *lines) difference(d event.Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s\n", l.bold(strings.TrimSpace(plain(d.Path)+" "+l.dim(d.Kind+":"))), d.Detail)
	for _, p := range d.Parts {
		fmt.Fprintf(&b, "    %s\n", plain(p))
	}
	for i, line := range d.Lines {
		sign := "-"
		if i > 0 || d.Kind == "exit code" {
			sign = "+"
		}
		fmt.Fprintf(&b, "    %s %s\n", sign, shown(line))
	}
	for _, h := range d.Hints {
		b.WriteString(indent(l.yellow("looks like ")+h, "    ") + "\n")
	}
	return b.String()
}

func (l *lines) verifySummary(e event.VerifyFinished) string {
	text := fmt.Sprintf("verified: %d the same", e.Same)
	if e.Different > 0 {
		text += ", " + l.red(fmt.Sprintf("%d different", e.Different))
	}
	if e.Unverified > 0 {
		text += fmt.Sprintf(", %d not verified", e.Unverified)
	}
	return text + "\n"
}
