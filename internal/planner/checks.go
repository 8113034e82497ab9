package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/secret"
)

const (
	maxChecks       = 10_000  // instances of all checks
	maxCheckMessage = 1 << 10 // maximum size of a message, in bytes
)

// checkIn is a check, or an instance of one, in a frame.
type checkIn struct {
	*placed
	block *config.Check
	name  string    // check.words["a"]
	each  cty.Value // the zero Value without for_each
}

// declareCheck creates the object of a check.
func (p *planner) declareCheck(m *module, c *config.Check) hcl.Diagnostics {
	o := p.add(&object{name: m.name("check." + c.Name), in: m, scope: m, rng: c.Range})
	o.eval = func(f *frame) hcl.Diagnostics { return p.evalCheck(c, o, f) }
	ts := variables(c.Condition, c.Message)
	ts = append(ts, o.addStatic("for_each", "check."+c.Name, c.ForEach)...)
	ts = append(ts, o.addStatic("when", "check."+c.Name, c.When)...)
	diags := p.refer(o, c.ForEach != nil, ts)
	for _, e := range []hcl.Expression{c.Condition, c.Message} {
		diags = append(diags, p.referEach(o, e)...)
	}
	return diags
}

// evalCheck expands a check into its instances in a frame, and settles each instance that does not depend on values of
// steps.
func (p *planner) evalCheck(c *config.Check, o *object, f *frame) hcl.Diagnostics {
	keys, values, diags := p.keys(f, c.ForEach)
	if diags.HasErrors() {
		return diags
	}
	if p.checks += len(keys); p.checks > maxChecks {
		return errorf(c.Range, "Plan too large",
			"The %d instances of check.%s exceed the limit of %d checks in a plan. "+
				"Use fewer keys in for_each.", len(keys), c.Name, maxChecks)
	}
	for i, k := range keys {
		n := &checkIn{placed: &placed{p: p, object: o, frame: f}, block: c, name: "check." + c.Name}
		if c.ForEach != nil {
			n.name += fmt.Sprintf("[%q]", k)
			n.each = cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(k), "value": values[i]})
		}
		scope := n.scope(&f.scope)
		if c.When != nil {
			what := "when of " + n.name
			v, ds := p.evalTo(scope, c.When, cty.Bool, what)
			exists, ds := decide(v, ds, c.When, what)
			if diags = append(diags, ds...); ds.HasErrors() {
				return diags
			}
			if !exists {
				continue
			}
		}
		planned, ds := n.plan(scope)
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags // the other instances would fail in the same way
		}
		f.checks[c.Name] = append(f.checks[c.Name], planned)
	}
	return diags
}

// scope returns the frame's scope with each.
func (n *checkIn) scope(of *lang.Scope) *lang.Scope {
	own := *of
	own.Each = n.each
	return &own
}

func (n *checkIn) plan(scope *lang.Scope) (plan.Check, hcl.Diagnostics) {
	c := n.block
	out := plan.Check{At: n.frame.at.Of(n.name), Description: c.Description, Where: config.Where(c.Range),
		Severity: c.Severity}
	cond, diags := n.condition(scope)
	var message cty.Value
	if !diags.HasErrors() {
		var ds hcl.Diagnostics
		message, ds = n.message(scope)
		diags = append(diags, ds...)
	}
	if diags.HasErrors() {
		if gone := n.gone(); gone != "" {
			out.Settled = &plan.Verdict{Message: gone + " does not exist in this plan, because its when is false"}
			return out, nil
		}
		return out, diags
	}
	marks := append(lang.OutputMarks(cond), lang.OutputMarks(message)...)
	for _, m := range marks {
		if class := n.p.class(m); class != action.Value {
			return out, errorf(c.Range, "Invalid reference in a check",
				"%s can read only values, but %s is a %s. Declare a value output in that step, or in an exec step "+
					"that reads the %[3]s: output \"NAME\" { value = \"FILE\" }.", n.name, m, class)
		}
	}
	if out.AwaitValues = n.p.awaited(n.placed, marks); len(out.AwaitValues) > 0 {
		n.p.extender.checks[out.At] = n
		return out, diags
	}
	v := n.verdict(cond, func() (cty.Value, hcl.Diagnostics) { return message, nil }, nil)
	out.Settled = &v
	return out, diags
}

// condition evaluates to true, false or unknown.
func (n *checkIn) condition(scope *lang.Scope) (cty.Value, hcl.Diagnostics) {
	return n.part(scope, n.block.Condition, cty.Bool, "Invalid condition",
		"The condition of %s must be true or false (%s). Write a comparison, such as step.exec.a.outputs.n > 1.")
}

// message evaluates to a string or unknown.
func (n *checkIn) message(scope *lang.Scope) (cty.Value, hcl.Diagnostics) {
	return n.part(scope, n.block.Message, cty.String, "Invalid error_message",
		"The error_message of %s must be a string: %s.")
}

func (n *checkIn) part(
	scope *lang.Scope, e hcl.Expression, ty cty.Type, summary, detail string,
) (cty.Value, hcl.Diagnostics) {
	v, diags := n.p.eval(scope, e)
	if diags.HasErrors() {
		return v, diags
	}
	out, err := convert.Convert(v, ty)
	if err == nil && out.IsNull() {
		err = errors.New("the value is null")
	}
	if err != nil {
		return v, append(diags, errorf(e.Range(), summary, detail, n.name, err)...)
	}
	return out, diags
}

// gone returns a step or module that the check refers to and that does not exist, or "".
func (n *checkIn) gone() string {
	name := ""
	n.p.eachRef(n.object, n.frame, make(map[place]bool), func(f *frame, r lang.Ref) {
		if s := f.step(r.Step); s != nil && s.block.ForEach == nil && !s.exists() {
			name = s.at.String()
		}
	})
	for _, r := range n.object.refs {
		if r.Root == lang.Module && !r.Keyed && len(n.frame.calls[r.Name]) == 0 && n.frame.of.calls[r.Name] != nil {
			name = string(n.frame.at.Call(r.Name))
		}
	}
	return name
}

// evaluate evaluates the check with some of the values that it awaits.
func (n *checkIn) evaluate(values map[addrs.Output][]byte) plan.Verdict {
	l, diags := n.p.laterWith(values)
	if diags.HasErrors() {
		return failedCheck(diags)
	}
	settled, diags := l.settle(n.object, n.frame)
	if diags.HasErrors() {
		return failedCheck(diags)
	}
	scope := n.scope(settled)
	cond, diags := n.condition(scope)
	if diags.HasErrors() {
		return failedCheck(diags)
	}
	return n.verdict(cond, func() (cty.Value, hcl.Diagnostics) { return n.message(scope) }, values)
}

// verdict returns the verdict for a value of the condition.
func (n *checkIn) verdict(cond cty.Value, message func() (cty.Value, hcl.Diagnostics),
	values map[addrs.Output][]byte) plan.Verdict {
	plain, _ := cond.Unmark()
	if !plain.IsKnown() {
		return plan.Verdict{Missing: n.missing(cond, values)}
	}
	if plain.True() {
		return plan.Verdict{Known: true, Passed: true}
	}
	said, diags := message()
	return plan.Verdict{Known: true, Message: cutMessage(n.said(said, diags, values))}
}

// said returns the message of a check whose condition is false.
func (n *checkIn) said(message cty.Value, diags hcl.Diagnostics, values map[addrs.Output][]byte) string {
	plain, _ := message.Unmark()
	switch {
	case diags.HasErrors():
		return "The condition is false, but its error_message cannot be evaluated: " + diagnosed(diags)
	case lang.IsSensitive(message):
		return secret.Hidden
	case !plain.IsKnown():
		var names []string
		for _, o := range n.missing(message, values) {
			names = append(names, o.String())
		}
		return "The condition is false. Its error_message needs missing values: " + strings.Join(names, ", ") + "."
	}
	return plain.AsString()
}

// missing returns the missing values that an unknown value depends on.
func (n *checkIn) missing(v cty.Value, values map[addrs.Output][]byte) []addrs.Output {
	there := func(o addrs.Output) bool { _, ok := values[o]; return ok || n.p.class(o) != action.Value }
	if out := slices.DeleteFunc(lang.OutputMarks(v), there); len(out) > 0 {
		return out
	}
	return slices.DeleteFunc(n.p.awaited(n.placed, nil), there)
}

// failedCheck is the verdict of a condition that cannot be evaluated although its values are known. The check has
// tested nothing, so it does not pass.
func failedCheck(diags hcl.Diagnostics) plan.Verdict {
	return plan.Verdict{Known: true, Message: cutMessage("The condition cannot be evaluated: " + diagnosed(diags))}
}

// diagnosed returns the first error on one line.
func diagnosed(diags hcl.Diagnostics) string {
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		text := d.Detail
		if d.Subject != nil {
			text += fmt.Sprintf(" (%s)", config.Where(*d.Subject))
		}
		return text
	}
	return ""
}

func cutMessage(s string) string {
	if len(s) <= maxCheckMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxCheckMessage], "") + "…"
}
