package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/report/page"
	"github.com/hexmage/hexmage/internal/runlog"
)

// reportCmd is `hexmage report [RUN]`.
type reportCmd struct {
	Which    string `arg:"" optional:"" name:"run" default:"@1" help:"A run that hexmage runs lists: an id, its first digits, or @1 for the newest; or a file that hexmage runs --export wrote."`
	Output   string `short:"o" placeholder:"FILE" help:"Where the page goes; - for standard output. Default: report.html."`
	Baseline string `placeholder:"RUN" help:"The run that metrics are set beside. Default: the newest earlier one of the pipeline and profile that has any."`
}

// Help has the examples of `hexmage report --help`.
func (*reportCmd) Help() string {
	return `One HTML file that needs nothing else: steps and what they took, why each ran, metrics, tables, checks, versions. Any browser opens it, without a network.

Examples:

    hexmage report                                     the newest run, in report.html
    hexmage report @2 -o before.html
    hexmage report 3f9a --baseline 77c1                metrics beside those of another run
    hexmage report theirs.json -o - | less             a run that somebody else exported`
}

// Run writes the page.
func (c *reportCmd) Run(ctx context.Context, a *app) error {
	d, err := a.document(ctx, c.Which, false)
	if err != nil {
		return err
	}
	base, err := c.baseline(ctx, a, d)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := page.Write(&b, d, base); err != nil {
		return engineError(err)
	}
	if c.Output == "-" {
		_, err := a.Env.Stdout.Write(b.Bytes())
		return err
	}
	name := c.Output
	if name == "" {
		name = "report.html"
	}
	at, err := a.place(absolute(a.WorkDir, name))
	if err != nil {
		return err
	}
	if err := atomicfile.PlaceFile(at, b.Bytes(), 0o644); err != nil {
		return usageError("%w", err)
	}
	if a.JSON {
		return a.printJSON(map[string]any{"format": "hexmage-report/0", "run": d.ID, "path": at, "bytes": b.Len()})
	}
	fmt.Fprintf(a.Env.Stdout, "%s: run %s of %s\n", name, d.ID, d.Pipeline)
	return nil
}

// baseline is the run that metrics are set beside, nil if there is none.
func (c *reportCmd) baseline(ctx context.Context, a *app, d *history.Document) (*history.Document, error) {
	if c.Baseline != "" {
		return a.document(ctx, c.Baseline, false)
	}
	if len(d.Metrics()) == 0 || strings.HasSuffix(c.Which, ".json") {
		return nil, nil
	}
	r, err := a.findRun(c.Which)
	if err != nil {
		return nil, err
	}
	measured := func(run *runlog.Run) bool {
		return len((&history.Document{Outputs: run.Summary.Outputs}).Metrics()) > 0
	}
	earlier := r.book.Earlier(r.Run(), measured)
	if earlier == nil {
		return nil, nil
	}
	return a.documentOf(ctx, r.book, earlier, false)
}
