package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
)

// GitHub returns a sink that prints errors and warnings as workflow commands of GitHub Actions. GitHub shows these
// messages next to the source lines. The function name converts the path of a workspace file to a path relative to the
// root of the repository.
func GitHub(w io.Writer, name func(file string) string) event.Sink { return &github{w, name} }

type github struct {
	w    io.Writer
	name func(string) string
}

// Send implements event.Sink.
func (g *github) Send(e event.Event) {
	switch e := e.(type) {
	case event.ActionFinished:
		if f := e.Failure; f != nil {
			title := strings.TrimSpace(e.Step + " " + e.Name)
			at, said := firstError(f.Output)
			if said == "" {
				at, said = placeOf(f.Where), f.Summary
			}
			g.annotate("error", at, title, strings.Join(append([]string{said}, f.Hints...), "\n"))
		}
	case event.CheckFinished:
		if e.Result == event.CheckFailed {
			g.annotate(e.Severity, placeOf(e.Where), e.Check, e.Message)
		}
	case event.Diagnostic:
		g.annotate(e.Severity, place{e.File, e.Line, e.Column}, e.Summary, e.Detail)
	}
}

// place is the place of an error. line and column count from 1; 0 means unknown.
type place struct {
	file         string
	line, column int
}

func (g *github) annotate(severity string, at place, title, text string) {
	var b strings.Builder
	b.WriteString("::" + severity + " ")
	if at.file != "" {
		fmt.Fprintf(&b, "file=%s,", property(g.name(at.file)))
	}
	if at.line > 0 {
		fmt.Fprintf(&b, "line=%d,", at.line)
	}
	if at.column > 0 {
		fmt.Fprintf(&b, "col=%d,", at.column)
	}
	fmt.Fprintf(&b, "title=%s::%s\n", property(title), data(text))
	_, _ = io.WriteString(g.w, b.String()) // the reader may have closed the pipe
}

func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

// placeOf parses "file:12".
func placeOf(where string) place {
	file, line, _ := strings.Cut(where, ":")
	n, _ := strconv.Atoi(line)
	return place{file: file, line: max(0, n)}
}

// firstError returns the first error of a compiler in the output of a command, in the format of GCC and Clang:
// "a.c:3:5: error: no x".
func firstError(printed string) (place, string) {
	for line := range strings.Lines(printed) {
		before, said, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " error: ")
		before = strings.TrimSuffix(before, " fatal")
		parts := strings.Split(strings.TrimSuffix(before, ":"), ":")
		if !ok || !strings.HasSuffix(before, ":") || len(parts) < 2 || parts[0] == "" ||
			strings.ContainsAny(parts[0], " \t") {
			continue
		}
		at := place{file: parts[0]}
		var err error
		if at.line, err = strconv.Atoi(parts[1]); err != nil || at.line < 1 {
			continue
		}
		if len(parts) > 2 {
			at.column, _ = strconv.Atoi(parts[2])
		}
		return at, said
	}
	return place{}, ""
}
