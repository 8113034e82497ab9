package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/steps"
)

// showCmd is `hexmage show PIPELINE [ADDRESS]`, `hexmage show kinds`, `hexmage show module NAME`, and
// `hexmage show [kind|soc|arch|toolchain|error] NAME`.
type showCmd struct {
	What    string `arg:"" help:"A pipeline; kinds; or module, kind, soc, arch, toolchain or error before a name; or an unambiguous name alone."`
	Address string `arg:"" optional:"" help:"What the pipeline names: a step (KIND.NAME, of a module module.NAME.KIND.NAME), toolchain.NAME, output.NAME, check.NAME, var.NAME, local.NAME, target.NAME, module.NAME. Default: what the pipeline takes and gives. Of module: a name or a folder."`
}

// Help has the examples of `hexmage show --help`.
func (*showCmd) Help() string {
	return `It runs nothing. Without a key, an address of a copy means all copies.

Examples:

    hexmage show qwen3-aot-v79                         its variables, targets, toolchains, steps, outputs
    hexmage show qwen3-aot-v79 module.aot              a call of a module: what goes in and out
    hexmage show qwen3-aot-v79 module.aot.context.llm
    hexmage show qwen3-aot-v79 var.prompt              a value
    hexmage show qwen3-aot-v79 toolchain.qairt --json  for programs
    hexmage show module mllm-aot                       a module's variables and outputs
    hexmage show module ./modules/ops                  one of a folder
    hexmage show SM8750                                a SoC: its arch, numbers, and where they are known from
    hexmage show arch v79                              a Hexagon arch: what it can do, who knows it, which SoCs have it
    hexmage show toolchain qairt                       its releases, and how the default one is had
    hexmage show kinds                                 all kinds of step, one a line
    hexmage show kind oppackage                        its arguments, outputs, an example
    hexmage show kinds --json | jq -r .kind            for editors: every argument's name, type, values and default
    hexmage show 0x80000406                            what a code means, and what to do
    hexmage show error skel-not-loaded                 a failure that diagnose knows`
}

// shownThing is what is shown of one address.
type shownThing struct {
	planner.Named
	Class     string             `json:"class,omitempty"` // of an output of the pipeline
	Shown     string             `json:"text,omitempty"`  // likewise
	Instance  json.RawMessage    `json:"instance,omitempty"`
	Arguments []planner.Argument `json:"arguments,omitempty"`
	Actions   []*actionStatus    `json:"status,omitempty"`
	Severity  string             `json:"severity,omitempty"` // of a check
	Inputs    []planner.Argument `json:"inputs,omitempty"`   // of a call, as are the next two
	Outputs   []planner.Argument `json:"outputs,omitempty"`
	Steps     []string           `json:"steps,omitempty"`

	instance *plan.Instance
}

// allKinds is the word that lists all kinds of step.
const allKinds = "kinds"

// Run shows.
func (c *showCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.What == "module" && c.Address != "":
		return a.showModule(c.Address)
	case c.What == allKinds && c.Address == "":
		return listKinds(a, steps.Workspace{}.Kinds(), "")
	}
	workspace, err := a.workspace(c.What)
	switch {
	case err != nil:
		return c.explain(ctx, a, err)
	case c.Address == "":
		return a.showPipeline(workspace, c.What)
	}
	cfg, diags := a.load(workspace, c.What)
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return err
	}
	d, err := a.domain(workspace)
	if err != nil {
		return err
	}
	made, more, names, diags := planner.BuildNamed(a.plannerOptions(workspace, cfg, d))
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return err
	}
	p := &planned{Plan: a.checkMachine(made), more: more}
	found, err := c.find(p.Plan, names)
	if err != nil {
		return err
	}
	return a.showThings(ctx, p, workspace, found)
}

// keys are those of copies.
var keysRE = lazyregexp.New(`\["(?:[^"\\]|\\.)*"\]`)

// find returns what has the address, or is a copy of what has it.
func (c *showCmd) find(p *plan.Plan, names *planner.Names) ([]*shownThing, error) {
	keyed := strings.Contains(c.Address, "[")
	var found []*shownThing
	var all []string
	is := func(address, short string) bool {
		all = append(all, short)
		if c.Address == address || c.Address == short {
			return true
		}
		return !keyed && (keysRE.ReplaceAllString(address, "") == c.Address ||
			keysRE.ReplaceAllString(short, "") == c.Address)
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
		name, _, _ := strings.Cut(o.Name, ".") // of a collection's elements
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
		return nil, givenError{usageError("%s has nothing at %s. %s", c.What, c.Address,
			orList("It has", c.Address, few(all)))}
	}
	return found, nil
}

// call finds what is in a module that is called.
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

// few are the first of many names.
func few(names []string) []string {
	const most = 20
	if len(names) > most {
		return append(slices.Clip(names[:most]), "…")
	}
	return names
}

func (a *app) showThings(ctx context.Context, p *planned, workspace string, found []*shownThing) error {
	status, err := a.statusOf(ctx, p, workspace, found)
	if err != nil {
		return err
	}
	if a.JSON {
		for _, t := range found {
			if t.instance != nil {
				t.Actions = status.groups[t.instance.At.Short()]
			}
		}
		return a.printJSON(map[string]any{"format": "hexmage-show/0", "pipeline": p.Pipeline, "profile": p.Profile,
			"shown": found})
	}
	var b strings.Builder
	for i, t := range found {
		if i > 0 {
			b.WriteString("\n")
		}
		t.text(&b, status)
	}
	fmt.Fprint(a.Env.Stdout, ansi.Visible(b.String(), false))
	return nil
}

// statusOf finds out what a run would do for the instances among what is shown.
func (a *app) statusOf(ctx context.Context, p *planned, workspace string, found []*shownThing) (*planStatus, error) {
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
	w, err := a.preview(ctx, p, workspace, nil)
	if err != nil {
		return nil, err
	}
	return w.status(ctx), nil
}

// text writes it for people.
func (t *shownThing) text(b *strings.Builder, status *planStatus) {
	if n := t.instance; n != nil {
		b.WriteString(plan.TextOf(n, t.notes(status)))
		return
	}
	at := ""
	if t.Where != "" {
		at = "  (" + t.Where + ")"
	}
	fmt.Fprintf(b, "%s%s\n", t.Address, at)
	if t.Description != "" {
		fmt.Fprintf(b, "  %s\n", t.Description)
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "  %s %s\n", name, text)
		}
	}
	line("source", t.Source)
	line("folder", t.Dir)
	line("type", t.Type)
	line("class", t.Class)
	line("severity", t.Severity)
	line("value", t.Shown)
	line("value", textOf(t.Value))
	for _, v := range t.Inputs {
		line("variable", v.Name+" = "+textOf(v.Value))
	}
	for _, o := range t.Outputs {
		line("output", o.Name+" = "+textOf(o.Value))
	}
	for _, s := range t.Steps {
		line("has", s)
	}
}

// notes add to what a plan says of an instance.
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

// textOf is a value for people: JSON that has its characters as they are.
func textOf(v planner.Value) string {
	var text string
	if json.Unmarshal(v, &text) == nil && !strings.Contains(text, "\n") {
		return fmt.Sprintf("%q", text)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(v))
}

// modulePath tells a folder from the name of a module.
func modulePath(name string) bool {
	return filepath.IsAbs(name) || strings.ContainsAny(name, `/\`) || name == "." || name == ".."
}
