package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/doctor"
	"github.com/hexmage/hexmage/toolchains/relock"
)

// preflightCmd is `hexmage preflight PIPELINE [STEP…]`.
type preflightCmd struct {
	Pipeline string   `arg:"" help:"A pipeline: the name of a file in pipelines/ without .hcl, or of a folder there."`
	Steps    []string `arg:"" optional:"" help:"Only these steps (KIND.NAME, module.NAME.KIND.NAME) and what they need."`
}

// Help has the examples of `hexmage preflight --help`.
func (*preflightCmd) Help() string {
	return `It looks at all that a run would look at on its way: whether the files can be planned and versions go together, the lock is up to date, each
server has what is to be downloaded and takes your logins, inputs are there, memory and disk are enough for the steps that will run,
and a phone of the target is attached. It runs no step. Exit code: 0 when it can run, 2 when it cannot.

Examples:

    hexmage preflight qwen3-aot-v79                       before the night
    hexmage preflight qwen3-aot-v79 --profile device      the real SDKs, a real phone
    hexmage preflight qwen3-aot-v79 module.aot.convert.llm
    hexmage --offline preflight qwen3-aot-v79             would it run without network?
    hexmage preflight qwen3-aot-v79 --json | jq '.checks[] | select(.state != "ok")'`
}

// checkState is how a check before a run ends.
type checkState string

const (
	passes  checkState = "ok"
	doubted checkState = "warning" // it can run all the same
	prevent checkState = "cannot"
)

// preCheck is one thing that was looked at before a run.
type preCheck struct {
	What    string     `json:"what"`
	State   checkState `json:"state"`
	Detail  string     `json:"detail"`
	Do      string     `json:"do,omitempty"`
	Command string     `json:"command,omitempty"` // of Do, where it is one
}

// preflight is what is looked at before a run.
type preflight struct {
	*app
	p         *planned
	workspace string
	d         *domain
	w         *reasons
	expected  *expected
	checks    []preCheck
	phoneless string // why no phone answers, with what to do; "" where one does, or none is wanted
}

// Run looks, and says what it found.
func (c *preflightCmd) Run(ctx context.Context, a *app) error {
	f := &preflight{app: a}
	if err := f.plan(ctx, c); err != nil {
		return err
	}
	if f.p != nil {
		for _, look := range []func(context.Context) error{f.versions, f.lacks, f.fetches, f.machine, f.remote, f.phones} {
			if err := look(ctx); err != nil {
				return err
			}
		}
	}
	can := !slices.ContainsFunc(f.checks, func(k preCheck) bool { return k.State == prevent })
	profile := a.Profile
	if f.p != nil {
		profile = f.p.Profile
	}
	if a.JSON {
		if err := a.printJSON(map[string]any{"format": "hexmage-preflight/0", "pipeline": c.Pipeline, "profile": profile, "can_run": can, "checks": f.checks}); err != nil {
			return err
		}
	} else {
		fmt.Fprint(a.Env.Stdout, ansi.Visible(f.text(c.Pipeline, profile, can), a.coloured()))
	}
	if !can {
		return &exitError{Code: ExitUsage} // what prevents it was said
	}
	return nil
}

func (f *preflight) add(what string, state checkState, do, format string, args ...any) {
	f.checks = append(f.checks, preCheck{What: what, State: state, Detail: fmt.Sprintf(format, args...), Do: do, Command: doctor.Quoted(do)})
}

// plan plans the pipeline, and finds out what a run would do. Where it cannot be planned there is nothing else to
// look at.
func (f *preflight) plan(ctx context.Context, c *preflightCmd) error {
	own := *f.app
	var diags hcl.Diagnostics
	own.onDiags = func(more hcl.Diagnostics) { diags = append(diags, more...) }
	p, workspace, err := own.plan(ctx, c.Pipeline, c.Steps)
	if err != nil && !diags.HasErrors() {
		return err
	}
	f.diagnostics(diags)
	if err != nil {
		return nil
	}
	if f.w, err = f.preview(ctx, p, workspace, nil); err != nil {
		return err
	}
	f.p, f.workspace = p, workspace
	if f.d, err = f.domain(workspace); err != nil {
		return err
	}
	s := f.w.status(ctx)
	f.expected = f.w.expect(ctx, workspace, f.Jobs, freeFor(f.Cache), f.Cache)
	f.add("plan", passes, "", "%s%s", s.counts(), f.expected.cost(s))
	said := map[string]bool{}
	for i := range s.Actions {
		if to := &s.Actions[i]; to.Status == engine.WillFail && !said[to.Step+to.Reason] {
			said[to.Step+to.Reason] = true
			f.add(to.Step, prevent, "Run `"+action.Quote([]string{"hexmage", "explain", p.Pipeline, to.Step})+"`, which tells more.", "%s", to.Reason)
		}
	}
	return nil
}

// diagnostics adds what is wrong with the files, or strange, and what does not go together.
func (f *preflight) diagnostics(diags hcl.Diagnostics) {
	for _, d := range diags {
		what, state := "files", doubted
		if d.Severity == hcl.DiagError {
			state = prevent
		}
		detail, do := d.Summary+": "+d.Detail, ""
		if found, ok := d.Extra.(qnn.Finding); ok {
			what, detail, do = "versions", qnn.Sentence(found.Reason)+" ["+found.Rule+"]", qnn.Sentence(found.Remedy)
		}
		if d.Subject != nil {
			detail = config.Where(*d.Subject) + ": " + detail
		}
		f.add(what, state, do, "%s", detail)
	}
}

// versions says what was compared, where nothing spoke against it: planning asks the rules of compat.
func (f *preflight) versions(ctx context.Context) error {
	if slices.ContainsFunc(f.checks, func(k preCheck) bool { return k.What == "versions" }) {
		return nil
	}
	var of []string
	versions := toolchainVersions(f.p.Plan)
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		if f.d.catalogue().SDK(name) != nil {
			of = append(of, name+" "+versions[name])
		}
	}
	cfg, _ := f.load(ctx, f.workspace, f.p.Pipeline)
	var socs []string
	if cfg != nil {
		for _, t := range planner.Targets(cfg, f.SoC) {
			socs = append(socs, t.Name)
		}
	}
	if len(of) > 0 {
		f.add("versions", passes, "", "%s%s: no rule of `hexmage compat` speaks against it", strings.Join(of, ", "), also(len(socs) > 0, ", for "+strings.Join(socs, ", ")))
	}
	return nil
}

// lacks looks at the lock, and at what doctor says that the pipeline lacks.
func (f *preflight) lacks(ctx context.Context) error {
	asked, err := f.requests(ctx, f.p.Pipeline, f.d)
	if err != nil {
		return err
	}
	problems := slices.DeleteFunc(relock.Check(f.d.catalogue(), f.d.lock, asked), func(p relock.Problem) bool { return p.What == "not available" })
	said := []string{"downloads", "ready"}
	for _, p := range problems {
		why, _, _ := strings.Cut(p.Why, ": run `")
		f.add("lock", prevent, lockCommand(f.p.Plan), "%s %s: %s", p.Name, p.Version, why)
		for _, n := range toolchainInstances(f.p.Plan) {
			if n.At.Name == p.Name {
				said = append(said, n.At.Short())
			}
		}
	}
	if len(problems) == 0 && len(asked) > 0 {
		f.add("lock", passes, "", "%s pins all that can be pinned of %s", toolchains.LockFile, counted(len(asked), "release", "releases"))
	}
	of, err := f.lacking(ctx, f.p, f.workspace, asked)
	if err != nil {
		return err
	}
	f.toolchains(of)
	if f.onPhones(func(s *action.Spec) bool { return !ofEmulated(s) }) { // which phones says by itself
		f.phoneless = f.attached()
		of.Missing = slices.DeleteFunc(of.Missing, func(m string) bool { return f.phoneless != "" && strings.HasSuffix(m, ": "+f.phoneless) })
	}
	o := f.doctorOptions(f.d)
	o.Profile, o.Pipelines = f.p.Profile, []doctor.Pipeline{of}
	f.found(doctor.Lacking(o), said...)
	return nil
}

func lockCommand(p *plan.Plan) string {
	return "Run `hexmage lock " + p.Pipeline + also(p.Profile != "", " --profile "+p.Profile) + "`."
}

// toolchains says how each is had.
func (f *preflight) toolchains(of doctor.Pipeline) {
	var all []string
	for _, n := range toolchainInstances(f.p.Plan) {
		how := "still to be unpacked" // of hexmage, or of what was downloaded
		take := of.Takes[doctor.TakeOf(n.At.Name, n.Version)]
		switch {
		case len(n.Missing) > 0:
			continue // said by itself
		case installedAt(n) != "":
			how = "installed at " + installedAt(n)
		case take.Stored:
			how = "in the store"
		case take.Download > 0:
			how = "to be downloaded"
		}
		all = append(all, fmt.Sprintf("%s %s %s", n.At.Name, n.Version, how))
	}
	if len(all) > 0 {
		f.add("toolchains", passes, "", "%s", strings.Join(all, ", "))
	}
}

// found adds what doctor found, but for what is named.
func (f *preflight) found(all []doctor.Finding, but ...string) {
	for _, x := range all {
		if slices.Contains(but, x.Name) {
			continue
		}
		state := map[doctor.Status]checkState{doctor.OK: passes, doctor.Optional: doubted, doctor.Missing: prevent}[x.Status]
		f.checks = append(f.checks, preCheck{x.Name, state, x.Detail, x.Remedy, x.Command})
	}
}

// reachLimit is how long the servers of one action may take to answer; the distribution's client may have to get its
// lists first.
const reachLimit = 3 * time.Minute

// fetches asks, for each step and toolchain that will fetch something, whether it can be had.
func (f *preflight) fetches(ctx context.Context) error {
	o, err := f.lockOptions()
	if err != nil {
		return err
	}
	inUse, err := gc.Use(ctx, f.Cache, func() { fmt.Fprintln(f.Env.Stderr, "hexmage: waiting until the cache is collected") })
	if err != nil {
		return err
	}
	defer inUse()
	type answers struct {
		asked int
		errs  []error
		notes []string
		bytes int64
	}
	var mu sync.Mutex
	by := map[addrs.Instance]*answers{}
	var g errgroup.Group
	g.SetLimit(8)
	for i := range f.w.seen.Actions {
		v := &f.w.seen.Actions[i]
		if v.Status != engine.WillRun {
			continue
		}
		to := by[v.Instance.At]
		if to == nil {
			to = &answers{}
			by[v.Instance.At] = to
		}
		to.bytes += steps.Download(*v.Spec, o.Downloads)
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, reachLimit)
			defer cancel()
			own := o.Options
			own.Warn = func(text string) {
				mu.Lock()
				defer mu.Unlock()
				to.notes = append(to.notes, text)
			}
			asked, err := steps.Reach(ctx, *v.Spec, own)
			mu.Lock()
			defer mu.Unlock()
			if asked {
				to.asked++
			}
			if err != nil {
				to.errs = append(to.errs, err)
			}
			return nil
		})
	}
	_ = g.Wait() // of none there is an error
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, n := range f.p.Instances {
		to := by[n.At]
		switch what := "source of " + n.At.Short(); {
		case to == nil || to.asked == 0 || len(n.Missing) > 0:
		case len(to.errs) > 0:
			do := "Correct the address; or, where the network or a login is the matter, do what docs/fetching.md has for proxies, logins and mirrors."
			if f.Offline {
				do = "Run it once without --offline."
			}
			f.add(what, prevent, do, "%s", cannotReach(to.errs))
		case len(to.notes) > 0:
			f.add(what, doubted, "", "%s", strings.Join(to.notes, " "))
		default:
			f.add(what, passes, "", "asked: it gives what is wanted%s%s", also(to.asked > 1, fmt.Sprintf(", %d files", to.asked)), also(to.bytes > 0, ", "+bytesize.Decimal(to.bytes)))
		}
	}
	return nil
}

// cannotReach is the first of the errors, and how many more there are.
func cannotReach(errs []error) string {
	text := strings.ReplaceAll(errs[0].Error(), "\n", "; ")
	if len(errs) > 1 {
		text += fmt.Sprintf("; and %d more", len(errs)-1)
	}
	return text
}

// machine looks at what doctor knows of it, and compares memory and disk with what the steps take.
func (f *preflight) machine(context.Context) error {
	o := f.doctorOptions(f.d)
	o.Profile = f.p.Profile
	but := []string{doctor.NameMemory, doctor.NameDisk}
	if !f.onPhones(ofEmulated) {
		but = append(but, doctor.NameNamespaces, doctor.NameBinfmt)
	}
	f.found(doctor.Machine(o), but...)
	f.memory(o)
	e := f.expected
	switch full := e.full(); {
	case full != "":
		f.add("disk", prevent, qnn.Sentence(makeRoom), "%s", full)
	case e.Free < 0:
		f.add("disk", doubted, "", "this system does not say how much is free for %s", e.Cache)
	case e.Disk.String() == "":
		f.add("disk", passes, "", "%s free for %s; %s", bytesize.Decimal(e.Free), e.Cache, map[bool]string{true: "how much it takes, no earlier run tells", false: "it takes none"}[e.Disk.Unknown > 0])
	default:
		f.add("disk", passes, "", "%s of %s free for %s", e.Disk, bytesize.Decimal(e.Free), e.Cache)
	}
	return nil
}

// memory compares what steps say they take with what there is. A machine has a little less than it is sold with.
func (f *preflight) memory(o doctor.Options) {
	const gb = int64(1) << 30
	total, available := doctor.Memory(o)
	most := need{}
	for _, n := range f.expected.Steps {
		takes := int64(n.GB) * gb
		if n.GB > most.GB {
			most = n
		}
		switch {
		case total == 0:
		case takes*9/10 > total:
			f.add("memory of "+n.Step, prevent, "Run it on a larger machine, or a smaller model; if it takes less than it says, correct its memory_gb.", "%d GB, and this machine has %s", n.GB, bytesize.Binary(total))
		case takes > available:
			f.add("memory of "+n.Step, doubted, "End what else runs here, or it may be killed.", "%d GB, and %s of %s are available now", n.GB, bytesize.Binary(available), bytesize.Binary(total))
		}
	}
	took := ""
	if p := f.expected.Peak; p != nil {
		took = fmt.Sprintf("; %s took %s last", p.Step, bytesize.Binary(p.Bytes))
		if total > 0 && p.Bytes > available && p.Step != most.Step {
			f.add("memory of "+p.Step, doubted, "End what else runs here, or it may be killed.", "%s when it last ran, and %s of %s are available now", bytesize.Binary(p.Bytes), bytesize.Binary(available), bytesize.Binary(total))
		}
	}
	switch {
	case slices.ContainsFunc(f.checks, func(k preCheck) bool { return strings.HasPrefix(k.What, "memory of ") }):
	case total == 0:
		f.add("memory", doubted, "", "this system does not say how much there is")
	case most.GB == 0:
		f.add("memory", passes, "", "%s available; no step that will run says what it takes%s", bytesize.Binary(available), took)
	default:
		f.add("memory", passes, "", "up to %d GB (%s) of %s available%s", most.GB, most.Step, bytesize.Binary(available), took)
	}
}

// remote asks the chosen one. A run goes on without it, unless its block says otherwise.
func (f *preflight) remote(ctx context.Context) error {
	r, err := f.askRemote(ctx)
	if err != nil || r == nil {
		return err
	}
	state := passes
	switch {
	case r.err != nil && r.Execute && r.Fallback == remote.FallbackFail:
		state = prevent
	case r.next() != "":
		state = doubted
	}
	f.add("remote "+r.Name, state, r.next(), "%s", r.text())
	return nil
}

// ofEmulated tells of an action for devices whether it is for one that hexmage brings.
func ofEmulated(s *action.Spec) bool {
	return s.Platform[runner.PropertyImage] != "" && s.Platform[runner.PropertySerial] == ""
}

// onPhones tells whether an action for devices that will run, or may, is such a one.
func (f *preflight) onPhones(is func(*action.Spec) bool) bool {
	return slices.ContainsFunc(f.w.seen.Actions, func(v engine.Previewed) bool {
		return pending(&v) && v.Spec != nil && v.Spec.Platform[action.PropertyExecutor] == runner.Executor && is(v.Spec)
	})
}

// phones looks whether one is attached that each of the actions for phones would take.
func (f *preflight) phones(ctx context.Context) error {
	type wanted struct{ serial, soc, arch string }
	var all []wanted
	f.onPhones(func(s *action.Spec) bool {
		w := wanted{s.Platform[runner.PropertySerial], cmp.Or(s.Platform[runner.PropertySoC], s.Platform[runner.PropertySelect]), s.Platform[runner.PropertyArch]}
		if !ofEmulated(s) && !slices.Contains(all, w) {
			all = append(all, w)
		}
		return false
	})
	if len(all) == 0 {
		if f.onPhones(ofEmulated) {
			f.add("phone", passes, "", "an emulated one, which hexmage brings")
		}
		return nil
	}
	listed, err := f.deviceFile()
	if err != nil {
		return err
	}
	// without any, attached says more than the error
	rows, _ := f.deviceRows(ctx, f.d.catalogue(), listed.Devices, f.runningADB)
	for _, w := range all {
		var of []deviceRow
		for _, r := range rows {
			if w.serial == "" || w.serial == r.Serial || w.serial == r.Name {
				of = append(of, r)
			}
		}
		what := "phone" + also(w.soc != "", " with "+w.soc)
		switch {
		case len(of) == 0 && strings.Contains(w.serial, ":"):
			f.add(what, doubted, "", "%s is connected to when it is wanted", w.serial)
		case len(of) == 0:
			detail, do, _ := strings.Cut(cmp.Or(f.phoneless, doctor.NoPhone+" that is called "+w.serial+": `hexmage device list` says which there are"), ": ")
			f.add(what, prevent, qnn.Sentence(do), "%s", detail)
		default:
			f.phone(what, of, qnn.Target{SoC: w.soc, Arch: w.arch})
		}
	}
	return nil
}

// phone says which of the phones would be taken, or why none would.
func (f *preflight) phone(what string, of []deviceRow, want qnn.Target) {
	var worse *preCheck
	for _, r := range of {
		name := strings.TrimSpace(r.Name + " " + r.Serial)
		err := devinfo.CheckDevice(devinfo.Info{Serial: r.Serial, SoC: r.SoC, Arch: r.Arch}, want)
		var mismatch *devinfo.Mismatch
		now := preCheck{what, prevent, name + " is " + r.State, r.Detail, ""}
		switch {
		case r.State != "device" && r.State != "in use":
		case errors.As(err, &mismatch):
			now.Detail, now.Do = mismatch.What, qnn.Sentence(mismatch.Remedy)
		case r.State == "in use":
			now = preCheck{what, doubted, fmt.Sprintf("%s is in use%s: the run waits for it", name, also(r.User != "", " by "+r.User)), "", ""}
		default:
			f.add(what, passes, "", "%s", strings.Join(strings.Fields(name+" "+r.Model+" "+r.SoC+" "+r.Arch), " "))
			return
		}
		if worse == nil || worse.State == prevent && now.State != prevent {
			worse = &now
		}
	}
	f.checks = append(f.checks, *worse)
}

// text is the table for people.
func (f *preflight) text(pipeline, profile string, can bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n", pipeline, also(profile != "", "  profile: "+profile))
	wide := 0
	for _, k := range f.checks {
		wide = max(wide, shown(k.What))
	}
	wide = min(wide, 36)
	counts := map[checkState]int{}
	var next []string
	for _, k := range f.checks {
		counts[k.State]++
		colour := map[checkState]string{passes: "32", doubted: "33", prevent: "31"}[k.State]
		indent := 2 + 9 + wide + 2
		head := fmt.Sprintf("  %s%-*s", f.painted(colour, fmt.Sprintf("%-9s", k.State)), wide, k.What)
		if shown(k.What) > wide { // a long name has its own line
			head += "\n" + strings.Repeat(" ", indent-2)
		}
		lines := wrap(k.Detail, max(40, f.width()-indent))
		if k.State != passes && k.Do != "" {
			lines = append(lines, wrap("→ "+k.Do, max(40, f.width()-indent))...)
		}
		fmt.Fprintf(&b, "%s  %s\n", head, strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
		if k.State != passes && k.Command != "" && !slices.Contains(next, k.Command) {
			next = append(next, k.Command)
		}
	}
	warnings := also(counts[doubted] > 0, ", "+report.Count(counts[doubted], "warning"))
	if can {
		fmt.Fprintf(&b, "\n%s: %d ok%s.\n", f.painted("32", "It can run"), counts[passes], warnings)
	} else {
		fmt.Fprintf(&b, "\n%s: %d of %s%s.\n", f.painted("31", "It cannot run yet"), counts[prevent], report.Count(len(f.checks), "check"), warnings)
	}
	if len(next) > 0 {
		fmt.Fprintf(&b, "\nnext\n  %s\n", strings.Join(next, "\n  "))
	}
	return b.String()
}
