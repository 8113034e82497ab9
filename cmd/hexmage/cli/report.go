package cli

import (
	"bytes"
	"cmp"
	"context"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/report/page"
	"github.com/hexmage/hexmage/internal/runlog"
)

// reportCmd is `hexmage report [RUN]`.
type reportCmd struct {
	Which    string `arg:"" optional:"" name:"run" default:"@1" help:"Run: an id or @N from 'hexmage runs', or a file that 'hexmage runs --export' wrote. The first four digits of an id suffice. Default: @1, the newest run."`
	Output   string `short:"o" placeholder:"FILE" help:"Write the report to FILE, or to standard output if FILE is -. Default: report.html."`
	Baseline string `placeholder:"RUN" help:"Compare the metrics with those of RUN, which takes the same forms as <run>. Default: the most recent earlier run that has metrics, with the same pipeline and profile."`
}

// Help returns the examples of `hexmage report --help`.
func (*reportCmd) Help() string {
	return `Writes one HTML file, which needs no other files. The report shows why each step ran, and how long each
step took. The report also shows metrics, tables, checks and versions of tools.

Examples:

    hexmage report                           the newest run, in report.html
    hexmage report @2 -o before.html         the second-newest run, in before.html

    hexmage report 3f9a --baseline 77c1      run 3f9a, and its metrics compared with run 77c1
    hexmage report theirs.json -o - | less   an exported run from another machine, on standard output`
}

// Run writes the report page.
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
	name := cmp.Or(c.Output, "report.html")
	at, err := a.place(absolute(a.WorkDir, name))
	if err != nil {
		return err
	}
	if err := atomicfile.PlaceFile(at, b.Bytes(), 0o644); err != nil {
		return usageError("%w", err)
	}
	return a.show(map[string]any{"format": "hexmage-report/0", "run": d.ID, "path": at, "bytes": b.Len()},
		"%s: run %s of %s\n", name, d.ID, d.Pipeline)
}

// baseline returns the run to compare metrics with, or nil.
func (c *reportCmd) baseline(ctx context.Context, a *app, d *history.Document) (*history.Document, error) {
	if c.Baseline != "" {
		return a.document(ctx, c.Baseline, false)
	}
	if len(d.Metrics()) == 0 || isExport(c.Which) {
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
