package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
)

// sinks passes each event on to all of them, in order.
type sinks []event.Sink

// Send implements event.Sink.
func (s sinks) Send(e event.Event) {
	for _, next := range s {
		next.Send(e)
	}
}

// watching is all that watches a run: it is shown, it is estimated how long it will go on, and what it did is written down.
type watching struct {
	event.Sink
	a        *app
	record   *runlog.Recorder
	estimate *runlog.Estimator // nil: nobody sees it
	shown    func()
}

// watch has a run shown as usual, or by show if that is not nil.
func (a *app) watch(workspace, pipeline string, shown event.Sink) *watching {
	w := &watching{a: a, shown: func() {}}
	dir := a.historyOf(workspace, pipeline)
	w.record = runlog.Record(dir, runlog.Info{Pipeline: pipeline, Variables: a.variables(), Version: binaryVersion(), Jobs: a.Jobs, Started: time.Now()}, runlog.Limits{})
	var show event.Sink
	switch {
	case shown != nil:
		w.Sink = sinks{shown, w.record}
		return w
	case a.JSON:
		show = report.JSON(a.env.Stdout)
	case a.live:
		show, w.shown = a.display(func() (time.Duration, bool) { return w.estimate.Left() })
	default:
		show, w.shown = a.display(nil)
	}
	if a.JSON || a.live {
		w.estimate = runlog.Estimate(show, a.Jobs, func() *runlog.Book { return runlog.Open(dir) })
		show = w.estimate
	}
	w.Sink = sinks{show, w.record}
	return w
}

// plan tells more of the run, where it is planned.
func (w *watching) plan(p *plan.Plan) {
	w.record.Toolchains(toolchainVersions(p))
	if w.estimate == nil {
		return
	}
	nodes := make([]runlog.Instance, len(p.Instances))
	for i, n := range p.Instances {
		nodes[i].Step = n.At.Short()
		for _, d := range n.Needs() {
			nodes[i].Needs = append(nodes[i].Needs, d.Short())
		}
	}
	w.estimate.Plan(nodes)
}

// end is to be called when the run has ended.
func (w *watching) end() {
	w.shown()
	if err := w.record.Err(); err != nil && w.a.Verbose {
		fmt.Fprintf(w.a.env.Stderr, "hexmage: this run is not in the history: %v\n", err)
	}
}

// historyOf is the folder with the runs of a workspace's pipeline.
func (a *app) historyOf(workspace, pipeline string) string {
	if filepath.Dir(workspace) == filepath.Join(a.cache, "shipped") { // its name changes with hexmage
		workspace = "shipped"
	}
	return runlog.Folder(filepath.Join(a.cache, "state"), workspace, pipeline)
}

// variables is a short digest of the values that the command line and the environment give to variables: enough to see that
// they differ, too little to find out a secret one.
func (a *app) variables() string {
	vars := a.envVars()
	maps.Copy(vars, a.Set)
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		fmt.Fprintf(h, "%q=%q\n", name, vars[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:4]
}

func toolchainVersions(p *plan.Plan) map[string]string {
	versions := map[string]string{}
	for _, n := range p.Instances {
		if n.At.Kind == addrs.Toolchain && n.Version != "" {
			versions[n.At.Name] = n.Version
		}
	}
	return versions
}

// binaryVersion is that of this binary.
func binaryVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
