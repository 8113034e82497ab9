package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
)

// Brief shows the builds of a watch: one line for each, and what failed.
type Brief struct {
	w io.Writer

	mu      sync.Mutex
	lines   lines
	changed []string
	ran     []string        // steps whose actions ran
	failed  map[string]bool // failures that were shown since the last save
	news    bool            // the last build had one that was not shown before
	now     func() time.Time
}

// NewBrief returns a Brief that writes to w.
func NewBrief(w io.Writer, o Options) *Brief {
	return &Brief{w: w, lines: lines{o: Options{Colour: o.Colour, Width: o.Width}, steps: newSteps()}, now: time.Now}
}

// Send implements event.Sink. A build in which nothing ran leaves no line, unless outputs were put in place: see
// Replaced.
func (b *Brief) Send(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case event.WatchStarted:
		how := ""
		if e.Polling {
			how = ", by looking at them again and again"
		}
		what := "the pipeline files" // of which something is wrong
		if e.Files > 0 {
			what = Count(e.Files, "file")
		}
		fmt.Fprintf(b.w, "%s\n", b.lines.dim(fmt.Sprintf("watching %s%s; Ctrl-C ends it", what, how)))
	case event.FilesChanged:
		b.changed, b.ran, b.failed = e.Paths, nil, nil
	case event.BuildStarted:
		b.lines.checks, b.news = nil, false
	case event.CheckFinished:
		b.lines.checks = append(b.lines.checks, e)
	case event.ActionFinished:
		if e.Outcome == event.Executed && (len(b.ran) == 0 || b.ran[len(b.ran)-1] != e.Step) {
			b.ran = append(b.ran, e.Step)
		}
		if e.Warning != "" {
			b.print(indent(b.lines.yellow("note: ")+e.Step+": "+e.Warning, "  ") + "\n")
		}
		if e.Failure == nil {
			return
		}
		// a build that no save set off looks once more at what is new to it, and may fail as the one before
		if text := b.lines.failure(e); !b.failed[text] {
			if b.failed == nil {
				b.failed = map[string]bool{}
			}
			b.failed[text], b.news = true, true
			b.print(text)
		}
	}
}

// News reports whether the last build had a failure that was not shown before.
func (b *Brief) News() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.news
}

// Done writes the line of a build that took so long, from the save to the outputs. ended is what came of it; nothing
// is said of a build that had nothing to do.
func (b *Brief) Done(sum event.BuildFinished, took time.Duration, ended string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what := Count(sum.Executed, "action")
	switch {
	case sum.Failed > 0:
		what = b.lines.red("failed") + ": " + what + " ran; the outputs are those of the last build that succeeded"
	case ended != "":
		what = b.lines.yellow(ended)
	case sum.Executed == 0:
		what = b.lines.green("as before") + ", from the cache"
	case len(b.ran) > 0:
		what = b.lines.green("built") + ": " + what + " (" + some(b.ran, 3) + ")"
	}
	b.print(fmt.Sprintf("%s  %s  %s  %s\n", b.lines.dim(b.now().Format(time.TimeOnly)), some(b.changed, 2), what,
		b.lines.dim(milliseconds(took))))
	b.print(strings.TrimPrefix(b.lines.checkTable(), "\n"))
}

func (b *Brief) print(text string) { fmt.Fprint(b.w, ansi.Visible(text, b.lines.o.Colour)) }

// some names the first of many.
func some(all []string, n int) string {
	if len(all) > n {
		return strings.Join(all[:n], ", ") + fmt.Sprintf(" and %d more", len(all)-n)
	}
	return strings.Join(all, ", ")
}

// milliseconds is a duration as those who wait for every save want it.
func milliseconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return Seconds(d)
}
