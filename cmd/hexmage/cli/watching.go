package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
)

// sinks passes each event on to all sinks in order.
type sinks []event.Sink

// Send passes the event to each sink.
func (s sinks) Send(e event.Event) {
	for _, next := range s {
		next.Send(e)
	}
}

// watching observes a run: display, estimate of the remaining time, and run log.
type watching struct {
	event.Sink
	a        *app
	record   *runlog.Recorder
	estimate *runlog.Estimator // nil: not shown
	shown    func()
}

// costs starts to read the costs of the pipeline's actions in earlier runs. The returned function waits for them.
func (a *app) costs(pipeline string) func() runlog.Costs {
	read := sync.OnceValue(func() runlog.Costs { return runlog.Open(a.runLogOf(pipeline)).Costs() })
	go read()
	return read
}

// watch starts a run's default display, or uses shown if it is not nil.
func (a *app) watch(c *runFlags, shown event.Sink, costs func() runlog.Costs) *watching {
	w := &watching{a: a, shown: func() {}}
	dir := a.runLogOf(c.Pipeline)
	info := runlog.Info{Pipeline: c.Pipeline, Variables: a.variables(), Version: binaryVersion(),
		Jobs: a.Jobs, Started: time.Now(), Selected: c.Steps, Host: host()}
	if a.Force.On {
		info.Force = append([]string{""}[:max(0, 1-len(a.Force.Steps))], a.Force.Steps...)
	}
	w.record = runlog.Record(dir, info)
	if shown != nil {
		w.Sink = sinks{shown, w.record}
		return w
	}
	show, end := a.shown(func() (time.Duration, bool) { return w.estimate.Left() })
	w.shown = end
	if a.JSON || a.Live {
		w.estimate = runlog.Estimate(show, a.Jobs, costs)
		show = w.estimate
	}
	w.Sink = sinks{show, w.record}
	return w
}

// plan records the plan.
func (w *watching) plan(p *plan.Plan) {
	w.record.Toolchains(toolchainVersions(p))
	w.record.Steps(stepsOf(p))
	if w.estimate == nil {
		return
	}
	instances := make([]runlog.Instance, len(p.Instances))
	for i, n := range p.Instances {
		instances[i].Step = n.At.Short()
		for _, d := range n.Needs() {
			instances[i].Needs = append(instances[i].Needs, d.Short())
		}
	}
	w.estimate.Plan(instances)
}

// stepsOf returns the steps and toolchains of a plan, without keys, and their dependencies.
func stepsOf(p *plan.Plan) []runlog.Step {
	var all []runlog.Step
	at := map[addrs.Step]int{}
	place := func(s addrs.Step) int {
		s.Module = s.Module.Written()
		i, ok := at[s]
		if !ok {
			i = len(all)
			at[s], all = i, append(all, runlog.Step{Step: s.Short()})
		}
		return i
	}
	type edge struct{ from, to int }
	had := map[edge]bool{}
	for _, n := range p.Instances {
		to := place(n.At.Step)
		n.EachNeed(func(need addrs.Instance) {
			e := edge{place(need.Step), to}
			if e.from != to && !had[e] {
				had[e] = true
				all[to].Needs = append(all[to].Needs, e.from)
			}
		})
	}
	return all
}

// host describes this machine.
func host() map[string]string {
	h := map[string]string{"os": runtime.GOOS, "architecture": runtime.GOARCH,
		"processors": strconv.Itoa(runtime.NumCPU())}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h["kernel"] = strings.TrimSpace(string(b))
	}
	return h
}

// end ends the display, and reports errors of the run log.
func (w *watching) end() {
	w.shown()
	if err := w.record.Err(); err != nil && w.a.Verbose {
		w.a.say("hexmage could not record this run: %v", err)
	}
}

// logsOf returns the folder with the action logs of a pipeline in this workspace.
func (a *app) logsOf(pipeline string) string {
	return filepath.Join(a.places().State().Logs(), filepath.Base(a.runLogOf(pipeline)))
}

// runLogOf returns the folder with the runs of a pipeline in this workspace.
func (a *app) runLogOf(pipeline string) string {
	return runlog.Folder(a.places().State().RunLogs(), a.here(), pipeline)
}

// variables returns a short digest of the variables' values in the command line and the environment. It shows that
// values differ, and is too short to guess a secret one.
func (a *app) variables() string {
	vars := a.envVars()
	maps.Copy(vars, a.Set)
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		fmt.Fprintf(h, "%q=%q\n", name, vars[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:4]
}

// toolchainVersions returns the versions of a plan's toolchains by name.
func toolchainVersions(p *plan.Plan) map[string]string {
	versions := map[string]string{}
	for _, n := range p.Instances {
		if n.At.Kind == addrs.Toolchain && n.Version != "" {
			versions[n.At.Name] = n.Version
		}
	}
	return versions
}

// binaryVersion returns the version of this binary.
func binaryVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// shown returns the default display of a run, and a function to call at its end. left returns the remaining time.
func (a *app) shown(left func() (time.Duration, bool)) (event.Sink, func()) {
	switch {
	case a.JSON:
		return report.JSON(a.Env.Stdout, time.Now), func() {}
	case a.Live:
		return a.display(left)
	}
	show, end := a.display(nil)
	if g := a.gitHub(); g != nil {
		show = sinks{show, g}
	}
	return show, end
}

// gitHub returns a sink that makes GitHub Actions annotate lines of the workspace's files, or nil outside GitHub
// Actions.
func (a *app) gitHub() event.Sink {
	if a.JSON || a.Env.Var("GITHUB_ACTIONS") != "true" {
		return nil
	}
	repository := a.Env.Var("GITHUB_WORKSPACE")
	return report.GitHub(a.Env.Stdout, func(file string) string {
		if rel, ok := below(repository, absolute(a.here(), file)); ok {
			return rel
		}
		return file
	})
}

// display returns a sink for people, and a function to call at its end. left, if not nil, returns the remaining time of
// the build.
func (a *app) display(left func() (time.Duration, bool)) (event.Sink, func()) {
	o := a.reportOptions()
	o.Left = left
	d := report.Lines(a.Env.screen(), o)
	back := a.interrupts.notify(d.Note)
	return d, func() { back(); d.Close() }
}

// maxParts is the largest number of listed parts of one output. More parts are one line with their number and folder.
const maxParts = 8

// showOutputs prints tables among the outputs for people, and the paths of other outputs.
func (a *app) showOutputs(outs []event.OutputReady) error {
	if a.JSON {
		return nil
	}
	parts := map[string]int{} // number by output
	for _, o := range outs {
		parts[partOf(o)]++
	}
	var text strings.Builder
	var rows [][]string
	said := map[string]bool{}
	for _, o := range outs {
		of := partOf(o)
		path, err := filepath.Rel(a.Env.Dir, o.Path)
		if err != nil {
			path = o.Path
		}
		switch {
		case o.Show == "table":
			text.WriteString(columns(rows))
			rows = nil
			if err := showTable(&text, o); err != nil {
				return err
			}
		case of == "" || parts[of] <= maxParts:
			rows = append(rows, []string{"  " + o.Name, path})
		case !said[of]:
			said[of] = true
			rows = append(rows, []string{"  " + of + ".*",
				fmt.Sprintf("%s (%d outputs)", filepath.Join(filepath.Dir(path), of+".*"), parts[of])})
		}
	}
	a.print(text.String() + columns(rows))
	return nil
}

// partOf returns the pipeline's output that contains o, or "".
func partOf(o event.OutputReady) string {
	if name, _, part := strings.Cut(o.Name, "."); part && o.Show == "" {
		return name
	}
	return ""
}

func showTable(w io.Writer, o event.OutputReady) error {
	b, err := os.ReadFile(o.Path)
	if err != nil {
		return engineError(err)
	}
	t, err := report.ParseTable(b)
	if err != nil {
		return engineError(fmt.Errorf("output %q: %w", o.Name, err))
	}
	t.Write(w)
	return nil
}
