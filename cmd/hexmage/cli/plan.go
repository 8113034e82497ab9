package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// planned is a plan, and who says more of it when what it waits for is known.
type planned struct {
	*plan.Plan
	more *planner.Extender
}

// runnable says what this machine lacks to run the plan. what needs it is told to the user: "the pipeline".
func (a *app) runnable(p *planned, what string) error {
	missing := p.Missing()
	for _, m := range missing {
		fmt.Fprintf(a.Env.Stderr, "missing: %s\n", ansi.Visible(m, false))
	}
	if len(missing) > 0 {
		return usageError("this machine lacks what %s needs (profile %q); `hexmage plan` shows what would run", what,
			p.Profile)
	}
	return nil
}

// Select is plan.Plan.Select.
func (p *planned) Select(steps ...addrs.Step) (*planned, error) {
	some, err := p.Plan.Select(steps...)
	if err != nil {
		return nil, err
	}
	return &planned{some, p.more}, nil
}

// extend lets a build of the plan go on where it waits.
func (p *planned) extend(o *engine.Options) { o.Extender, o.Hints = p.more, p.more.Explain }

// plan plans a pipeline, restricted to steps if any are given. It returns the workspace too. Diagnostics are printed.
func (a *app) plan(pipeline string, steps []string) (*planned, string, error) {
	selection, err := selected(steps)
	if err != nil {
		return nil, "", err
	}
	workspace, err := a.workspace(pipeline)
	if err != nil {
		return nil, "", err
	}
	a.catalogues.begin(workspace)
	cfg, diags := a.load(workspace, pipeline)
	var p *planned
	if !diags.HasErrors() {
		whole, more, err := a.planConfig(workspace, cfg)
		if err != nil {
			return nil, "", err
		}
		p, diags = whole, append(diags, more...)
	}
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return nil, "", err
	}
	p.Plan = a.checkMachine(p.Plan)
	if len(selection) > 0 {
		if p, err = p.Select(selection...); err != nil {
			return nil, "", givenError{&exitError{Code: ExitUsage, Err: err}}
		}
	}
	return p, workspace, nil
}

func (a *app) planConfig(workspace string, cfg *config.Pipeline) (*planned, hcl.Diagnostics, error) {
	d, err := a.domain(workspace)
	if err != nil {
		return nil, nil, err
	}
	o := a.plannerOptions(workspace, cfg, d)
	o.Strays = a.strays(cfg)
	p, more, diags := planner.Build(o)
	if p == nil {
		return nil, diags, nil
	}
	return &planned{Plan: p, more: more}, diags, nil
}

// strays are the names of HEXMAGE_VAR_NAME that no pipeline has, of the workspace and of those that are shipped.
func (a *app) strays(cfg *config.Pipeline) (names []string) {
	set := a.envVars()
	drop := func(cfg *config.Pipeline) {
		if cfg != nil {
			for _, v := range cfg.Variables {
				delete(set, v.Name)
			}
		}
	}
	if drop(cfg); len(set) == 0 {
		return nil
	}
	for _, name := range a.pipelines() {
		other, _ := a.skeleton(name)
		drop(other)
	}
	return slices.Sorted(maps.Keys(set))
}

func (a *app) plannerOptions(workspace string, cfg *config.Pipeline, d *domain) planner.Options {
	return planner.Options{
		Config: cfg, Kinds: d.kinds, Workspace: workspace, Profile: a.Profile, TargetNames: a.SoC,
		TargetFlag: "--soc", Targets: d.target,
		CPULevel: a.Env.CPULevel, EnvVars: a.envVars(), FlagVars: a.Set, Reads: d.reads,
	}
}

// secrets returns what has the values that the secrets of a pipeline's plan refer to: those of this command.
func (a *app) secrets(workspace, pipeline string) func() (secret.Values, error) {
	return func() (secret.Values, error) {
		cfg, diags := a.load(workspace, pipeline)
		var values secret.Values
		if !diags.HasErrors() {
			var more hcl.Diagnostics
			values, more = planner.Secrets(planner.Options{Config: cfg, Workspace: workspace, Profile: a.Profile,
				EnvVars: a.envVars(), FlagVars: a.Set})
			diags = append(diags, more...)
		}
		if diags.HasErrors() {
			return nil, fmt.Errorf("find the values of sensitive variables: %w", diags)
		}
		return values, nil
	}
}

// printDiags prints diagnostics. Its error has nothing more to say: one of them is an error.
func (a *app) printDiags(diags hcl.Diagnostics, files map[string]*hcl.File) error {
	diags = config.Advised(diags)
	switch {
	case a.onDiags != nil:
		a.onDiags(diags)
	case len(diags) > 0:
		shown := diags
		if diags.HasErrors() { // it is warned again when these are mended
			shown = slices.DeleteFunc(slices.Clone(diags),
				func(d *hcl.Diagnostic) bool { return d.Summary == steps.SimulatedSDK })
		}
		fmt.Fprint(a.Env.Stderr, config.Render(shown, files, uint(cmp.Or(a.Env.Width, 100)), a.coloured()))
		a.sendDiags(diags)
	}
	if diags.HasErrors() {
		err := &exitError{Code: ExitUsage}
		for _, d := range diags {
			var own *exitError
			// a module that could not be got is no mistake in a file
			if why, ok := d.Extra.(error); ok && errors.As(why, &own) {
				err.Code = own.Code
			}
		}
		if planner.OfOptions(diags) {
			return givenError{err}
		}
		return err
	}
	return nil
}

// sendDiags writes diagnostics for programs. Where what a command prints is one object, only errors are, in its
// place.
func (a *app) sendDiags(diags hcl.Diagnostics) {
	var to sinks
	if a.also != nil {
		to = append(to, a.also)
	}
	if g := a.gitHub(); g != nil {
		to = append(to, g)
	}
	all := len(to)
	if a.JSON {
		to = append(to, report.JSON(a.Env.Stdout, time.Now))
	}
	for _, d := range diags {
		e := event.Diagnostic{Severity: "error", Summary: d.Summary, Detail: d.Detail}
		if d.Severity != hcl.DiagError {
			e.Severity = "warning"
		}
		if r := d.Subject; r != nil {
			e.File, e.Line, e.Column = r.Filename, r.Start.Line, r.Start.Column
		}
		if a.events || d.Severity == hcl.DiagError {
			to.Send(e)
		} else {
			to[:all].Send(e)
		}
	}
}

// planCmd is `hexmage plan PIPELINE [STEP…]`.
type planCmd struct {
	Pipeline string   `arg:"" help:"A pipeline: the name of a file in pipelines/ without .hcl, or of a folder there."`
	Steps    []string `arg:"" optional:"" help:"Only these steps (KIND.NAME, module.NAME.KIND.NAME) and what they need."`
}

// Help has the examples of `hexmage plan --help`.
func (*planCmd) Help() string {
	return `For each step it prints what a run would do and why, and how long the step took last time. Below the steps it
prints the size of downloads, of results on disk and of what is pushed to phones, as far as earlier runs and the lock
tell (~ is about, > is more than). It checks memory, disk, programs and phones: if this machine cannot run the
pipeline, it prints what is missing, and the exit code is 2.

Examples:

    hexmage plan qwen3-aot-v79                            a line for each step that something will be done for
    hexmage plan qwen3-aot-v79 -v                         every command, its inputs and outputs
    hexmage plan qwen3-aot-v79 module.aot.context.llm     one step and what it needs
    hexmage plan qwen3-aot-v79 --profile device           before the SDKs are there
    hexmage plan qwen3-aot-v79 --with qairt@2.42.0.251225 what an upgrade would run again
    hexmage plan qwen3-aot-v79 --json | jq '.steps[].address'`
}

// Run prints what the pipeline would run.
func (c *planCmd) Run(ctx context.Context, a *app) error {
	p, workspace, err := a.plan(c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	w, err := a.preview(ctx, p, workspace, nil)
	if err != nil {
		return err
	}
	s := w.status(ctx)
	s.Expected = w.expect(ctx, a.Jobs, freeFor(a.Cache), a.Cache)
	if s.Findings, err = a.canRun(ctx, w, s.Expected, workspace); err != nil {
		return err
	}
	s.Findings = append(failedChecks(w.p), s.Findings...)
	switch {
	case a.JSON:
		b, err := plan.JSON(p.Plan, s)
		if err != nil {
			return engineError(err)
		}
		fmt.Fprintln(a.Env.Stdout, string(b))
	case a.Verbose:
		fmt.Fprint(a.Env.Stdout, ansi.Visible(plan.Text(p.Plan, s.notes())+s.lacks(), false))
	default:
		short := &shortPlan{p: p.Plan, status: s, width: a.width(),
			took: func(step, name string) (time.Duration, bool) { return w.took(ctx, step, name) }}
		fmt.Fprint(a.Env.Stdout, ansi.Visible(short.text(), false))
	}
	if len(p.Missing()) > 0 || s.cannot() {
		return &exitError{Code: ExitUsage} // what is missing was said
	}
	return nil
}

// graphCmd is `hexmage graph PIPELINE`.
type graphCmd struct {
	Pipeline string   `arg:"" help:"A pipeline: the name of a file in pipelines/ without .hcl, or of a folder there."`
	Steps    []string `arg:"" optional:"" help:"Only these steps (KIND.NAME, module.NAME.KIND.NAME) and what they need."`
}

// Help has the examples of `hexmage graph --help`.
func (*graphCmd) Help() string {
	return `Examples:

    hexmage graph qwen3-aot-v79                        mermaid, which many forges draw
    hexmage graph qwen3-aot-v79 --json                 nodes and edges`
}

// Run prints the graph.
func (c *graphCmd) Run(a *app) error {
	p, _, err := a.plan(c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	if !a.JSON {
		fmt.Fprint(a.Env.Stdout, ansi.Visible(plan.Mermaid(p.Plan), false))
		return nil
	}
	b, err := plan.GraphJSON(p.Plan)
	if err != nil {
		return engineError(err)
	}
	fmt.Fprintln(a.Env.Stdout, string(b))
	return nil
}

// validateCmd is `hexmage validate [PIPELINE…]`.
type validateCmd struct {
	Pipelines []string `arg:"" optional:"" help:"Pipelines: names of files in pipelines/ without .hcl, or of folders there. Default: all."`
}

// Help has the examples of `hexmage validate --help`.
func (*validateCmd) Help() string {
	return `Examples:

    hexmage validate                                   all pipelines, in each of their profiles
    hexmage validate qwen3-aot-v79 --profile device    one of them`
}

// checked is a pipeline in one of its profiles.
type checked struct {
	Pipeline string `json:"pipeline"`
	Profile  string `json:"profile,omitempty"`
	Valid    bool   `json:"valid"`
}

// Run checks pipelines, one after the other, and says of each whether it is right.
func (c *validateCmd) Run(a *app) error {
	names := c.Pipelines
	if len(names) == 0 {
		names = a.pipelines()
	}
	bad := false
	for _, name := range names {
		all, err := a.validate(name)
		if err != nil {
			bad = true
			var said *exitError
			if !errors.As(err, &said) || said.Err != nil { // else diagnostics say it
				fmt.Fprintf(a.Env.Stderr, "hexmage: %s: %v\n", name, err)
			}
		}
		var valid []string
		for _, v := range all {
			if v.Valid {
				valid = append(valid, v.Profile)
			}
			if a.JSON {
				if err := a.printJSON(v); err != nil {
					return err
				}
			}
		}
		switch {
		case a.JSON || len(valid) == 0:
		case len(all) == 1:
			fmt.Fprintf(a.Env.Stdout, "%s: valid\n", name)
		default:
			fmt.Fprintf(a.Env.Stdout, "%s: valid in profile %s\n", name, strings.Join(valid, ", "))
		}
	}
	if bad {
		return &exitError{Code: ExitUsage}
	}
	return nil
}

// validate plans a pipeline in the chosen profile, or in each that it has. What is wrong in several is said once.
func (a *app) validate(name string) ([]checked, error) {
	workspace, err := a.workspace(name)
	if err != nil {
		return []checked{{Pipeline: name, Profile: a.Profile}}, err
	}
	return a.validateIn(workspace, name)
}

// validateIn is validate of a pipeline of the workspace.
func (a *app) validateIn(workspace, name string) ([]checked, error) {
	cfg, diags := a.load(workspace, name)
	if diags.HasErrors() {
		return []checked{{Pipeline: name, Profile: a.Profile}}, a.printDiags(diags, cfg.Shown())
	}
	profiles := []string{a.Profile}
	if a.Profile == "" && len(cfg.Profiles) > 0 {
		profiles = nil
		for _, pr := range cfg.Profiles {
			profiles = append(profiles, pr.Name)
		}
	}
	var out []checked
	type saying struct{ place, summary, detail string }
	said := make(map[saying]bool)
	for _, profile := range profiles {
		own := *a
		own.Profile = profile
		p, more, err := own.planConfig(workspace, cfg)
		if err != nil {
			return append(out, checked{name, profile, false}), err
		}
		out = append(out, checked{name, profile, p != nil})
		for _, d := range more {
			what := saying{summary: d.Summary, detail: d.Detail}
			if d.Subject != nil && d.Extra != (step.Undeclared{}) { // which place misses the target first is no matter
				what.place = d.Subject.String()
			}
			if !said[what] {
				said[what] = true
				diags = append(diags, d)
			}
		}
	}
	return out, a.printDiags(diags, cfg.Shown())
}

// planStatus is what a run would do, for `hexmage plan`.
type planStatus struct {
	Cached   int `json:"cached"`
	WillRun  int `json:"will_run"`
	Deferred int `json:"deferred"`
	Cannot   int `json:"cannot_run"`
	// bytes that the actions which will run fetch, where that is known
	Download int64 `json:"download,omitempty"`
	// steps whose actions are not known yet; not in the other numbers
	Unknown  int       `json:"unknown_steps"`
	Expected *expected `json:"expected,omitempty"` // of plan: what the run will take
	// Findings, of plan, are why this machine cannot run it or may fail to. What instances miss is not among them.
	Findings []doctor.Finding `json:"findings,omitempty"`
	Actions  []actionStatus   `json:"actions"`

	by     map[string]*actionStatus
	groups map[string][]*actionStatus // by step, of those with a plan that grew
}

type actionStatus struct {
	Step   string        `json:"step"`
	Name   string        `json:"name,omitempty"` // of the action in the step
	Status engine.Status `json:"status"`
	Reason string        `json:"reason,omitempty"`
	Key    string        `json:"key,omitempty"`

	known bool   // the action is known, not only the step
	where string // it will run, where actions may run elsewhere
}

// maxReasons is for how many actions it is worked out what changed: the others change for the same reasons.
const maxReasons = 1000

// status works out why each action has the status it has.
func (w *reasons) status(ctx context.Context) *planStatus {
	s := &planStatus{Actions: make([]actionStatus, len(w.seen.Actions)), by: map[string]*actionStatus{},
		groups: map[string][]*actionStatus{}}
	s.Download = w.download
	for i := range w.seen.Actions {
		v, to := &w.seen.Actions[i], &s.Actions[i]
		*to = actionStatus{Step: v.Instance.At.Short(), Status: v.Status, known: v.Spec != nil}
		if v.Spec != nil {
			to.Name = v.Spec.Name
		}
		if !v.Key.IsZero() {
			to.Key = v.Key.Hex()
		}
		s.add(to)
		if v.Status != engine.WillRun || s.WillRun <= maxReasons {
			to.Reason = w.reason(ctx, v)
		}
		if v.Status == engine.WillRun && v.Action != nil && w.where != nil {
			to.where = w.where(v.Action)
		}
		s.by[to.Step+"\x00"+to.Name] = to
		s.groups[to.Step] = append(s.groups[to.Step], to)
	}
	return s
}

// add counts it.
func (s *planStatus) add(to *actionStatus) {
	switch {
	case to.Status == engine.WillFail:
		s.Cannot++
	case !to.known:
		s.Unknown++
	case to.Status == engine.WillUse:
		s.Cached++
	case to.Status == engine.WillRun:
		s.WillRun++
	default:
		s.Deferred++
	}
}

// String is a line: "will run: src/a.c changed".
func (s *actionStatus) String() string {
	if s.Reason == "" {
		return string(s.Status)
	}
	return string(s.Status) + ": " + s.Reason
}

// lacks has a line for each finding, and one for what to do.
func (s *planStatus) lacks() string {
	var b strings.Builder
	for _, f := range s.Findings {
		label := map[doctor.Status]string{doctor.Missing: "missing", doctor.Optional: "warning"}[f.Status]
		fmt.Fprintf(&b, "  %s: %s: %s\n", label, f.Name, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(&b, "    → %s\n", f.Remedy)
		}
	}
	return b.String()
}

// cannot tells whether an action or a finding keeps the plan from running.
func (s *planStatus) cannot() bool {
	return s.Cannot > 0 ||
		slices.ContainsFunc(s.Findings, func(f doctor.Finding) bool { return f.Status == doctor.Missing })
}

// notes are the lines to print with the plan.
func (s *planStatus) notes() plan.Notes {
	return plan.Notes{
		Spec: func(n *plan.Instance, spec string) string {
			if to := s.by[n.At.Short()+"\x00"+spec]; to != nil && to.known {
				return to.String() + to.where
			}
			return ""
		},
		Instance: func(n *plan.Instance) string {
			if n.Deferred == "" {
				return "" // each of its actions has a line
			}
			return s.of(n.At.Short())
		},
		Last: s.counts() + s.budget(),
	}
}

// budget is how much there is to download.
func (s *planStatus) budget() string {
	if s.Download == 0 {
		return ""
	}
	return "; to download: " + bytesize.Decimal(s.Download)
}

// of is a line about a step that cannot show all its actions: "16 actions: 15 cached, 1 will run (src/a.c changed)".
func (s *planStatus) of(step string) string {
	group := s.groups[step]
	if len(group) == 1 && !group[0].known {
		return group[0].String()
	}
	some := planStatus{}
	why := ""
	for _, to := range group {
		some.add(to)
		if why == "" && to.Reason != "" {
			if why = to.Reason; to.Name != "" {
				why = to.Name + ": " + why
			}
			why = " (" + why + ")"
		}
	}
	some.Actions = make([]actionStatus, len(group))
	return some.counts() + why
}

// counts is a line: "41 actions: 38 cached, 2 will run, 1 deferred".
func (s *planStatus) counts() string {
	known := len(s.Actions) - s.Unknown
	line := strconv.Itoa(known) + " actions"
	if known == 1 {
		line = "1 action"
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what engine.Status
	}{{s.Cached, engine.WillUse}, {s.WillRun, engine.WillRun}, {s.Deferred, engine.Deferred},
		{s.Cannot, engine.WillFail}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	line += ": " + strings.Join(parts, ", ")
	switch {
	case s.Unknown == 1:
		line += "; of 1 step the actions are not known yet"
	case s.Unknown > 1:
		line += fmt.Sprintf("; of %d steps the actions are not known yet", s.Unknown)
	}
	return line
}

// checkMachine returns the plan with what this machine lacks to run its instances: programs of the host, a phone.
func (a *app) checkMachine(p *plan.Plan) *plan.Plan {
	checked := *p
	checked.Instances = slices.Clone(p.Instances)
	phone := "unasked"
	for i, n := range p.Instances {
		var missing []string
		for _, name := range n.Programs {
			if _, err := execute.LookPath(name, programPath(n)); err != nil {
				missing = append(missing, fmt.Sprintf("The program %s is not in PATH: %s.", name, howToGet(name)))
			}
		}
		for _, s := range n.Specs {
			serial := s.Platform[runner.PropertySerial]
			if s.Platform[action.PropertyExecutor] != runner.Executor || s.Platform[runner.PropertyImage] != "" &&
				serial == "" {
				continue
			}
			if strings.Contains(serial, ":") { // it is connected to when it is wanted
				continue
			}
			if phone == "unasked" {
				phone = a.attached()
			}
			if phone != "" && !slices.Contains(missing, phone) { // repeats and variants need the same phone
				missing = append(missing, phone)
			}
		}
		if len(missing) > 0 {
			lacking := *n
			lacking.Missing = slices.Concat(n.Missing, missing)
			checked.Instances[i] = &lacking
		}
	}
	return &checked
}

// programPath is PATH as the instance's commands see it: not the user's own.
func programPath(n *plan.Instance) string {
	for _, s := range n.Specs {
		if p := s.Env["PATH"]; p != "" {
			return p
		}
	}
	return ""
}

// attached says what is missing when no phone answers, "" when one does.
func (a *app) attached() string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if f, err := a.deviceFile(); err == nil && len(f.Devices) > 0 {
		return "" // which of them works is seen when one is wanted
	}
	network, address, err := a.adbAddress()
	if err != nil {
		return err.Error()
	}
	devices, err := adb.NewClient(network, address).Devices(ctx)
	if err == nil && len(devices) > 0 {
		return ""
	}
	if err != nil && (network != "tcp" || address != adbServer) {
		return fmt.Sprintf("The adb server %s does not answer, which adb's variables name: start it there with `adb "+
			"-a nodaemon server`.", address)
	}
	return doctor.NoPhone + ": connect one with USB debugging switched on, or by `adb connect HOST:PORT`, until " +
		"`adb devices` lists it."
}

func howToGet(program string) string {
	switch {
	case program == "nvidia-smi":
		return "device = \"cuda\" needs a CUDA GPU with its driver; device = \"cpu\" does without, and takes longer"
	case program == "ninja":
		return "apt-get install ninja-build"
	case program == "clang++":
		return "apt-get install clang"
	}
	return "apt-get install " + program
}
