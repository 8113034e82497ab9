package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/steps"
)

// showCmd is `hexmage show PIPELINE [ADDRESS]`, `hexmage show kinds`, `hexmage show facts`, `hexmage show module NAME`,
// and `hexmage show [kind|soc|arch|toolchain|error] NAME`.
type showCmd struct {
	What    string `arg:"" help:"Name of a pipeline, kind, SoC, arch, toolchain or failure, or an error code. If several things have the same name, write the type before the name: kind, soc, arch, toolchain or error. Always write module before the name of a module. The word kinds lists all kinds of steps, and the word facts prints all facts."`
	Address string `arg:"" optional:"" help:"Part of the pipeline. Write a step as KIND.NAME, and a step of a module as module.MODULE.KIND.NAME. Write other parts as toolchain.NAME, output.NAME, check.NAME, var.NAME, local.NAME, target.NAME or module.NAME. Default: an overview of the pipeline. After a type such as kind, <address> is a name."`
}

// Help returns the examples of `hexmage show --help`.
func (*showCmd) Help() string {
	return `Runs no steps. A step with for_each has several instances: KIND.NAME shows all instances, and
KIND.NAME["KEY"] shows one instance.

Examples:

    hexmage show qwen3-aot-v79                          a pipeline: variables, targets, toolchains, steps, outputs
    hexmage show qwen3-aot-v79 module.aot               a module in this pipeline: arguments and outputs
    hexmage show qwen3-aot-v79 module.aot.context.llm   a step in this pipeline
    hexmage show qwen3-aot-v79 var.prompt               the value of a variable
    hexmage show qwen3-aot-v79 toolchain.qairt --json   a toolchain in this pipeline, as JSON

    hexmage show module mllm-aot                        a shipped module: variables and outputs
    hexmage show module ./modules/ops                   a module in a folder

    hexmage show SM8750                                 a SoC: arch, soc_model, VTCM size, and the source of each fact
    hexmage show arch v79                               a Hexagon arch: features, SDKs, SoCs
    hexmage show toolchain qairt                        a toolchain: releases, and the source of the default release

    hexmage show kinds                                  all kinds of steps
    hexmage show kind oppackage                         a kind: arguments, outputs, an example
    hexmage show kinds --json | jq -r .kind             the names of all kinds
    hexmage show facts --json                           all facts about SoCs, releases and failures, with sources

    hexmage show 0x80000406                             an error code: meaning and remedy
    hexmage show error skel-not-loaded                  a failure that hexmage diagnose can find`
}

// shownThing describes an address.
type shownThing struct {
	planner.Named
	Class     string             `json:"class,omitempty"` // for an output of the pipeline
	Shown     string             `json:"text,omitempty"`  // of an output
	Instance  json.RawMessage    `json:"instance,omitempty"`
	Arguments []planner.Argument `json:"arguments,omitempty"`
	Actions   []*actionStatus    `json:"status,omitempty"`
	Severity  string             `json:"severity,omitempty"` // of a check
	Inputs    []planner.Argument `json:"inputs,omitempty"`   // of a module call, like the next two fields
	Outputs   []planner.Argument `json:"outputs,omitempty"`
	Steps     []string           `json:"steps,omitempty"`

	instance *plan.Instance
}

// allKinds is the argument that lists all kinds of step.
const allKinds = "kinds"

// Run prints details of a pipeline, an address or a catalog record.
func (c *showCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.What == "module" && c.Address != "":
		return a.showModule(c.Address)
	case c.What == allKinds && c.Address == "":
		return listKinds(a, steps.Workspace{}.Kinds(), "")
	case c.What == allFacts && c.Address == "":
		return a.showFacts()
	}
	err := a.checkPipeline(c.What)
	switch {
	case err != nil:
		return c.explain(ctx, a, err)
	case c.Address == "":
		return a.showPipeline(c.What)
	}
	cfg, diags := a.load(c.What)
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return err
	}
	d, err := a.domain()
	if err != nil {
		return err
	}
	made, more, names, diags := planner.PlanWithSymbols(a.plannerOptions(cfg, d))
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return err
	}
	p := &planned{Plan: a.checkMachine(made), more: more}
	found, err := c.find(p.Plan, names)
	if err != nil {
		return err
	}
	return a.showThings(ctx, p, found)
}

// find returns the things with the address, and the instances of it.
func (c *showCmd) find(p *plan.Plan, names *planner.Names) ([]*shownThing, error) {
	keyed := strings.Contains(c.Address, "[")
	var found []*shownThing
	var all []string
	is := func(address, short string) bool {
		all = append(all, short)
		if c.Address == address || c.Address == short {
			return true
		}
		return !keyed && (addrs.WithoutKeys(address) == c.Address || addrs.WithoutKeys(short) == c.Address)
	}
	planned := map[string]bool{}
	for _, n := range p.Instances {
		address := n.At.String()
		planned[address] = true
		if is(address, n.At.Short()) {
			b, err := plan.JSONOf(n)
			if err != nil {
				return nil, engineError(err)
			}
			found = append(found, &shownThing{Named: planner.Named{Address: address, Where: n.Where,
				Description: n.Description}, Instance: b, Arguments: names.Arguments[n.At], instance: n})
		}
	}
	for _, o := range p.Outputs {
		name, _, _ := strings.Cut(o.Name, ".") // of elements of a collection
		address := "output." + o.Name
		if is(address, address) || c.Address == "output."+name {
			t := &shownThing{Named: planner.Named{Address: address, Where: o.Where, Description: o.Description},
				Shown: plan.TextOfOutput(o)}
			if o.Class != 0 {
				t.Class = o.Class.String()
			}
			found = append(found, t)
		}
	}
	for _, k := range p.Checks {
		if is(k.At, k.At) {
			found = append(found, &shownThing{Named: planner.Named{Address: k.At, Where: k.Where,
				Description: k.Description}, Severity: k.Severity})
		}
	}
	for _, n := range names.All {
		if planned[n.Address] || !is(n.Address, n.Address) {
			continue
		}
		t := &shownThing{Named: n}
		if n.Source != "" {
			t.call(p, names)
		}
		found = append(found, t)
	}
	if len(found) == 0 {
		return nil, givenError{usageError("pipeline %s: unknown address %s. %s", c.What, c.Address,
			orList("Available:", c.Address, all))}
	}
	return found, nil
}

// call adds the content of a called module.
func (t *shownThing) call(p *plan.Plan, names *planner.Names) {
	for _, n := range names.All {
		if name, ok := strings.CutPrefix(n.Address, t.Address+".var."); ok {
			t.Inputs = append(t.Inputs, planner.Argument{Name: name, Value: n.Value})
		}
		if name, ok := strings.CutPrefix(n.Address, t.Address+".output."); ok {
			t.Outputs = append(t.Outputs, planner.Argument{Name: name, Value: n.Value})
		}
	}
	for _, n := range p.Instances {
		if at := n.At.String(); strings.HasPrefix(at, t.Address+".") {
			t.Steps = append(t.Steps, at)
		}
	}
}

func (a *app) showThings(ctx context.Context, p *planned, found []*shownThing) error {
	status, err := a.statusOf(ctx, p, found)
	if err != nil {
		return err
	}
	if a.JSON {
		for _, t := range found {
			if t.instance != nil {
				t.Actions = status.groups[t.instance.At.Short()]
			}
		}
		return writeJSON(a.Env.Stdout, map[string]any{"format": "hexmage-show/0", "pipeline": p.Pipeline,
			"profile": p.Profile, "shown": found})
	}
	var b strings.Builder
	for i, t := range found {
		if i > 0 {
			b.WriteString("\n")
		}
		text, err := fieldsText(t)
		if t.instance != nil {
			text = plan.TextOf(t.instance, t.notes(status))
		}
		if err != nil {
			return engineError(err)
		}
		b.WriteString(text)
	}
	a.print(b.String())
	return nil
}

// statusOf returns what a run would do for the instances among the found things.
func (a *app) statusOf(ctx context.Context, p *planned, found []*shownThing) (*planStatus, error) {
	var only []addrs.Step
	for _, t := range found {
		if t.instance != nil {
			only = append(only, t.instance.At.Step)
		}
	}
	if len(only) == 0 {
		return nil, nil
	}
	p, err := p.Select(only...)
	if err != nil {
		return nil, err
	}
	w, err := a.preview(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	return w.status(ctx), nil
}

// notes returns additional lines for an instance.
func (t *shownThing) notes(status *planStatus) plan.Notes {
	notes := status.notes()
	one, spec := notes.Instance, notes.Spec
	notes.Paths = true
	notes.Instance = func(n *plan.Instance) string {
		var lines []string
		if line := one(n); line != "" {
			lines = append(lines, line)
		}
		if k := (steps.Workspace{}).Kinds()[n.At.Kind]; k != nil {
			lines = append(lines, "kind "+n.At.Kind+": "+k.Schema().Summary)
		}
		if n.Version != "" {
			lines = append(lines, "version "+n.Version)
		}
		for _, d := range n.Needs() {
			lines = append(lines, "needs "+d.String())
		}
		for _, arg := range t.Arguments {
			lines = append(lines, "argument "+arg.Name+" = "+textOf(arg.Value))
		}
		return strings.Join(lines, "\n  ")
	}
	notes.Spec = func(n *plan.Instance, name string) string {
		line := spec(n, name)
		if to := status.by[n.At.Short()+"\x00"+name]; to != nil && to.Key != "" && to.Status == engine.WillUse {
			line += fmt.Sprintf(", key %.12s", to.Key)
		}
		return line
	}
	return notes
}

// textOf formats a value for people: JSON without escaped characters.
func textOf(v planner.Value) string {
	var text string
	if json.Unmarshal(v, &text) == nil && !strings.Contains(text, "\n") {
		return fmt.Sprintf("%q", text)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(v))
}

// modulePath reports whether a name is a folder, not a module.
func modulePath(name string) bool {
	return filepath.IsAbs(name) || strings.ContainsAny(name, `/\`) || name == "." || name == ".."
}
