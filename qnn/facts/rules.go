package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/qnn"
)

// Rule says of facts what does not go together. Its expressions may use the objects that Subject lists; a rule is asked when
// all that it mentions is known.
type Rule struct {
	ID         string         `hcl:"id,label"`
	Severity   string         `hcl:"severity,optional"`   // error (default), warning, note, off
	Summary    string         `hcl:"summary,optional"`    // the heading of a diagnostic
	Source     *hcl.Attribute `hcl:"source,optional"`     // where it is known from
	Confidence *hcl.Attribute `hcl:"confidence,optional"` // documented, observed or inferred: an inferred one only warns
	Doubt      bool           `hcl:"doubt,optional"`      // the rule says that something is unknown: `compat` answers maybe
	Argument   string         `hcl:"argument,optional"`   // of the block that the diagnostic points at
	Each       *hcl.Attribute `hcl:"each,optional"`       // a list: the rule is asked for each element, each.value
	When       *hcl.Attribute `hcl:"when,optional"`       // true: the rule is broken; without it each element breaks it
	Reason     *hcl.Attribute `hcl:"reason,optional"`     // what does not go together, and what comes of it
	Remedy     *hcl.Attribute `hcl:"remedy,optional"`     // what to do

	needs   []string // objects that it mentions
	insists bool     // a workspace wants it to be an error, however sure it is
}

// addRules puts rules in, or on top of those of the same id: what a later one does not say stays as it was.
func (s *Set) addRules(rules []*Rule, file File) (diags hcl.Diagnostics) {
	for _, r := range rules {
		insists := r.Severity == qnn.SeverityError && !file.Shipped
		i := slices.IndexFunc(s.Rules, func(h *Rule) bool { return h.ID == r.ID })
		if i < 0 {
			s.Rules = append(s.Rules, r)
		} else {
			Inherit(r, s.Rules[i])
			r.insists = s.Rules[i].insists
			s.Rules[i] = r
		}
		r.insists = r.insists || insists
		diags = append(diags, r.check(file.Name)...)
	}
	return diags
}

func (r *Rule) check(file string) hcl.Diagnostics {
	bad := func(format string, args ...any) hcl.Diagnostics {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Rule of what goes together", Detail: fmt.Sprintf("%s: compat %q: ", file, r.ID) + fmt.Sprintf(format, args...)}}
	}
	if r.Severity == "" {
		r.Severity = qnn.SeverityError
	}
	if !slices.Contains([]string{qnn.SeverityError, qnn.SeverityWarning, qnn.SeverityNote, qnn.SeverityOff}, r.Severity) {
		return bad("severity %q is not known: use error, warning, note or off.", r.Severity)
	}
	if r.isCoded() {
		if r.When != nil || r.Each != nil || r.Reason != nil || r.Remedy != nil {
			return bad("the rule looks into files and is part of hexmage: only its severity can be set here.")
		}
		return nil
	}
	if r.Reason == nil || r.When == nil && r.Each == nil {
		return bad("a rule needs reason, and when or each.")
	}
	r.needs = nil
	for _, a := range []*hcl.Attribute{r.Each, r.When, r.Reason, r.Remedy, r.Source, r.Confidence} {
		if a == nil {
			continue
		}
		for _, t := range a.Expr.Variables() {
			if name := t.RootName(); name != "each" && !slices.Contains(r.needs, name) {
				r.needs = append(r.needs, name)
			}
		}
	}
	return nil
}

func (r *Rule) isCoded() bool {
	return slices.ContainsFunc(qnn.Coded(), func(i qnn.Info) bool { return i.ID == r.ID })
}

// askedAt tells whether the rule is asked at a block: at the target, when it mentions nothing but that, its arch and its SoC; at a toolchain block, when
// it mentions that and no other; at a step, when it mentions the step, or several toolchains.
func (r *Rule) askedAt(block string) bool {
	n := 0
	for _, name := range r.needs {
		switch name {
		case "target", "arch", "soc":
		case "step":
			return block == AtStep
		default:
			n++
			if block != AtStep && name != block {
				return false
			}
		}
	}
	switch block {
	case AtTarget:
		return n == 0
	case AtStep:
		return n > 1
	}
	return n == 1
}

// AtTarget and AtStep are the blocks, beside toolchains, at which rules are asked.
const (
	AtTarget = "target"
	AtStep   = "step"
)

// Ask asks the rules. at is the block at which they are asked: AtTarget, AtStep or the name of a toolchain; "" asks all rules for which the
// facts are known. What is wrong with a rule itself comes as diagnostics.
func (s *Set) Ask(about Subject, at string) ([]qnn.Finding, hcl.Diagnostics) {
	var out []qnn.Finding
	var diags hcl.Diagnostics
	vars, functions := s.variables(about), s.functions(about)
	for _, r := range s.Rules {
		if r.Severity == qnn.SeverityOff || r.isCoded() || at != "" && !r.askedAt(at) {
			continue
		}
		if slices.ContainsFunc(r.needs, func(n string) bool { return vars[n] == cty.NilVal }) {
			continue
		}
		found, ds := r.ask(&hcl.EvalContext{Variables: vars, Functions: functions})
		out = append(out, found...)
		diags = append(diags, ds...)
	}
	return out, diags
}

func (r *Rule) ask(ctx *hcl.EvalContext) ([]qnn.Finding, hcl.Diagnostics) {
	if r.Each == nil {
		return r.eval(ctx)
	}
	list, diags := r.Each.Expr.Value(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	if list.IsNull() || !list.CanIterateElements() {
		return nil, nil
	}
	var out []qnn.Finding
	for it := list.ElementIterator(); it.Next(); {
		_, v := it.Element()
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"value": v})}
		found, ds := r.eval(child)
		out, diags = append(out, found...), append(diags, ds...)
	}
	return out, diags
}

func (r *Rule) eval(ctx *hcl.EvalContext) ([]qnn.Finding, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	v := cty.True // each element of each breaks the rule
	if r.When != nil {
		if v, diags = r.When.Expr.Value(ctx); diags.HasErrors() {
			return nil, diags
		}
	}
	if v, err := convert.Convert(v, cty.Bool); err != nil || v.IsNull() {
		at := r.When.Expr.Range()
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Rule of what goes together", Detail: fmt.Sprintf("when of compat %q is to be true or false.", r.ID), Subject: &at}}
	} else if v.False() {
		return nil, nil
	}
	f := qnn.Finding{Rule: r.ID, Severity: r.Severity, Doubt: r.Doubt, Argument: r.Argument}
	for to, a := range map[*string]*hcl.Attribute{&f.Reason: r.Reason, &f.Remedy: r.Remedy, &f.Source: r.Source, &f.Confidence: r.Confidence} {
		text, ds := textOf(a, ctx)
		diags = append(diags, ds...)
		*to = text
	}
	if f.Confidence == qnn.Inferred && f.Severity == qnn.SeverityError && !r.insists {
		f.Severity = qnn.SeverityWarning
	}
	return []qnn.Finding{f}, diags
}

// textOf is what an attribute says, "" when it is not there or no text.
func textOf(a *hcl.Attribute, ctx *hcl.EvalContext) (string, hcl.Diagnostics) {
	if a == nil {
		return "", nil
	}
	v, diags := a.Expr.Value(ctx)
	if diags.HasErrors() {
		return "", diags
	}
	if v, err := convert.Convert(v, cty.String); err == nil && !v.IsNull() && v.IsKnown() {
		return strings.TrimSpace(v.AsString()), diags
	}
	return "", diags
}

// KnownFrom says where the rule is known from and how sure that is, of one that rests on records: that it does.
func (r *Rule) KnownFrom() (source, confidence string) {
	for _, i := range qnn.Coded() {
		if i.ID == r.ID {
			return i.Source, i.Confidence
		}
	}
	static := func(a *hcl.Attribute) string {
		if a != nil && len(a.Expr.Variables()) > 0 {
			return "the record"
		}
		text, _ := textOf(a, nil)
		return text
	}
	return static(r.Source), static(r.Confidence)
}

// Judge gives the findings of rules that are code the severities that the catalogue has for them, and drops those that nobody
// wants to know.
func (s *Set) Judge(found []qnn.Finding) []qnn.Finding {
	var out []qnn.Finding
	for _, f := range found {
		for _, r := range s.Rules {
			if r.ID == f.Rule && r.isCoded() {
				f.Severity = r.Severity
			}
		}
		if f.Severity != qnn.SeverityOff {
			out = append(out, f)
		}
	}
	return out
}

// Diagnostics makes diagnostics of findings, which are their Extra; at gives the place of an argument. Notes are left out.
func (s *Set) Diagnostics(found []qnn.Finding, at func(argument string) *hcl.Range) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, f := range found {
		d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: s.summary(f.Rule), Detail: f.Text(), Subject: at(f.Argument), Extra: f}
		switch f.Severity {
		case qnn.SeverityNote, qnn.SeverityOff:
			continue
		case qnn.SeverityWarning:
			d.Severity = hcl.DiagWarning
		}
		diags = append(diags, d)
	}
	return diags
}

func (s *Set) summary(id string) string {
	for _, r := range s.Rules {
		if r.ID == id && r.Summary != "" {
			return r.Summary
		}
	}
	return "These do not go together"
}
