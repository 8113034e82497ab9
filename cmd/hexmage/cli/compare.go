package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
)

// compareCmd is `hexmage compare A B`.
type compareCmd struct {
	A string `arg:"" optional:"" help:"Older run: an id or @N from 'hexmage runs', or a file that 'hexmage runs --export' wrote. The first four digits of an id suffice. Default: the last run before <b> with the same pipeline and profile."`
	B string `arg:"" optional:"" default:"@1" help:"Newer run, in the same forms as <a>. Default: @1, the newest run."`
}

// Help returns the examples of `hexmage compare --help`.
func (*compareCmd) Help() string {
	return `Prints what changed from run <a> to run <b>: settings, tools, inputs, times, outputs, checks and
metrics. For a metric that was measured several times, also prints whether the change exceeds the spread of the
measurements.

Examples:

    hexmage compare                              the newest run and the run before it
    hexmage compare 3f9a @1                      the run with id 3f9a and the newest run
    hexmage compare theirs.json @1               a run from another machine and the newest run
    hexmage compare @2 @1 --json | jq .metrics   the metrics of the last two runs, as JSON`
}

// Run compares two runs.
func (c *compareCmd) Run(ctx context.Context, a *app) error {
	y, err := a.document(ctx, c.B, true)
	if err != nil {
		return err
	}
	x, err := c.first(ctx, a, y)
	if err != nil {
		return err
	}
	found := history.Compare(x, y)
	var b strings.Builder
	for _, d := range []struct {
		name string
		*history.Document
	}{{"A", x}, {"B", y}} {
		fmt.Fprintf(&b, "%s  %s  %s  %s: %s, %d executed, %d cached in %s\n", d.name, d.ID,
			d.Started.Local().Format(time.DateTime), strings.TrimSpace(d.Pipeline+" "+d.Profile), d.Result,
			d.Executed, d.Cached, seconds(d.Seconds))
	}
	writeComparison(&b, found)
	return a.show(struct {
		Format string `json:"format"`
		A      string `json:"a"`
		B      string `json:"b"`
		*history.Comparison
	}{"hexmage-compare/0", x.ID, y.ID, found}, "%s", &b)
}

// first returns the run A.
func (c *compareCmd) first(ctx context.Context, a *app, b *history.Document) (*history.Document, error) {
	if c.A != "" {
		return a.document(ctx, c.A, true)
	}
	r, err := a.findRun(c.B)
	if err != nil {
		return nil, err
	}
	earlier := r.book.Earlier(r.Run(), func(*runlog.Run) bool { return true })
	if earlier == nil {
		return nil, usageError("no earlier run of %s with this profile; name the two runs to compare, as in `hexmage "+
			"compare A B`", b.Pipeline)
	}
	return a.documentOf(ctx, r.book, earlier, true)
}

func writeComparison(b *strings.Builder, c *history.Comparison) {
	before := b.Len()
	changes := func(title string, all []history.Change) {
		if len(all) == 0 {
			return
		}
		fmt.Fprintf(b, "\n%s\n", title)
		for _, d := range all {
			fmt.Fprintf(b, "  %s\n", changeLine(d))
		}
	}
	changes("settings", c.Settings)
	changes("toolchains", c.Tools)
	changes("machine", c.Host)
	if len(c.Steps) > 0 {
		b.WriteString("\nsteps\n")
	}
	for _, s := range c.Steps {
		stepLines(b, s)
	}
	changes("outputs", c.Outputs)
	changes("checks", c.Checks)
	if rows := metricRows(c.Metrics); len(rows) > 0 {
		fmt.Fprintf(b, "\nmetrics\n%s", columns(rows))
	}
	if b.Len() == before {
		b.WriteString("\nonly times differ\n")
	}
	if len(c.Steps) > 0 && c.Same > 0 {
		fmt.Fprintf(b, "\nunchanged steps: %d\n", c.Same)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
}

func changeLine(d history.Change) string {
	switch {
	case d.A == "":
		return d.Name + ": only in B: " + d.B
	case d.B == "":
		return d.Name + ": only in A: " + d.A
	}
	return d.Name + ": " + d.A + " → " + d.B
}

func stepLines(b *strings.Builder, s history.StepChange) {
	fmt.Fprintf(b, "  %s: %s", s.Step, s.Change)
	if s.Ran[0]+s.Ran[1] > 0 {
		fmt.Fprintf(b, ", %s → %s", ranFor(s, 0), ranFor(s, 1))
	}
	if s.Outputs != "" {
		fmt.Fprintf(b, ", outputs %s", map[string]string{"differ": "differ", "the same": "are the same"}[s.Outputs])
	}
	b.WriteString("\n")
	for i, d := range s.Inputs {
		if i == shownFew {
			fmt.Fprintf(b, "    and %d more; --json shows %d of these\n", len(s.Inputs)-i+s.More, len(s.Inputs)-i)
			break
		}
		fmt.Fprintf(b, "    %s\n", changeLine(d))
		for j, in := range d.Inside {
			if j == insideFew {
				break
			}
			fmt.Fprintf(b, "      %s\n", changeLine(in))
		}
		if n := len(d.Inside) + d.More - insideFew; n > 0 {
			fmt.Fprintf(b, "      and %d more\n", n)
		}
	}
	if s.Unknown != "" {
		fmt.Fprintf(b, "    unknown: %s\n", s.Unknown)
	}
}

// ranFor returns how long a step's actions ran in a run.
func ranFor(s history.StepChange, which int) string {
	if s.Ran[which] == 0 {
		return "did not run"
	}
	return seconds(s.Seconds[which])
}

// metricRows returns rows of different metrics.
func metricRows(all []history.MetricChange) (rows [][]string) {
	for _, c := range all {
		if c.Verdict == history.Equal {
			continue
		}
		m := c.Metric()
		name := cmp.Or(m.Label, m.Name)
		if m.Variant != "" {
			name = m.Variant + ": " + name
		}
		ratio := ""
		if c.Ratio != 0 {
			ratio = fmt.Sprintf("%+.1f %%", 100*(c.Ratio-1))
		}
		rows = append(rows, []string{"  " + m.Output, name, metricText(c.A), "→", metricText(c.B), ratio,
			string(c.Verdict)})
	}
	return rows
}

func metricText(m *history.Metric) string {
	if m == nil {
		return "-"
	}
	return report.Value(m.Unit, m.Value, m.Spread, m.N)
}
