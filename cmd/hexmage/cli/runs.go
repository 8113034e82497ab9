package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/history/collect"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// runsCmd is `hexmage runs [PIPELINE]`.
type runsCmd struct {
	Pipeline string `arg:"" optional:"" help:"Only runs of this pipeline."`
	Number   int    `short:"n" default:"20" help:"How many, at most; 0 for all."`
	Export   string `placeholder:"RUN" help:"Print this run as one JSON document, for hexmage compare and report on another machine."`
}

// Help has the examples of `hexmage runs --help`.
func (*runsCmd) Help() string {
	return `A run in which nothing had to be done is not recorded. RUN is an id of the list, its first digits, or @1 for the newest run, @2 for the one before.

Examples:

    hexmage runs                                       newest first
    hexmage runs qwen3-aot-v79 -n 0                    all that are known of one pipeline
    hexmage runs --json | jq -r 'select(.result != "ok").id'
    hexmage runs --export @1 > run.json                for somebody else to compare with`
}

// listedRun is a line of `hexmage runs --json`.
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
	Skipped  int            `json:"skipped"`
}

// Run lists runs, or prints one.
func (c *runsCmd) Run(ctx context.Context, a *app) error {
	if c.Export != "" {
		d, err := a.document(ctx, c.Export, true)
		if err != nil {
			return err
		}
		return a.printJSON(d)
	}
	if c.Number < 0 {
		return usageError("-n %d: want 0 or more", c.Number)
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
			continue // it is damaged
		}
		l := listedRun{Format: "hexmage-runs/0", At: i + 1, ID: r.ID, Started: run.Started, Pipeline: run.Pipeline,
			Profile: run.Profile, Result: history.ResultOf(run), Seconds: run.Took.Seconds(),
			Executed: run.Executed, Cached: run.Cached, Failed: run.Failed, Skipped: run.Skipped}
		rows = append(rows, l.row())
		if a.JSON {
			if err := a.printJSON(l); err != nil {
				return err
			}
		}
	}
	switch {
	case a.JSON:
	case len(rows) == 0:
		fmt.Fprintln(a.Env.Stdout, "no run is on record here: `hexmage run PIPELINE` makes one")
	default:
		fmt.Fprint(a.Env.Stdout, ansi.Visible(columns(rows), false))
	}
	return nil
}

func (l listedRun) row() []string {
	what := fmt.Sprintf("%d executed, %d cached", l.Executed, l.Cached)
	if l.Failed > 0 {
		what += fmt.Sprintf(", %d failed", l.Failed)
	}
	if l.Skipped > 0 {
		what += fmt.Sprintf(", %d skipped", l.Skipped)
	}
	took := seconds(l.Seconds)
	if l.Seconds == 0 {
		took = "-"
	}
	profile := l.Profile
	if profile == "" {
		profile = "-"
	}
	return []string{"@" + strconv.Itoa(l.At), l.ID, l.Started.Local().Format(time.DateTime), l.Pipeline, profile,
		string(l.Result), took, what}
}

// recordedRun is a run of the run log.
type recordedRun struct {
	runlog.Ref
	pipeline string
	book     *runlog.Book
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

// leastID is how many digits of an id name a run.
const leastID = 4

// document returns the run that a command line names: one of the run log, or a file that --export wrote. With of, it
// has what keys were made of, as --export writes it.
func (a *app) document(ctx context.Context, name string, of bool) (*history.Document, error) {
	if strings.HasSuffix(name, ".json") || strings.ContainsAny(name, `/\`) {
		return a.exported(name)
	}
	r, err := a.findRun(name)
	if err != nil {
		return nil, err
	}
	run := r.Run()
	if run == nil {
		return nil, engineError(fmt.Errorf("the record of run %s is damaged", r.ID))
	}
	return a.documentOf(ctx, r.book, run, of)
}

func (a *app) documentOf(ctx context.Context, book *runlog.Book, run *runlog.Run, of bool) (*history.Document, error) {
	stores := collect.Stores{Blobs: memory.NewBlobs(), Results: memory.NewResults()}
	if blobs, results, err := a.stores(); err == nil {
		stores = collect.Stores{Blobs: store.Blobs(blobs), Results: results}
	}
	var hide *explain.Hider
	if of {
		hide = a.hider()
	}
	d, err := collect.Document(ctx, book, run, stores, hide)
	if err != nil {
		return nil, engineError(err)
	}
	return d, nil
}

// hider takes out of a document what is not for others.
func (a *app) hider() *explain.Hider {
	return explain.NewHider(map[string]string{explain.Workspace: a.here(), "cache": a.Cache,
		"shipped": a.places().Shipped(), "home": a.Env.Var("HOME"), "temp": os.TempDir()},
		"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", // of the system's
		"/data/local", "/vendor", "/system") // of phones
}

// findRun returns the run that the name means.
func (a *app) findRun(name string) (recordedRun, error) {
	all := a.recorded()
	at, numbered := strings.CutPrefix(name, "@")
	if len(all) == 0 {
		return recordedRun{}, usageError("no run is on record here: `hexmage run PIPELINE` makes one")
	}
	if numbered {
		n, err := strconv.Atoi(at)
		if err != nil || n < 1 || n > len(all) {
			return recordedRun{}, usageError(
				"there is no run %s: @1 is the newest, @%d the oldest that is known. `hexmage runs` lists them", name,
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
		return recordedRun{}, usageError("there is no run %q in this workspace: give an id that `hexmage runs` lists "+
			"or its first %d digits, @1 for the newest run, or the path of a file that `hexmage runs --export` wrote "+
			"(*.json)", name, leastID)
	case 1:
		return found[0], nil
	}
	return recordedRun{}, usageError(
		"%d runs have an id that begins with %s: give more digits. `hexmage runs` lists them", len(found), name)
}

// exported reads a file that --export wrote, here or elsewhere.
func (a *app) exported(name string) (*history.Document, error) {
	b, err := boundedfile.Read(absolute(a.WorkDir, name), history.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError("there is no file %s: `hexmage runs --export` writes one", name)
	}
	if err != nil {
		return nil, usageError("%w", err)
	}
	d, err := history.Parse(b)
	if err != nil {
		return nil, usageError("%s is not what `hexmage runs --export` writes: %w", name, err)
	}
	return d, nil
}
