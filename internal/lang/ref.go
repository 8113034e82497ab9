// Package lang has references and the evaluation of expressions: what an expression refers to, whether that exists,
// and which values and functions it sees.
//
// Values made from a step's output carry a mark, the output's address (addrs.Output), and values of sensitive
// variables carry Sensitive. The package does not know in which order things are evaluated, nor what a step does.
package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/nearest"
)

// Roots of references.
const (
	Var       = "var"
	Local     = "local"
	Path      = "path"
	Profile   = "profile"
	Target    = "target"
	Targets   = "targets" // all of them by name, also where there is one
	Toolchain = "toolchain"
	StepRoot  = "step"
	Module    = "module"
	Each      = "each"
	Matrix    = "matrix" // axes of the step's matrix
)

// Roots returns the names that references start with.
func Roots() []string {
	return []string{Each, Local, Matrix, Module, Path, Profile, StepRoot, Target, Targets, Toolchain, Var}
}

// Ref is a typed reference: what of the pipeline an expression means by a traversal such as
// step.exec.gen["v12"].outputs.so[0].
type Ref struct {
	Root string // one of Roots
	// of the variable, local, toolchain or call of a module; the attribute of path, profile, target, each and matrix
	Name string
	Step addrs.Step // for steps and toolchains

	Key     string // of a for_each instance, of a step or of a call
	Keyed   bool
	Outputs bool   // .outputs is there
	Output  string // its name; "" when the reference stops before, or goes on with something that is not constant
	Attr    string // the attribute of a toolchain, or the output of a module; "" for the whole
	Copies  bool   // only which copies of a module there are

	Rest  hcl.Traversal // what follows the part above, relative
	Range hcl.Range
	// OutputRange is the part that names the output or attribute, for diagnostics.
	OutputRange hcl.Range
}

// Object returns the address of the declared thing: "var.x", "local.x", "target", "toolchain.llvm", "step.patch.ops",
// "module.aot".
func (r Ref) Object() string {
	switch r.Root {
	case Var, Local, Module:
		return r.Root + "." + r.Name
	case Toolchain, StepRoot:
		return r.Step.String()
	}
	return r.Root
}

// String spells the reference as in a pipeline file.
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

// unkeyed is the same reference where there are no copies.
func (r Ref) unkeyed() Ref {
	r.Key, r.Keyed = "", false
	return r
}

func index(key cty.Value) string {
	return "[" + string(hclwrite.TokensForValue(key).Bytes()) + "]"
}

// ParseRef reads a traversal. It checks the form only; Declared.Check says whether the thing exists.
func ParseRef(t hcl.Traversal) (Ref, hcl.Diagnostics) {
	var r Ref
	diags := parseRef(t, &r)
	return r, diags
}

func parseRef(t hcl.Traversal, r *Ref) hcl.Diagnostics {
	if len(t) == 0 || t.IsRelative() {
		return errorf(hcl.Range{}, "Not a reference", "A reference starts with a name: %s.",
			strings.Join(Roots(), ", "))
	}
	*r = Ref{Root: t.RootName(), Range: t.SourceRange()}
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
	return diags
}

func unknownRoot(r Ref) hcl.Diagnostics {
	if near := nearest.Name(r.Root, Roots()); near != "" {
		return errorf(r.Range, "Unknown reference", "There is no %s. Did you mean %s?", r.Root, near)
	}
	advice := fmt.Sprintf("put a text in quotes: %q", r.Root)
	if r.Root == strings.ToUpper(r.Root) {
		advice += fmt.Sprintf("; write $${%s} for a variable of the shell", r.Root)
	}
	return errorf(r.Range, "Unknown reference", "There is no %s. References start with %s; %s.", r.Root,
		strings.Join(Roots(), ", "), advice)
}

type refParser struct {
	rest hcl.Traversal
	ref  *Ref
}

// attr takes a constant attribute, spelt .name or ["name"], when one follows; only names that can be spelt .name
// count.
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
	return "", errorf(p.ref.Range, "Incomplete reference", "This is not a value by itself. Write "+form+".", args...)
}

// step takes KIND.NAME, then an optional key, then .outputs.NAME.
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
		return errorf(r.Range, "Only outputs of a step can be used", "Write %s.outputs.NAME.",
			fmt.Sprint(addrs.Instance{Step: r.Step, Key: r.Key, Keyed: r.Keyed}))
	}
	r.Outputs = true
	p.rest = p.rest[1:]
	r.Output, r.OutputRange = p.attr()
	return nil
}

// key takes a key in brackets, when one follows; of is what has keys.
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
		return errorf(t.SrcRange, "Not a key", "The copies that for_each makes are named by strings: %s[\"key\"].", of)
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
