// Package lang parses references and evaluates expressions. If a value depends on the output of a step, the value has
// the output's address (addrs.Output) as a mark. If a value depends on a sensitive variable, the value has the mark
// Sensitive. The package does not know the order of evaluation, or what a step does.
package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/suggest"
)

// Names with which references begin.
const (
	Var       = "var"
	Local     = "local"
	Path      = "path"
	Profile   = "profile"
	Target    = "target"
	Targets   = "targets" // all targets by name, even if there is only one
	Toolchain = "toolchain"
	StepRoot  = "step"
	Module    = "module"
	Each      = "each"
	Matrix    = "matrix" // axes of the step's matrix
)

// Roots returns the names that can begin a reference.
func Roots() []string {
	return []string{Each, Local, Matrix, Module, Path, Profile, StepRoot, Target, Targets, Toolchain, Var}
}

// Ref is a parsed reference, such as step.exec.gen["v12"].outputs.so[0].
type Ref struct {
	Root string // one of Roots
	// name of a variable, local, toolchain or module call, or the attribute of path, profile, target, each or matrix
	Name string
	Step addrs.Step // for steps and toolchains

	Key     string // key of a for_each instance of a step or module call
	Keyed   bool
	Outputs bool   // the reference contains .outputs
	Output  string // name of the output; "" if the reference has no constant name
	Attr    string // the attribute of a toolchain, or the output of a module; "" for all
	Copies  bool   // the expression uses only the keys of the module's instances

	Rest  hcl.Traversal // rest of the traversal, relative
	Range hcl.Range
	// OutputRange is the position of the output or attribute name, for diagnostics.
	OutputRange hcl.Range
}

// Object returns the address of the element to which the reference leads, such as "var.x", "local.x", "target",
// "toolchain.llvm", "step.patch.ops" or "module.aot".
func (r Ref) Object() string {
	switch r.Root {
	case Var, Local, Module:
		return r.Root + "." + r.Name
	case Toolchain, StepRoot:
		return r.Step.String()
	}
	return r.Root
}

// String formats the reference in the syntax of pipeline files.
func (r Ref) String() string {
	var b strings.Builder
	b.WriteString(r.Object())
	switch r.Root {
	case Path, Profile, Target, Targets, Each, Matrix:
		if r.Name != "" {
			b.WriteString("." + r.Name)
		}
	case Toolchain:
		if r.Attr != "" {
			b.WriteString("." + r.Attr)
		}
	case Module:
		if r.Keyed {
			b.WriteString(index(cty.StringVal(r.Key)))
		}
		if r.Attr != "" {
			b.WriteString("." + r.Attr)
		}
	case StepRoot:
		if r.Keyed {
			b.WriteString(index(cty.StringVal(r.Key)))
		}
		if r.Outputs {
			b.WriteString(".outputs")
		}
		if r.Output != "" {
			b.WriteString("." + r.Output)
		}
	}
	for _, t := range r.Rest {
		switch t := t.(type) {
		case hcl.TraverseAttr:
			b.WriteString("." + t.Name)
		case hcl.TraverseIndex:
			b.WriteString(index(t.Key))
		}
	}
	return b.String()
}

// unkeyed returns the reference without a key.
func (r Ref) unkeyed() Ref {
	r.Key, r.Keyed = "", false
	return r
}

func index(key cty.Value) string {
	return "[" + string(hclwrite.TokensForValue(key).Bytes()) + "]"
}

// ParseRef parses a traversal as a reference. It checks only the syntax; Declared.Check checks that the element exists.
func ParseRef(t hcl.Traversal) (Ref, hcl.Diagnostics) {
	if len(t) == 0 || t.IsRelative() {
		return Ref{}, errorf(hcl.Range{}, "Invalid reference", "A reference starts with one of %s.",
			strings.Join(Roots(), ", "))
	}
	r := &Ref{Root: t.RootName(), Range: t.SourceRange()}
	p := &refParser{rest: t[1:], ref: r}
	var diags hcl.Diagnostics
	switch r.Root {
	case Var, Local:
		r.Name, diags = p.name("%s.NAME", r.Root)
	case Path, Profile, Target, Targets, Each, Matrix:
		r.Name, r.OutputRange = p.attr()
	case Toolchain:
		r.Step.Kind = addrs.Toolchain
		r.Step.Name, diags = p.name("toolchain.NAME")
		r.Name = r.Step.Name
		r.Attr, r.OutputRange = p.attr()
	case StepRoot:
		diags = p.step()
	case Module:
		if r.Name, diags = p.name("module.NAME.OUTPUT"); !diags.HasErrors() {
			if diags = p.key("module." + r.Name); !diags.HasErrors() {
				r.Attr, r.OutputRange = p.attr()
			}
		}
	default:
		diags = unknownRoot(*r)
	}
	r.Rest = p.rest
	return *r, diags
}

func unknownRoot(r Ref) hcl.Diagnostics {
	if near := suggest.Name(r.Root, Roots()); near != "" {
		return errorf(r.Range, "Unknown reference", "%s does not exist. Did you mean %s?", r.Root, near)
	}
	advice := fmt.Sprintf("For a string, add quotes: %q.", r.Root)
	if r.Root == strings.ToUpper(r.Root) {
		advice += fmt.Sprintf(" For a shell variable, write $${%s}.", r.Root)
	}
	return errorf(r.Range, "Unknown reference", "%s does not exist. References start with %s. %s", r.Root,
		strings.Join(Roots(), ", "), advice)
}

type refParser struct {
	rest hcl.Traversal
	ref  *Ref
}

// attr parses a constant attribute, .name or ["name"], if one follows; only names valid in .name count.
func (p *refParser) attr() (string, hcl.Range) {
	if len(p.rest) == 0 {
		return "", hcl.Range{}
	}
	switch t := p.rest[0].(type) {
	case hcl.TraverseAttr:
		p.rest = p.rest[1:]
		return t.Name, t.SrcRange
	case hcl.TraverseIndex:
		if k, ok := stringKey(t); ok && hclsyntax.ValidIdentifier(k) {
			p.rest = p.rest[1:]
			return k, t.SrcRange
		}
	}
	return "", hcl.Range{}
}

func stringKey(t hcl.TraverseIndex) (string, bool) {
	if t.Key.Type() != cty.String || t.Key.IsNull() || !t.Key.IsKnown() || t.Key.IsMarked() {
		return "", false
	}
	return t.Key.AsString(), true
}

func (p *refParser) name(form string, args ...any) (string, hcl.Diagnostics) {
	if n, _ := p.attr(); n != "" {
		return n, nil
	}
	return "", errorf(p.ref.Range, "Incomplete reference", "The reference is incomplete. Write "+form+".", args...)
}

// step parses KIND.NAME, then an optional key, then .outputs.NAME.
func (p *refParser) step() hcl.Diagnostics {
	kind, diags := p.name("step.KIND.NAME.outputs.OUTPUT")
	if diags.HasErrors() {
		return diags
	}
	name, diags := p.name("step.%s.NAME.outputs.OUTPUT", kind)
	if diags.HasErrors() {
		return diags
	}
	r := p.ref
	r.Step = addrs.Step{Kind: kind, Name: name}
	if diags := p.key(r.Step.String()); diags.HasErrors() || len(p.rest) == 0 {
		return diags
	}
	t, ok := p.rest[0].(hcl.TraverseAttr)
	if !ok || t.Name != "outputs" {
		return errorf(r.Range, "Incomplete step reference",
			"Other blocks can use only the outputs of a step. Write %s.outputs.NAME.",
			fmt.Sprint(addrs.Instance{Step: r.Step, Key: r.Key, Keyed: r.Keyed}))
	}
	r.Outputs = true
	p.rest = p.rest[1:]
	r.Output, r.OutputRange = p.attr()
	return nil
}

// key parses a key in brackets, if one follows; of names the element with keys.
func (p *refParser) key(of string) hcl.Diagnostics {
	if len(p.rest) == 0 {
		return nil
	}
	t, ok := p.rest[0].(hcl.TraverseIndex)
	if !ok {
		return nil
	}
	k, ok := stringKey(t)
	if !ok {
		return errorf(t.SrcRange, "Invalid key", "The keys of for_each are strings. Write %s[\"key\"].", of)
	}
	p.ref.Key, p.ref.Keyed = k, true
	p.rest = p.rest[1:]
	return nil
}

func errorf(r hcl.Range, summary, detail string, args ...any) hcl.Diagnostics {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
	if r != (hcl.Range{}) {
		d.Subject = &r
	}
	return hcl.Diagnostics{d}
}
