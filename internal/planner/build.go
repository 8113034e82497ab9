// Package planner makes plans. The input is a parsed pipeline, the kinds of steps and the values of the variables. The
// planner checks references, expands for_each, decodes the arguments of each step, and asks the kind of the step for
// Specs. The resulting plan.Plan contains no HCL. The planner runs nothing, hashes nothing and does not know the cache.
package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/dag"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/internal/workspace"
)

// Options select what to plan.
type Options struct {
	Config    *config.Pipeline
	Kinds     map[string]step.Kind // by name; the kind of toolchain blocks is addrs.Toolchain
	Workspace string               // absolute path of the folder that relative paths refer to
	Profile   string               // "" chooses the default profile
	// names of targets that replace the pipeline's targets; a name with the prefix +, such as "+debug", adds a target
	// instead
	TargetNames []string
	TargetFlag  string // the command line flag for TargetNames, for messages

	// Targets returns the `target` object for a target block. The arguments are the label ("" without a label) and the
	// arguments of the block. The function may reject the block, but the object must be known even then. If Targets is
	// nil, the object has the arguments of the block and the attribute name.
	Targets func(name string, args map[string]lang.Argument) (cty.Value, hcl.Diagnostics)

	CPULevel string            // level of this machine's processor, for action.PropertyCPULevel
	EnvVars  map[string]string // values of variables from the environment, by the variable's name
	// names in EnvVars that match no variable of any known pipeline; if such a name resembles a variable of this
	// pipeline, planning reports an error
	Strays   []string
	FlagVars map[string]string // values of variables from the command line

	// Reads lists the files and environment variables that determined these options. Planning adds them to the plan's
	// Reads.
	Reads step.Reads
}

// Plan plans a pipeline. It also returns the Resolver for the deferred parts of the plan. After errors, the plan is
// nil. The diagnostics may also contain warnings.
func Plan(o Options) (*plan.Plan, *Resolver, hcl.Diagnostics) {
	p := newPlanner(o)
	made, diags := p.build()
	return made, p.extender, diags
}

func (p *planner) build() (*plan.Plan, hcl.Diagnostics) {
	diags := p.chooseProfile()
	if diags.HasErrors() {
		return nil, p.together(diags)
	}
	p.targets = Targets(p.cfg, p.o.TargetNames)
	root, ds := p.newModule(nil, nil, p.cfg.Module)
	p.root = root
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, p.together(diags)
	}
	diags = append(diags, p.prepareRoot()...)
	for _, m := range p.modules {
		diags = append(diags, p.unsaid(m, p.declareBlocks(m))...)
	}
	for _, m := range p.modules { // names of a caller come before those of the modules it calls
		p.declareNames(m)
	}
	for _, m := range p.modules {
		diags = append(diags, p.unsaid(m, p.declare(m))...)
	}
	for _, m := range p.modules {
		diags = append(diags, p.unsaid(m, p.checkStatic(m))...)
	}
	ds = p.sort()
	diags = append(diags, ds...)
	if ds.HasErrors() {
		return nil, p.together(diags)
	}
	diags = append(diags, p.evaluateAll()...)
	diags = append(diags, p.checkAbsent()...)
	if diags.HasErrors() {
		return nil, p.together(diags)
	}
	made := p.assemble()
	if x := p.extender; len(x.instances)+len(x.outputs)+len(x.checks) > 0 {
		x.planner = p
		p.files.Forget() // Resolver.Reads returns only later reads
		p.env = map[string]bool{}
	}
	return made, append(diags, p.unused()...)
}

// together merges diagnostics: one for all undeclared toolchains that steps require, one about targets, and one for
// equal errors about an object that steps share.
func (p *planner) together(diags hcl.Diagnostics) hcl.Diagnostics {
	targetSaid := false
	shared := make(map[string]bool)
	var first *hcl.Diagnostic
	var names []string
	by := make(map[string][]string)
	diags = slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool {
		if d.Extra == (step.Shared{}) {
			again := shared[d.Detail]
			shared[d.Detail] = true
			return again
		}
		u, ok := d.Extra.(step.MissingBlockError)
		switch {
		case !ok:
			return false
		// each step that does not choose one of several targets is a mistake of its own
		case u.Toolchain == "" && len(p.targets) > 0:
			d.Extra = nil
			return false
		case u.Toolchain == "":
			again := targetSaid
			targetSaid = true
			return again
		case by[u.Toolchain] == nil:
			names = append(names, u.Toolchain)
		}
		if by[u.Toolchain] = append(by[u.Toolchain], u.By.String()); first == nil {
			first = d
		}
		return d != first
	})
	if len(names) > 1 || first != nil && len(by[names[0]]) > 1 {
		first.Summary, first.Detail = "Undeclared toolchains",
			"Some steps need toolchains that the pipeline does not declare. Add these blocks:"
		for _, name := range names {
			first.Detail += fmt.Sprintf("\n  toolchain %q {} # for %s", name,
				strings.Join(slices.Compact(by[name]), ", "))
		}
	}
	return diags
}

func newPlanner(o Options) *planner {
	var dirs []string
	var roots []step.Root
	for _, r := range o.Config.Roots {
		dirs = append(dirs, r.Dir)
		roots = append(roots, step.Root{Dir: r.Dir, At: "external/" + r.ID})
	}
	p := &planner{o: o, cfg: o.Config, roots: roots, files: workspace.NewFiles(o.Workspace, dirs...),
		budget: lang.NewBudget(), dummies: &dummies{}, schemas: make(map[string]*kindSchema),
		objects: make(map[string]*object), frames: make(map[addrs.Module]*frame), env: make(map[string]bool),
		places: make(map[string]string), said: make(map[saying]bool),
		extender: &Resolver{instances: make(map[addrs.Instance]*instance), outputs: make(map[string]*waitingOutput),
			checks: make(map[string]*checkIn)}}
	p.functions = lang.Functions(p.files)
	return p
}

// planner holds the state of planning. Afterwards only the Resolver uses it, one question at a time.
type planner struct {
	o         Options
	roots     []step.Root
	cfg       *config.Pipeline
	profile   *config.Profile // nil when the pipeline has none
	targets   []*config.Target
	files     *workspace.Files
	functions map[string]function.Function
	budget    *lang.Budget
	schemas   map[string]*kindSchema
	copied    int // instances of all steps with for_each, and of all steps of modules
	framed    int // instances of calls
	checks    int // instances of checks
	dummies   *dummies

	root    *module
	modules []*module // as written: callers before the modules they call
	frames  map[addrs.Module]*frame
	objects map[string]*object // by name
	order   []string           // dependencies first
	outputs []plan.Output
	places  map[string]string // of outputs, by the file name of each
	said    map[saying]bool

	env       map[string]bool // environment variables that kinds read
	extender  *Resolver
	arguments map[addrs.Instance][]Argument // nil: not recorded
}

// object is one named element of a file, evaluated in each frame of its module: a call, a variable of a module, a
// local, the targets, a toolchain, a step or an output block.
type object struct {
	name     string
	in       *module // the module whose frames evaluate it
	scope    *module // the module whose names it refers to: in, or the caller for variables
	local    *config.Local
	variable bool // of a module
	rng      hcl.Range
	refs     []lang.Ref
	order    []lang.Ref // of depends_on
	each     []lang.Ref // of lang.EachRefs
	// references to axes of the step's matrix, and whether they are valid; nil if the object cannot refer to axes
	axes     map[hcl.Range]bool
	implicit []string // objects it needs without a reference
	static   []static // expressions that must be known before any step runs
	deps     []string // objects
	eval     func(*frame) hcl.Diagnostics

	block       *config.Block    // of a step or toolchain, with the profile's changes; else nil
	*kindSchema                  // of the block
	content     *hcl.BodyContent // of the block's body; nil when it does not fit the schema

	failed bool // it or one of its dependencies could not be evaluated
}

func (p *planner) chooseProfile() hcl.Diagnostics {
	var names []string
	own := false // the pipeline has profile blocks
	for _, pr := range p.cfg.Profiles {
		names = append(names, pr.Name)
		own = own || !pr.Inherited
		if p.o.Profile == pr.Name || p.o.Profile == "" && (pr.Default || own && len(p.cfg.Profiles) == 1) {
			p.profile = pr
		}
	}
	switch {
	case p.profile != nil || p.o.Profile == "" && !own:
		return nil
	case p.o.Profile == "":
		return errorf(hcl.Range{}, "No profile selected", "Pipeline %s has no default profile. "+
			"Select one with --profile. Available profiles: %s.", p.cfg.Name, strings.Join(names, ", "))
	case len(names) == 0:
		return markOptions(errorf(hcl.Range{}, "Unknown profile", "Pipeline %s has no profiles, "+
			"but --profile or HEXMAGE_PROFILE selects profile %q. Remove the flag or unset the variable.",
			p.cfg.Name, p.o.Profile), true)
	}
	advice := "Available profiles: " + strings.Join(names, ", ") + "."
	if near := suggest.Name(p.o.Profile, names); near != "" {
		advice = "Did you mean " + near + "?"
	}
	return markOptions(errorf(hcl.Range{}, "Unknown profile", "Pipeline %s has no profile %s "+
		"(selected by --profile or HEXMAGE_PROFILE). %s", p.cfg.Name, p.o.Profile, advice), true)
}

func (p *planner) profileName() string {
	if p.profile == nil {
		return ""
	}
	return p.profile.Name
}

// Targets returns the targets of a build. The parameter names replaces or extends the targets of the pipeline (see
// Options.TargetNames).
func Targets(cfg *config.Pipeline, names []string) []*config.Target {
	targets := cfg.Targets
	replaced := false
	for _, given := range names {
		name, more := strings.CutPrefix(given, "+")
		if !more && !replaced {
			targets, replaced = nil, true
		}
		if !slices.ContainsFunc(targets, func(t *config.Target) bool { return t.Name == name }) {
			targets = append(slices.Clip(targets), &config.Target{Name: name})
		}
	}
	return targets
}

// prepareRoot creates the pipeline's own frame, with the values that need no evaluation order.
func (p *planner) prepareRoot() hcl.Diagnostics {
	f := p.newFrame(p.root, nil)
	p.root.frames, p.frames[""] = []*frame{f}, f
	for _, name := range sortedKeys(p.cfg.Files) {
		p.budget.Count(p.cfg.Files[name].Body)
	}
	var diags hcl.Diagnostics
	f.scope.Vars, diags = p.variables(f)
	p.dummies = newDummies(p.cfg, f.scope.Vars)
	return diags
}

func (p *planner) add(o *object) *object {
	if p.objects[o.name] != nil {
		return o // a duplicate; config has reported it
	}
	p.objects[o.name] = o
	p.order = append(p.order, o.name)
	return o
}

// link finds the objects that an object depends on.
func (p *planner) link(o *object) {
	seen := make(map[string]bool)
	dep := func(names ...string) {
		for _, name := range names {
			if !seen[name] && p.objects[name] != nil {
				seen[name] = true
				o.deps = append(o.deps, name)
			}
		}
	}
	for _, r := range o.refs {
		dep(o.scope.objects(r, false)...)
	}
	for _, r := range o.order {
		dep(o.scope.objects(r, true)...)
	}
	dep(o.implicit...)
	if o.in.caller != nil {
		dep(string(o.in.at)) // its frames
	}
}

// sort sorts the objects by dependency, and reports a cycle as the chain of references that forms it.
func (p *planner) sort() hcl.Diagnostics {
	for _, o := range p.objects {
		p.link(o)
	}
	deps := func(name string) []string { return p.objects[name].deps }
	order, cycles := dag.Order(p.order, deps)
	if len(cycles) == 0 {
		p.order = order
		return nil
	}
	var diags hcl.Diagnostics
	for _, c := range cycles {
		var lines []string
		for i, name := range c {
			next := c[(i+1)%len(c)]
			o := p.objects[name]
			at := o.rng
			for i, r := range slices.Concat(o.order, o.refs) { // a plain reference counts before depends_on
				if slices.Contains(o.scope.objects(r, i < len(o.order)), next) {
					at = r.Range
				}
			}
			lines = append(lines, fmt.Sprintf("  %s needs %s (%s)", name, next, at))
		}
		r := p.objects[c[0]].rng
		diags = append(diags, errorf(r, "Dependency cycle",
			"These objects depend on each other:\n%s\nRemove one of the references.", strings.Join(lines, "\n"))...)
	}
	return diags
}

// evaluateAll evaluates the objects in order.
func (p *planner) evaluateAll() (diags hcl.Diagnostics) {
	for _, name := range p.order {
		diags = append(diags, p.evaluate(p.objects[name])...)
		if p.budget.Spent() { // everything else would fail for the same reason
			break
		}
	}
	return diags
}

func (p *planner) evaluate(o *object) hcl.Diagnostics {
	for _, d := range o.deps {
		if p.objects[d].failed {
			o.failed = true
		}
	}
	if o.failed || o.eval == nil {
		return nil
	}
	var diags hcl.Diagnostics
	for _, f := range o.in.frames {
		ds := p.checkAttrs(o, f.up(o.scope))
		if !ds.HasErrors() {
			ds = append(ds, o.eval(f)...)
		}
		diags = append(diags, f.inside(ds)...)
		if ds.HasErrors() || p.budget.Spent() {
			o.failed = true // the other instances would fail in the same way
			break
		}
	}
	return diags
}

// checkAttrs checks references that need the values of other objects: outputs and keys of steps, keys of modules,
// attributes of targets and toolchains. f is the frame whose names the object refers to.
func (p *planner) checkAttrs(o *object, f *frame) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, r := range o.each {
		if r.Root == lang.StepRoot && f.of.declared.Steps[r.Step].ForEach {
			diags = append(diags, p.checkStepRef(f, r)...)
		}
	}
	for _, r := range o.refs {
		switch r.Root {
		case lang.StepRoot:
			diags = append(diags, p.checkStepRef(f, r)...)
		case lang.Module:
			diags = append(diags, p.checkModuleRef(f, r)...)
		case lang.Target:
			diags = append(diags, p.checkTargetRef(f, r)...)
		case lang.Targets:
			diags = append(diags, lang.CheckAttr(r, r.Name, attrNames(f.scope.Targets))...)
		case lang.Toolchain:
			if from := f.up(f.of.toolchain(r.Name)); from != nil {
				diags = append(diags, lang.CheckAttr(r, r.Attr, attrNames(from.scope.Toolchains[r.Name]))...)
			}
		}
	}
	for _, r := range o.order {
		if r.Root == lang.StepRoot && r.Keyed {
			if s := f.step(r.Step); s != nil && s.off[r.Key] {
				continue // an instance that does not exist has nothing to wait for
			}
			diags = append(diags, p.checkStepRef(f, r)...)
		}
	}
	return diags
}

// checkTargetRef checks that the target has the attribute, and lists the attributes otherwise.
func (p *planner) checkTargetRef(f *frame, r lang.Ref) hcl.Diagnostics {
	have := attrNames(f.scope.Target)
	if len(f.targets) > 1 && r.Name != "" && !slices.Contains(have, r.Name) {
		if near := suggest.Name(r.Name, have); near == "" && f.of.caller != nil {
			return errorf(r.Range, "Ambiguous target",
				"The pipeline has several targets, so target.%s is ambiguous. In the module call, choose one: "+
					"target = %s. To call the module for all targets, set for_each = target "+
					"and target = each.value.", r.Name,
				targetNames(f.targets)[0])
		} else if near == "" {
			return errorf(r.Range, "Ambiguous target",
				"The pipeline has several targets, so target.%s is ambiguous. Name one target: %s.%s. "+
					"To use all targets, set for_each = target and use each.value.%s.",
				r.Name, targetNames(f.targets)[0], r.Name, r.Name)
		}
	}
	return lang.CheckAttr(r, r.Name, have)
}

func (p *planner) checkStepRef(f *frame, r lang.Ref) hcl.Diagnostics {
	s := f.step(r.Step)
	if s == nil || s.block.At.Kind == addrs.Toolchain {
		return nil
	}
	copies := s.instances
	if r.Keyed {
		copies = nil
		if in := s.copy(r.Key); in != nil {
			copies = []*instance{in}
		}
	}
	if len(copies) > 0 && r.Output != "" {
		var names []string // of all instances: evaluation reports if the chosen one lacks it
		for _, in := range copies {
			for _, o := range in.outputs {
				if o.Name == r.Output {
					return nil
				}
				if !slices.Contains(names, o.Name) {
					names = append(names, o.Name)
				}
			}
		}
		return lang.CheckOutput(r, names)
	}
	if len(copies) == 0 && r.Keyed {
		var keys []string
		for _, in := range s.instances {
			keys = append(keys, in.at.Key)
		}
		return noCopy("step", addrs.Instance{Step: r.Step, Key: r.Key, Keyed: true}.String(), r, keys, s.off[r.Key])
	}
	return nil
}

// noCopy reports a missing key of a step or module, with the existing keys. off means that the instance is missing
// because its when is false.
func noCopy(what, at string, r lang.Ref, keys []string, off bool) hcl.Diagnostics {
	text := fmt.Sprintf(". Known keys: %s.", orNone(keys))
	if near := suggest.Name(r.Key, keys); off {
		text = ", because its when is false" + text
	} else if near != "" {
		text = fmt.Sprintf(". Did you mean [%q]?", near)
	}
	return errorf(r.Range, "Unknown "+what+" instance", "%s does not exist%s", at, text)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func attrNames(v cty.Value) []string {
	if v == cty.NilVal || !v.Type().IsObjectType() {
		return nil
	}
	return sortedKeys(v.Type().AttributeTypes())
}

// assemble makes the plan from the evaluated objects, without unused toolchains.
func (p *planner) assemble() *plan.Plan {
	out := &plan.Plan{Pipeline: p.cfg.Name, Description: p.cfg.Description, Profile: p.profileName(),
		Outputs: p.outputs}
	toolchains := make(map[addrs.Instance]*plan.Instance)
	var needed []addrs.Instance // toolchains that steps use
	note := func(at addrs.Instance) {
		if at.Kind == addrs.Toolchain {
			needed = append(needed, at)
		}
	}
	n := 0
	for _, f := range p.frames {
		for _, s := range f.steps {
			for _, in := range s.instances {
				switch {
				case in.plan == nil:
				case in.at.Kind == addrs.Toolchain:
					toolchains[in.at] = in.plan
				default:
					n++
					in.plan.EachNeed(note)
				}
			}
		}
	}
	for _, e := range p.outputs {
		e.EachNeed(note)
	}
	reached := dag.Reach(needed, func(at addrs.Instance) []addrs.Instance {
		if n := toolchains[at]; n != nil {
			return n.Needs()
		}
		return nil
	})
	out.Instances = make([]*plan.Instance, 0, n+len(reached))
	for _, name := range p.order { // in dependency order; instances of one step do not depend on each other
		o := p.objects[name]
		if o.block == nil {
			continue
		}
		for _, f := range o.in.frames {
			s := f.steps[o.block.At]
			if s == nil {
				continue
			}
			for _, in := range s.instances {
				if in.plan != nil && (in.at.Kind != addrs.Toolchain || reached[in.at]) {
					out.Instances = append(out.Instances, in.plan)
				}
			}
		}
	}
	for _, m := range p.modules {
		for _, c := range m.parts.Checks {
			for _, f := range m.frames {
				out.Checks = append(out.Checks, f.checks[c.Name]...)
			}
		}
	}
	out.Reads = p.reads()
	return out
}

// reads returns everything that planning read.
func (p *planner) reads() plan.Reads {
	p.noteReads(p.o.Reads)
	for _, name := range append(sortedKeys(p.cfg.Files), p.cfg.Dirs...) {
		p.files.Follow(name)
	}
	r := p.files.Reads()
	set := func(a, b []string) []string { return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b)))) }
	return plan.Reads{Files: set(r.Files, sortedKeys(p.cfg.Files)), Dirs: set(r.Dirs, p.cfg.Dirs),
		Absent: set(r.Absent, p.cfg.Absent), Globs: r.Globs, Env: sortedKeys(p.env)}
}

func (p *planner) noteReads(r step.Reads) {
	for _, name := range r.Paths {
		p.files.Note(name)
	}
	for _, name := range r.Env {
		p.env[name] = true
	}
}

func errorf(at hcl.Range, summary, detail string, args ...any) hcl.Diagnostics {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
	if at != (hcl.Range{}) {
		d.Subject = &at
	}
	return hcl.Diagnostics{d}
}
