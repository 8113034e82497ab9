package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/secret"
)

// evalOutput creates the plan's outputs for an output of the pipeline, or the value of a module's output for its
// caller.
func (p *planner) evalOutput(out *config.Output, o *object, f *frame) hcl.Diagnostics {
	val, diags := p.eval(&f.scope, out.Value)
	if diags.HasErrors() {
		return diags
	}
	if f.caller != nil {
		f.outputs[out.Name] = val
		return diags
	}
	of := f.of.origin(out)
	base := plan.Output{Name: out.Name, Description: cmp.Or(out.Description, of.Description),
		Where: config.Where(out.Range), Show: cmp.Or(out.Show, of.Show)}
	outputs, ds := p.outputsOf(out, &placed{p: p, object: o, frame: f}, base, val)
	diags = append(diags, ds...)
	for i := range outputs {
		diags = append(diags, p.outputPlace(out, outputs[i].Name)...)
	}
	p.outputs = append(p.outputs, outputs...)
	return diags
}

// origin follows outputs that pass on an output of a called module unchanged, and returns the innermost one.
// Errors about it are reported once, for the origin.
func (m *module) origin(out *config.Output) *config.Output {
	t, diags := hcl.AbsTraversalForExpr(out.Value)
	if diags.HasErrors() {
		return out
	}
	r, diags := lang.ParseRef(t)
	if diags.HasErrors() || r.Root != lang.Module || r.Attr == "" || len(r.Rest) > 0 || m.calls[r.Name] == nil {
		return out
	}
	child := m.calls[r.Name]
	for _, o := range child.parts.Outputs {
		if o.Name == r.Attr {
			return child.origin(o)
		}
	}
	return out
}

// outputPlace rejects an output, or a part of one, whose file name is invalid or taken. Otherwise the error would
// appear after hours of building.
func (p *planner) outputPlace(out *config.Output, name string) hcl.Diagnostics {
	r := out.Value.Range()
	file, err := plan.FileName(name)
	if err != nil {
		return errorf(r, "Invalid output name", "Output %s: %s. Rename the key.", name, err)
	}
	if other, ok := p.places[file]; ok {
		return errorf(r, "Conflicting output paths",
			"Outputs %s and %s would both be written to the file %s. Rename one of the outputs or keys.", other, name,
			file)
	}
	p.places[file] = name
	return nil
}

// outputsOf returns the outputs of a value: one, or one for each part of a collection that holds artifacts.
func (p *planner) outputsOf(out *config.Output, n *placed, base plan.Output,
	val cty.Value) ([]plan.Output, hcl.Diagnostics) {
	traits := lang.ValueMarksOf(val)
	if !traits.Sensitive && val.IsNull() {
		return nil, nil // of a step that does not exist in this profile
	}
	marks := lang.OutputMarks(val)
	artifacts := slices.ContainsFunc(marks, func(m addrs.Output) bool { return p.class(m) != action.Value })
	if artifacts && !traits.Sensitive && (val.Type() != cty.String || traits.Unknown) {
		return p.partsOutputs(out, n, base, val)
	}
	if traits.Sensitive {
		base.Literal = secret.Hidden
		base.Deps = p.dependencies(n, instancesOf(marks), true)
		return []plan.Output{base}, nil
	}
	switch {
	case artifacts:
		e, diags := p.artifactOutput(out, base, val, marks)
		if diags.HasErrors() {
			return nil, diags
		}
		return []plan.Output{e}, nil
	case len(marks) == 1 && isWhole(n.frame, out.Value, marks[0]):
		base.Class, base.Artifact = action.Value, action.Input{Artifact: &marks[0]}
	case traits.Unknown:
		base.Waits = plan.ForValues
		base.AwaitValues = p.awaited(n, marks)
	default:
		plain, _ := val.UnmarkDeep()
		base.Literal = literal(plain)
	}
	base.Deps = p.dependencies(n, instancesOf(marks), true)
	if base.Waits != plan.ForNothing {
		p.extender.outputs[base.Name] = &waitingOutput{n, out, base}
	}
	return []plan.Output{base}, nil
}

// artifactOutput creates the output for a path: that of an artifact, or one below it.
func (p *planner) artifactOutput(out *config.Output, e plan.Output, val cty.Value,
	marks []addrs.Output) (plan.Output, hcl.Diagnostics) {
	plain, _ := val.Unmark()
	for _, m := range marks {
		class := p.class(m)
		rest, ok := strings.CutPrefix(plain.AsString(), m.Path())
		if ok && (rest == "" || rest[0] == '/' && class == action.Tree) {
			e.Class, e.Artifact = class, action.Input{Artifact: &m, Sub: strings.TrimPrefix(rest, "/")}
			return e, nil
		}
	}
	return e, errorf(out.Value.Range(), "Invalid output value",
		"%q contains the path of %s, but is not a path inside that output. Use the output itself, or a path below it.",
		plain.AsString(), marks[0])
}

func (p *planner) partsOutputs(out *config.Output, n *placed, base plan.Output,
	val cty.Value) ([]plan.Output, hcl.Diagnostics) {
	shallow, marks := val.Unmark()
	if !shallow.IsKnown() || !shallow.CanIterateElements() {
		return nil, errorf(out.Value.Range(), "Invalid output value",
			"Output %s mixes file paths with values that only the run determines. Use two outputs.", out.Name)
	}
	outputs := make([]plan.Output, 0, shallow.LengthInt())
	var diags hcl.Diagnostics
	i := 0
	for it := shallow.ElementIterator(); it.Next(); i++ {
		k, v := it.Element()
		name := strconv.Itoa(i)
		if k, _ := k.Unmark(); k.Type() == cty.String && k.IsKnown() && !shallow.Type().IsSetType() {
			name = k.AsString()
		}
		part := base
		part.Name += "." + name
		es, ds := p.outputsOf(out, n, part, v.WithMarks(marks))
		outputs = append(outputs, es...)
		if diags = append(diags, ds...); ds.HasErrors() {
			return nil, diags
		}
	}
	return outputs, diags
}

// isWhole reports whether an expression of a frame refers to the output itself, directly or through outputs of modules.
func isWhole(f *frame, e hcl.Expression, o addrs.Output) bool {
	t, diags := hcl.AbsTraversalForExpr(e)
	if diags.HasErrors() {
		return false
	}
	r, diags := lang.ParseRef(t)
	if diags.HasErrors() || len(r.Rest) > 0 {
		return false
	}
	if r.Root == lang.Module && r.Attr != "" {
		for _, child := range f.calls[r.Name] {
			if r.Keyed && child.key.AsString() != r.Key {
				continue
			}
			for _, out := range child.of.parts.Outputs {
				if out.Name == r.Attr {
					return isWhole(child, out.Value, o)
				}
			}
		}
		return false
	}
	return r.Root == lang.StepRoot && r.Step == (addrs.Step{Kind: o.Kind, Name: o.Step.Name}) && f.at == o.Module &&
		r.Output == o.Name
}

// resolve evaluates the output again, with the awaited values.
func (w *waitingOutput) resolve(values map[addrs.Output][]byte) (plan.Output, error) {
	p, e := w.p, w.plan
	for _, o := range e.AwaitValues {
		if _, ok := values[o]; !ok {
			return e, fmt.Errorf("output %s: the value of %s is missing", e.Name, o)
		}
	}
	l, diags := p.laterWith(values)
	if diags.HasErrors() {
		return e, diags
	}
	scope, diags := l.settle(w.object, w.frame)
	if diags.HasErrors() {
		return e, diags
	}
	val, diags := p.eval(scope, w.block.Value)
	if diags.HasErrors() {
		return e, diags
	}
	e.Waits, e.AwaitValues = plan.ForNothing, nil
	plain, _ := val.UnmarkDeep()
	switch {
	case lang.IsSensitive(val):
		e.Literal = secret.Hidden
	case !plain.IsWhollyKnown():
		return e, fmt.Errorf("output %s depends on a value that no step has produced", e.Name)
	default:
		e.Literal = literal(plain)
	}
	return e, nil
}

// literal formats a known value: a string unchanged, anything else as JSON.
func literal(v cty.Value) string {
	if v.Type() == cty.String && !v.IsNull() {
		return v.AsString()
	}
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil { // capsules, which the language lacks
		return fmt.Sprintf("%#v", v)
	}
	return string(b)
}

func instancesOf(os []addrs.Output) []addrs.Instance {
	is := make([]addrs.Instance, len(os))
	for i, o := range os {
		is[i] = o.Instance
	}
	return is
}
