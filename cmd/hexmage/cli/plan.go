package cli

import (
	"cmp"
	"context"
	"encoding/json"
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

// planned is a plan with its resolver, which plans deferred steps.
type planned struct {
	*plan.Plan
	more *planner.Resolver
}

// runnable returns an error if this machine cannot run the plan. what names the plan in the error: "the pipeline".
func (a *app) runnable(p *planned, what string) error {
	missing := p.Missing()
	for _, m := range missing {
		a.say("missing: %s", m)
	}
	if len(missing) > 0 {
		return usageError("this machine lacks requirements of %s (profile %q); run `hexmage plan` to list them", what,
			p.Profile)
	}
	return nil
}

// Select returns the plan with only the given steps, as plan.Plan.Select does.
func (p *planned) Select(steps ...addrs.Step) (*planned, error) {
	some, err := p.Plan.Select(steps...)
	if err != nil {
		return nil, err
	}
	return &planned{some, p.more}, nil
}

// extend sets the resolver in a build's options.
func (p *planned) extend(o *engine.Options) { o.Resolver, o.Hints = p.more, p.more.Explain }

// plan plans a pipeline, restricted to steps if any are given. It prints diagnostics.
func (a *app) plan(pipeline string, steps []string) (*planned, error) {
	selection, err := selected(steps)
	if err != nil {
		return nil, err
	}
	if err := a.checkPipeline(pipeline); err != nil {
		return nil, err
	}
	d, err := a.planDomain() // before the pipeline, so that they load at the same time
	if err != nil {
		return nil, err
	}
	cfg, diags := a.load(pipeline)
	var p *planned
	if !diags.HasErrors() {
		whole, more, err := a.planConfig(cfg, d)
		if err != nil {
			return nil, err
		}
		p, diags = whole, append(diags, more...)
	}
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return nil, err
	}
	p.Plan = a.checkMachine(p.Plan)
	if len(selection) > 0 {
		if p, err = p.Select(selection...); err != nil {
			return nil, givenError{usageError("%w", err)}
		}
	}
	return p, nil
}

func (a *app) planConfig(cfg *config.Pipeline, d *domain) (*planned, hcl.Diagnostics, error) {
	o := a.plannerOptions(cfg, d)
	o.Strays = a.strays(cfg)
	p, more, diags := planner.Plan(o)
	if err := d.wait(); err != nil {
		return nil, nil, err
	}
	if p == nil {
		return nil, diags, nil
	}
	return &planned{Plan: p, more: more}, diags, nil
}

// strays returns names of HEXMAGE_VAR_NAME that no pipeline of the workspace or of hexmage has.
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

func (a *app) plannerOptions(cfg *config.Pipeline, d *domain) planner.Options {
	return planner.Options{
		Config: cfg, Kinds: d.kinds, Workspace: a.here(), Profile: a.Profile, TargetNames: a.SoC,
		TargetFlag: "--soc", Targets: d.Target,
		CPULevel: a.Env.CPULevel, EnvVars: a.envVars(), FlagVars: a.Set, Reads: d.reads,
	}
}

// secrets returns a function that reads the values of a pipeline's secrets from this command's environment.
func (a *app) secrets(pipeline string) func() (secret.Values, error) {
	return func() (secret.Values, error) {
		cfg, diags := a.load(pipeline)
		var values secret.Values
		if !diags.HasErrors() {
			var more hcl.Diagnostics
			values, more = planner.Secrets(planner.Options{Config: cfg, Workspace: a.here(), Profile: a.Profile,
				EnvVars: a.envVars(), FlagVars: a.Set})
			diags = append(diags, more...)
		}
		if diags.HasErrors() {
			return nil, fmt.Errorf("cannot evaluate sensitive variables: %w", diags)
		}
		return values, nil
	}
}

// printDiags prints diagnostics. It returns an error without a message if one of them is an error.
func (a *app) printDiags(diags hcl.Diagnostics, files map[string]*hcl.File) error {
	diags = config.ImproveDiagnostics(diags)
	switch {
	case a.onDiags != nil:
		a.onDiags(diags)
	case len(diags) > 0:
		shown := diags
		if diags.HasErrors() { // the warnings are shown again after a fix
			shown = slices.DeleteFunc(slices.Clone(diags),
				func(d *hcl.Diagnostic) bool { return d.Summary == steps.SimulatedSDK })
		}
		fmt.Fprint(a.Env.Stderr, config.Render(shown, files, uint(cmp.Or(a.Env.Width, 100)), a.colored()))
		a.sendDiags(diags)
	}
	if diags.HasErrors() {
		err := &exitError{Code: ExitUsage}
		for _, d := range diags {
			var own *exitError
			// a module that cannot be fetched is not an error in a file
			if why, ok := d.Extra.(error); ok && errors.As(why, &own) {
				err.Code = own.Code
			}
		}
		if planner.IsOptionError(diags) {
			return givenError{err}
		}
		return err
	}
	return nil
}

// sendDiags writes diagnostics as JSON. If the command prints one object, only errors are written, in its place.
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
	Pipeline string   `arg:"" help:"Pipeline: the name of a file in pipelines/ (without .hcl) or of a folder in pipelines/."`
	Steps    []string `arg:"" optional:"" help:"Plan only these steps and their dependencies. Write a step as KIND.NAME, and a step of a module as module.MODULE.KIND.NAME. Default: all steps."`
}

// Help returns the examples of `hexmage plan --help`.
func (*planCmd) Help() string {
	return `For each step, prints whether and why the step will run, and how long its last run took. Then prints the
total size of downloads, results and transfers to phones. All sizes and times are estimates. ~ 2 GB means about 2
GB, and > 2 GB means more than 2 GB.

Also checks memory, disk space, programs and phones. If this machine cannot run the pipeline, lists the missing parts
and exits with 2.

Examples:

    hexmage plan qwen3-aot-v79                                   the steps that will run
    hexmage plan qwen3-aot-v79 -v                                the steps, with commands, inputs and outputs
    hexmage plan qwen3-aot-v79 module.aot.context.llm            one step and its dependencies

    hexmage plan qwen3-aot-v79 --profile device                  a run on a phone, before you install the SDKs
    hexmage plan qwen3-aot-v79 --toolchain qairt@2.42.0.251225   preview an upgrade of QAIRT
    hexmage plan qwen3-aot-v79 --json | jq '.steps[].address'    the addresses of the steps`
}

// Run prints the actions of a run, but does not run them.
func (c *planCmd) Run(ctx context.Context, a *app) error {
	p, err := a.plan(c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	w, err := a.preview(ctx, p, nil)
	if err != nil {
		return err
	}
	s := w.status(ctx)
	s.Expected = w.expect(ctx, a.Jobs, freeFor(a.Cache), a.Cache)
	if s.Findings, err = a.canRun(ctx, w, s.Expected); err != nil {
		return err
	}
	s.Findings = append(failedChecks(w.p), s.Findings...)
	switch {
	case a.JSON:
		b, err := plan.JSON(p.Plan, s)
		if err != nil {
			return engineError(err)
		}
		a.print(string(b) + "\n")
	case a.Verbose:
		a.print(plan.Text(p.Plan, s.notes()) + s.lacks())
	default:
		short := &shortPlan{p: p.Plan, status: s, width: a.width(),
			took: func(step, name string) (time.Duration, bool) { return w.took(ctx, step, name) }}
		a.print(short.text())
	}
	if len(p.Missing()) > 0 || s.cannot() {
		return &exitError{Code: ExitUsage} // missing parts are printed already
	}
	return nil
}

// graphCmd is `hexmage graph PIPELINE`.
type graphCmd struct {
	Pipeline string   `arg:"" help:"Pipeline: the name of a file in pipelines/ (without .hcl) or of a folder in pipelines/."`
	Steps    []string `arg:"" optional:"" help:"Print only these steps and their dependencies. Write a step as KIND.NAME, and a step of a module as module.MODULE.KIND.NAME. Default: all steps."`
}

// Help returns the examples of `hexmage graph --help`.
func (*graphCmd) Help() string {
	return `Examples:

    hexmage graph qwen3-aot-v79          text that GitHub and GitLab render as a graph
    hexmage graph qwen3-aot-v79 --json   nodes and edges as JSON`
}

// Run prints the graph.
func (c *graphCmd) Run(a *app) error {
	p, err := a.plan(c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	b, err := plan.GraphJSON(p.Plan)
	if err != nil {
		return engineError(err)
	}
	return a.show(json.RawMessage(b), "%s", plan.Mermaid(p.Plan))
}

// validateCmd is `hexmage validate [PIPELINE…]`.
type validateCmd struct {
	Pipelines []string `arg:"" optional:"" help:"Pipelines: the names of files in pipelines/ (without .hcl) or of folders in pipelines/. Default: all pipelines."`
}

// Help returns the examples of `hexmage validate --help`.
func (*validateCmd) Help() string {
	return `Checks syntax, names, types and values. Runs no steps, and needs no SDKs.

Examples:

    hexmage validate                                  all pipelines, in all profiles
    hexmage validate qwen3-aot-v79 --profile device   one pipeline, in one profile`
}

// checked is a pipeline in a profile.
type checked struct {
	Pipeline string `json:"pipeline"`
	Profile  string `json:"profile,omitempty"`
	Valid    bool   `json:"valid"`
}

// Run checks pipelines and reports whether each is valid.
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
			if !errors.As(err, &said) || said.Err != nil { // else diagnostics have the error
				a.say("%s: %v", name, err)
			}
		}
		var valid []string
		for _, v := range all {
			if v.Valid {
				valid = append(valid, v.Profile)
			}
			if a.JSON {
				if err := writeJSON(a.Env.Stdout, v); err != nil {
					return err
				}
			}
		}
		switch {
		case a.JSON || len(valid) == 0:
		case len(all) == 1:
			a.printf("%s: valid\n", name)
		default:
			a.printf("%s: valid in profile %s\n", name, strings.Join(valid, ", "))
		}
	}
	if bad {
		return &exitError{Code: ExitUsage}
	}
	return nil
}

// validate plans a pipeline in the chosen profile, or in each. It prints an error of several profiles once.
func (a *app) validate(name string) ([]checked, error) {
	if err := a.checkPipeline(name); err != nil {
		return []checked{{Pipeline: name, Profile: a.Profile}}, err
	}
	cfg, diags := a.load(name)
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
		d, err := own.planDomain()
		if err != nil {
			return append(out, checked{name, profile, false}), err
		}
		p, more, err := own.planConfig(cfg, d)
		if err != nil {
			return append(out, checked{name, profile, false}), err
		}
		out = append(out, checked{name, profile, p != nil})
		for _, d := range more {
			what := saying{summary: d.Summary, detail: d.Detail}
			// the first place that misses the target is arbitrary
			if d.Subject != nil && d.Extra != (step.MissingBlockError{}) {
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

// planStatus describes a run for `hexmage plan`.
type planStatus struct {
	Cached   int `json:"cached"`
	WillRun  int `json:"will_run"`
	Deferred int `json:"deferred"`
	Cannot   int `json:"cannot_run"`
	// bytes of pending downloads, without downloads of unknown size
	Download int64 `json:"download,omitempty"`
	// steps with unknown actions; the other numbers do not include these actions
	Unknown  int       `json:"unknown_steps"`
	Expected *expected `json:"expected,omitempty"` // of plan: time, memory and disk of the run
	// Findings, of plan, are the reasons why this machine cannot run the plan, or may fail. They leave out missing
	// parts of instances.
	Findings []doctor.Finding `json:"findings,omitempty"`
	Actions  []actionStatus   `json:"actions"`

	by     map[string]*actionStatus
	groups map[string][]*actionStatus // by step, for a plan that was extended
}

type actionStatus struct {
	Step   string        `json:"step"`
	Name   string        `json:"name,omitempty"` // action's name in its step
	Status engine.Status `json:"status"`
	Reason string        `json:"reason,omitempty"`
	Key    string        `json:"key,omitempty"`

	known bool   // the action is known, not only its step
	where string // where it will run, and its downloads
}

// maxReasons is the largest number of actions that are compared. The others change for the same reasons.
const maxReasons = 1000

// status finds the reason for each action's status.
func (w *reasons) status(ctx context.Context) *planStatus {
	s := &planStatus{Actions: make([]actionStatus, len(w.seen.Actions)), by: map[string]*actionStatus{},
		groups: map[string][]*actionStatus{}}
	s.Download = w.download
	for i := range w.seen.Actions {
		v, to := &w.seen.Actions[i], &s.Actions[i]
		*to = w.statusOf(ctx, v, v.Status != engine.WillRun || s.WillRun < maxReasons)
		s.add(to)
		if v.Status == engine.WillRun && v.Action != nil && w.where != nil {
			to.where = w.where(v.Action)
		}
		if v.Status == engine.WillRun && v.Spec != nil {
			to.where += w.fetches(*v.Spec)
		}
		s.by[to.Step+"\x00"+to.Name] = to
		s.groups[to.Step] = append(s.groups[to.Step], to)
	}
	return s
}

// statusOf returns the status of an action. why asks for its reason.
func (w *reasons) statusOf(ctx context.Context, v *engine.Previewed, why bool) actionStatus {
	s := actionStatus{Step: v.Instance.At.Short(), Status: v.Status, known: v.Spec != nil}
	if v.Spec != nil {
		s.Name = v.Spec.Name
	}
	if !v.Key.IsZero() {
		s.Key = v.Key.Hex()
	}
	if why {
		s.Reason = w.reason(ctx, v)
	}
	return s
}

// name returns the step and the action.
func (s *actionStatus) name() string { return strings.TrimSpace(s.Step + " " + s.Name) }

// add counts the action.
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

// String returns a line such as "will run: src/a.c changed".
func (s *actionStatus) String() string {
	if s.Reason == "" {
		return string(s.Status)
	}
	return string(s.Status) + ": " + s.Reason
}

// lacks returns a line for each finding, and one for the next step.
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

// cannot reports whether an action or a finding prevents the run.
func (s *planStatus) cannot() bool {
	return s.Cannot > 0 ||
		slices.ContainsFunc(s.Findings, func(f doctor.Finding) bool { return f.Status == doctor.Missing })
}

// notes returns the lines to print with the plan.
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
				return "" // each of its actions has its own line
			}
			return s.of(n.At.Short())
		},
		Last: s.counts() + s.budget(),
	}
}

// budget returns a line about pending downloads.
func (s *planStatus) budget() string {
	if s.Download == 0 {
		return ""
	}
	return "; to download: " + bytesize.Decimal(s.Download)
}

// of returns a line about a step that does not list its actions: "16 actions: 15 cached, 1 will run (src/a.c changed)".
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

// counts returns a line: "41 actions: 38 cached, 2 will run, 1 deferred".
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
		line += "; the actions of 1 step are not known yet"
	case s.Unknown > 1:
		line += fmt.Sprintf("; the actions of %d steps are not known yet", s.Unknown)
	}
	return line
}

// checkMachine returns the plan with the instances' missing parts on this machine: programs and a phone.
func (a *app) checkMachine(p *plan.Plan) *plan.Plan {
	checked := *p
	checked.Instances = slices.Clone(p.Instances)
	phone := "unasked"
	for i, n := range p.Instances {
		var missing []string
		for _, name := range n.Programs {
			if _, err := execute.LookPath(name, programPath(n)); err != nil {
				missing = append(missing, fmt.Sprintf("The program %s is not in PATH; %s.", name, howToGet(name)))
			}
		}
		for _, s := range n.Specs {
			serial := s.Platform[runner.PropertySerial]
			if s.Platform[action.PropertyExecutor] != runner.Executor || s.Platform[runner.PropertyImage] != "" &&
				serial == "" {
				continue
			}
			if strings.Contains(serial, ":") { // the run connects to it
				continue
			}
			if phone == "unasked" {
				phone = a.attached()
			}
			if phone != "" && !slices.Contains(missing, phone) { // repeats and variants share the phone
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

// programPath returns the PATH of the instance's commands, which is not the user's.
func programPath(n *plan.Instance) string {
	for _, s := range n.Specs {
		if p := s.Env["PATH"]; p != "" {
			return p
		}
	}
	return ""
}

// attached returns the reason if no phone answers, else "".
func (a *app) attached() string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if f, err := a.deviceFile(); err == nil && len(f.Devices) > 0 {
		return "" // the run finds out which of them works
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
		return fmt.Sprintf("The adb server at %s does not answer; adb's environment variables name this address. On "+
			"the server's machine, run `adb -a nodaemon server`.", address)
	}
	return doctor.NoPhone + "; connect one with USB debugging enabled, or with `adb connect HOST:PORT`."
}

func howToGet(program string) string {
	switch {
	case program == "nvidia-smi":
		return "install the driver of a CUDA GPU, or set device = \"cpu\", which takes longer"
	case program == "ninja":
		return "run `apt-get install ninja-build`"
	case program == "clang++":
		return "run `apt-get install clang`"
	}
	return "run `apt-get install " + program + "`"
}
