package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/hexmage/hexmage/qnn"
)

// Rule is a compatibility rule. Its expressions use the objects that Subject lists. The rule applies when all objects
// in its expressions are known.
type Rule struct {
	ID         string         `hcl:"id,label"`
	Severity   string         `hcl:"severity,optional"`   // error (default), warning, note, off
	Summary    string         `hcl:"summary,optional"`    // title of the diagnostic
	Source     *hcl.Attribute `hcl:"source,optional"`     // document or observation behind the rule
	Confidence *hcl.Attribute `hcl:"confidence,optional"` // documented, observed or inferred; an inferred rule only warns
	Doubt      bool           `hcl:"doubt,optional"`      // true: a fact is unknown, so `compat` answers maybe
	Argument   string         `hcl:"argument,optional"`   // block argument that the diagnostic points at
	Defect     *Defect        `hcl:"defect,block"`        // releases with a known defect; When narrows them
	Each       *hcl.Attribute `hcl:"each,optional"`       // a list; the rule applies to each element, as each.value
	When       *hcl.Attribute `hcl:"when,optional"`       // true: the rule is broken; if absent, each element breaks it
	Reason     *hcl.Attribute `hcl:"reason,optional"`     // conflict and its effect
	Remedy     *hcl.Attribute `hcl:"remedy,optional"`     // next step

	needs   []string // objects that the rule mentions
	insists bool     // a workspace sets severity error, which inferred rules keep
}

// Defect is a known defect of a toolchain, with the affected releases.
type Defect struct {
	Toolchain string `hcl:"toolchain,label" json:"toolchain"`
	From      string `hcl:"from" json:"from"` // the first release with the defect
	// Before is the first release without the defect. If it is "", all newer releases have the defect.
	Before string `hcl:"before,optional" json:"before,omitempty"`
}

// addRules adds rules. A rule with a known id changes only the attributes that it sets.
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
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid compatibility rule", Detail: fmt.Sprintf("%s: compat %q: ", file, r.ID) + fmt.Sprintf(format, args...)}}
	}
	if r.Severity == "" {
		r.Severity = qnn.SeverityError
	}
	if !slices.Contains([]string{qnn.SeverityError, qnn.SeverityWarning, qnn.SeverityNote, qnn.SeverityOff}, r.Severity) {
		return bad("invalid severity %q. Use error, warning, note or off.", r.Severity)
	}
	if r.isCoded() {
		if r.When != nil || r.Each != nil || r.Reason != nil || r.Remedy != nil {
			return bad("built-in rule. Set only severity.")
		}
		return nil
	}
	if r.Reason == nil || r.When == nil && r.Each == nil && r.Defect == nil {
		return bad("missing reason or condition. Set reason, and one of when, each and defect.")
	}
	r.needs = nil
	if r.Defect != nil {
		r.needs = []string{r.Defect.Toolchain}
		r.Summary, r.Argument = cmp.Or(r.Summary, "Release with a known defect"), cmp.Or(r.Argument, "version")
	}
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

// askedAt reports whether the rule applies at a block.
//
// A rule applies at the target if it mentions only the target, its arch and its SoC. It applies at a toolchain block
// if it mentions that toolchain and no other. It applies at a step if it mentions the step or several toolchains.
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

// Blocks besides toolchains at which rules apply.
const (
	AtTarget = "target"
	AtStep   = "step"
)

// Ask evaluates the rules for one kind of block: AtTarget, AtStep or a toolchain's name. For "", it evaluates all rules
// whose facts are known. Diagnostics report errors in the rules.
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
	if d := r.Defect; d != nil {
		release := ctx.Variables[d.Toolchain].GetAttr("version").AsString()
		if release == "" || qnn.OlderRelease(release, d.From) || d.Before != "" && !qnn.OlderRelease(release, d.Before) {
			return nil, nil
		}
	}
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
	v := cty.True // without when, each element of each breaks the rule
	if r.When != nil {
		if v, diags = r.When.Expr.Value(ctx); diags.HasErrors() {
			return nil, diags
		}
	}
	if v, err := convert.Convert(v, cty.Bool); err != nil || v.IsNull() {
		at := r.When.Expr.Range()
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid compatibility rule", Detail: fmt.Sprintf(""+
			"compat %q: when is not true or false. Use a comparison.", r.ID), Subject: &at}}
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

// textOf returns the string value of an attribute, or "" for an absent attribute or another type.
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

// KnownFrom returns the rule's source and confidence. It returns "the record" for a value that depends on a record.
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

// Text returns the HCL source of a rule's attribute, or "" for nil. It removes the quotes of a string.
func (s *Set) Text(a *hcl.Attribute) string {
	if a == nil {
		return ""
	}
	text := string(a.Expr.Range().SliceBytes(s.files[a.Expr.Range().Filename]))
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		text = strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `\"`, `"`)
	}
	return text
}

// Judge handles findings of rules in Go code: it sets the severity from the catalog, and drops findings with severity
// off.
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

// Diagnostics converts findings, except notes, to diagnostics. The field Extra contains the finding. The function at
// returns the source range of an argument.
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
	return "Incompatible versions"
}
