package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
)

// Brief prints, for each build that `hexmage watch` starts, one line and then the failures.
type Brief struct {
	w io.Writer

	mu      sync.Mutex
	lines   lines
	changed []string
	ran     []string        // steps with executed actions
	failed  map[string]bool // failures shown since the last save
	news    bool            // the last build had a new failure
}

// NewBrief returns a Brief that writes to w.
func NewBrief(w io.Writer, o Options) *Brief {
	return &Brief{w: w, lines: lines{o: Options{Color: o.Color, Width: o.Width}, steps: newSteps()}}
}

// Send implements event.Sink. It prints a line when watching starts. It prints each warning and new failure
// immediately.
func (b *Brief) Send(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case event.WatchStarted:
		how := ""
		if e.Polling {
			how = " by polling"
		}
		what := "the pipeline files" // no file count: the pipeline has errors
		if e.Files > 0 {
			what = Count(e.Files, "file")
		}
		fmt.Fprintf(b.w, "%s\n", b.lines.dim(fmt.Sprintf("watching %s%s; press Ctrl-C to stop", what, how)))
	case event.FilesChanged:
		b.changed, b.ran, b.failed = e.Paths, nil, nil
	case event.BuildStarted:
		b.lines.checks, b.news = nil, false
	case event.CheckFinished:
		b.lines.checks = append(b.lines.checks, e)
	case event.ActionFinished:
		if e.Outcome == event.Executed && !slices.Contains(b.ran, e.Step) {
			b.ran = append(b.ran, e.Step)
		}
		if e.Warning != "" {
			b.print(indent(b.lines.yellow("note: ")+e.Step+": "+e.Warning, "  ") + "\n")
		}
		if e.Failure == nil {
			return
		}
		// a build without a save looks at new files, and may repeat the previous failure
		if text := b.lines.failure(e); !b.failed[text] {
			if b.failed == nil {
				b.failed = map[string]bool{}
			}
			b.failed[text], b.news = true, true
			b.print(text)
		}
	}
}

// News reports whether the last build had a new failure: one that Brief had not printed before.
func (b *Brief) News() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.news
}

// Done prints the line that ends a build, or nothing if the build had nothing to do. The argument took is the time from
// saving a file until the outputs are ready. The argument ended is a text that describes how the build ended.
func (b *Brief) Done(sum event.BuildFinished, took time.Duration, ended string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what := Count(sum.Executed, "action")
	switch {
	case sum.Failed > 0:
		what = b.lines.red("failed") + ": " + what + " ran; outputs remain from the last successful build"
	case ended != "":
		what = b.lines.yellow(ended)
	case sum.Executed == 0:
		what = b.lines.green("up to date") + ", from the cache"
	case len(b.ran) > 0:
		what = b.lines.green("built") + ": " + what + " (" + some(b.ran, 3) + ")"
	}
	b.print(fmt.Sprintf("%s  %s  %s  %s\n", b.lines.dim(time.Now().Format(time.TimeOnly)), some(b.changed, 2), what,
		b.lines.dim(Seconds(took))))
	b.print(strings.TrimPrefix(b.lines.checkTable(), "\n"))
}

func (b *Brief) print(text string) { fmt.Fprint(b.w, ansi.Visible(text, b.lines.o.Color)) }

// some returns the first n names, and the number of the others.
func some(all []string, n int) string {
	if len(all) > n {
		return strings.Join(all[:n], ", ") + fmt.Sprintf(" and %d more", len(all)-n)
	}
	return strings.Join(all, ", ")
}
