package fetchtool

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Run is the tool's main: `fetch --spec FILE --out PATH`, with args after the tool's name. Progress goes to stderr as
// lines "progress DONE TOTAL TEXT", warnings as "warning: TEXT". It returns the exit code: 0, 1 when fetching failed, 2
// for wrong arguments.
func Run(ctx context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	flags := flag.NewFlagSet(Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	specFile := flags.String("spec", "", "`file` with the spec, as JSON")
	out := flags.String("out", "", "`path` to make")
	downloads := flags.String("downloads", "", "`folder` that keeps downloads")
	offline := flags.Bool("offline", false, "ask no network")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *specFile == "" || *out == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, errUsage)
		return 2
	}
	f, err := os.Open(*specFile)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	defer f.Close()
	spec, err := decode(f)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if *downloads == "" { // nothing is kept then
		dir, err := os.MkdirTemp("", "hexmage-fetch-*")
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		*downloads = dir
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	lines := &progressLines{w: stderr}
	err = Fetch(ctx, spec, *out, Options{Downloads: *downloads, Offline: *offline, Progress: lines.progress, Warn: lines.warn})
	if err != nil {
		lines.print(err.Error() + "\n")
		return 1
	}
	return 0
}

// progressLines writes progress, a few lines a second at most.
type progressLines struct {
	mu   sync.Mutex
	w    io.Writer
	last time.Time
	text string
}

func (p *progressLines) progress(done, total int64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if text == p.text && now.Sub(p.last) < 200*time.Millisecond && done != total {
		return
	}
	p.last, p.text = now, text
	fmt.Fprintf(p.w, "progress %d %d %s\n", done, total, strings.ReplaceAll(text, "\n", " "))
}

func (p *progressLines) warn(text string) {
	p.print("warning: " + strings.ReplaceAll(text, "\n", " ") + "\n")
}

func (p *progressLines) print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.w, text)
}
