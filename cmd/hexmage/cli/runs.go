package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/history/collect"
	"github.com/hexmage/hexmage/internal/runlog"
)

// runsCmd is `hexmage runs [PIPELINE]`.
type runsCmd struct {
	Pipeline string `arg:"" optional:"" help:"List only runs of this pipeline. Default: runs of all pipelines."`
	Number   int    `short:"n" default:"20" placeholder:"N" help:"List at most N runs. 0 lists all runs. Default: 20."`
	Export   string `placeholder:"RUN" help:"Print this run as JSON, for 'hexmage compare' and 'hexmage report' on another machine. RUN is @N or an id from the list. The first four digits of an id suffice."`
}

// Help returns the examples of `hexmage runs --help`.
func (*runsCmd) Help() string {
	return `The list omits runs that found everything up to date. @1 is the newest run, and @2 is the second-newest run.

Examples:

    hexmage runs                                               the last 20 runs, newest first
    hexmage runs qwen3-aot-v79 -n 0                            all runs of one pipeline
    hexmage runs --json | jq -r 'select(.result != "ok").id'   the ids of failed runs
    hexmage runs --export @1 > run.json                        write the newest run to a file for another machine`
}

// listedRun is a run in the output of `hexmage runs --json`.
type listedRun struct {
	Format   string         `json:"format"`
	At       int            `json:"at"` // @1 is the newest
	ID       string         `json:"id"`
	Started  time.Time      `json:"started"`
	Pipeline string         `json:"pipeline"`
	Profile  string         `json:"profile,omitempty"`
	Result   history.Result `json:"result"`
	Seconds  float64        `json:"seconds"`
	Executed int            `json:"executed"`
	Cached   int            `json:"cached"`
	Failed   int            `json:"failed"`
	NotRun   int            `json:"not_run"`
}

// Run lists past runs, or prints one past run.
func (c *runsCmd) Run(ctx context.Context, a *app) error {
	if c.Export != "" {
		d, err := a.document(ctx, c.Export, true)
		if err != nil {
			return err
		}
		return writeJSON(a.Env.Stdout, d)
	}
	if c.Number < 0 {
		return usageError("-n %d: must be 0 or more", c.Number)
	}
	var rows [][]string
	for i, r := range a.recorded() {
		if len(rows) == c.Number && c.Number > 0 {
			break
		}
		if c.Pipeline != "" && r.pipeline != c.Pipeline {
			continue
		}
		run := r.Run()
		if run == nil {
			continue // a corrupt run
		}
		l := listedRun{Format: "hexmage-runs/0", At: i + 1, ID: r.ID, Started: run.Started, Pipeline: run.Pipeline,
			Profile: run.Profile, Result: history.ResultOf(run), Seconds: run.Took.Seconds(),
			Executed: run.Executed, Cached: run.Cached, Failed: run.Failed, NotRun: run.NotRun}
		rows = append(rows, l.row())
		if a.JSON {
			if err := writeJSON(a.Env.Stdout, l); err != nil {
				return err
			}
		}
	}
	switch {
	case a.JSON:
	case len(rows) == 0:
		a.print("no runs are recorded in this workspace; run `hexmage run PIPELINE` first\n")
	default:
		a.print(columns(rows))
	}
	return nil
}

func (l listedRun) row() []string {
	what := fmt.Sprintf("%d executed, %d cached", l.Executed, l.Cached)
	if l.Failed > 0 {
		what += fmt.Sprintf(", %d failed", l.Failed)
	}
	if l.NotRun > 0 {
		what += fmt.Sprintf(", %d not run", l.NotRun)
	}
	return []string{"@" + strconv.Itoa(l.At), l.ID, l.Started.Local().Format(time.DateTime), l.Pipeline,
		cmp.Or(l.Profile, "-"), string(l.Result), cmp.Or(also(l.Seconds != 0, seconds(l.Seconds)), "-"), what}
}

// recordedRun is a run of the run log.
type recordedRun struct {
	runlog.Ref
	pipeline string
	book     *runlog.History
}

// recorded returns the runs of the workspace, newest first.
func (a *app) recorded() (all []recordedRun) {
	for _, p := range a.pipelines() {
		book := runlog.Open(a.runLogOf(p))
		for _, r := range book.Refs() {
			all = append(all, recordedRun{r, p, book})
		}
	}
	slices.SortStableFunc(all, func(x, y recordedRun) int { return y.Started.Compare(x.Started) })
	return all
}

// leastID is the minimum number of digits that name a run.
const leastID = 4

// isExport reports whether a run is named by a file of --export.
func isExport(name string) bool {
	return strings.HasSuffix(name, ".json") || strings.ContainsAny(name, `/\`)
}

// document returns a run by its name in the run log, or from a file of --export. With of, it includes the content of
// keys, as --export writes it.
func (a *app) document(ctx context.Context, name string, of bool) (*history.Document, error) {
	if isExport(name) {
		return a.exported(name)
	}
	r, err := a.findRun(name)
	if err != nil {
		return nil, err
	}
	run := r.Run()
	if run == nil {
		return nil, engineError(fmt.Errorf("the record of run %s is corrupt; choose another run", r.ID))
	}
	return a.documentOf(ctx, r.book, run, of)
}

func (a *app) documentOf(ctx context.Context, book *runlog.History, run *runlog.Run,
	of bool) (*history.Document, error) {
	blobs, results, err := a.knownStores()
	if err != nil {
		return nil, engineError(err)
	}
	var hide *explain.Hider
	if of {
		hide = a.hider()
	}
	d, err := collect.Document(ctx, book, run, collect.Stores{Blobs: blobs, Results: results}, hide)
	if err != nil {
		return nil, engineError(err)
	}
	return d, nil
}

// hider returns a filter that removes private data from a document.
func (a *app) hider() *explain.Hider {
	return explain.NewHider(map[string]string{explain.Workspace: a.here(), "cache": a.Cache,
		"shipped": a.places().Shipped(), "home": a.Env.Var("HOME"), "temp": os.TempDir()},
		"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", // of the system
		"/data/local", "/vendor", "/system") // of phones
}

// findRun returns the run with the name.
func (a *app) findRun(name string) (recordedRun, error) {
	all := a.recorded()
	at, numbered := strings.CutPrefix(name, "@")
	if len(all) == 0 {
		return recordedRun{}, usageError("no runs are recorded in this workspace; run `hexmage run PIPELINE` first")
	}
	if numbered {
		n, err := strconv.Atoi(at)
		if err != nil || n < 1 || n > len(all) {
			return recordedRun{}, usageError(
				"unknown run %s; use a run from @1 (the newest) to @%d (the oldest)", name,
				len(all))
		}
		return all[n-1], nil
	}
	var found []recordedRun
	for _, r := range all {
		if len(name) >= leastID && strings.HasPrefix(r.ID, name) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return recordedRun{}, usageError("unknown run %q; give an id from `hexmage runs` (at least %d digits), @1 "+
			"for the newest run, or an exported *.json file", name, leastID)
	case 1:
		return found[0], nil
	}
	return recordedRun{}, usageError(
		"the ids of %d runs begin with %s; give more digits",
		len(found), name)
}

// exported reads a file of --export, from any machine.
func (a *app) exported(name string) (*history.Document, error) {
	b, err := boundedfile.Read(absolute(a.WorkDir, name), history.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError("no such file: %s; create the file with `hexmage runs --export`", name)
	}
	if err != nil {
		return nil, usageError("%w", err)
	}
	d, err := history.Parse(b)
	if err != nil {
		return nil, usageError("%s was not written by `hexmage runs --export`: %w", name, err)
	}
	return d, nil
}
