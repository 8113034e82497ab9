package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/suggest"
)

// Declared lists all elements to which references may lead.
type Declared struct {
	Vars, Locals, Toolchains []string
	Steps                    map[addrs.Step]DeclaredStep
	Calls                    map[string]DeclaredCall
	HasTarget                bool
	TargetFlag               string // command line flag that selects a target, for messages
	// In is the selected profile. Elsewhere maps an element (by Ref.Object) that is not in this profile to the profiles
	// that declare it. Error messages use In and Elsewhere.
	In        string
	Elsewhere map[string][]string
}

// DeclaredCall holds the facts about a call of a module that are known before evaluation.
type DeclaredCall struct {
	ForEach bool
	Outputs []string // nil if hexmage could not read the module
}

// DeclaredStep holds the facts about a step that are known before evaluation.
type DeclaredStep struct {
	ForEach bool
	Outputs []string // nil if some outputs are still unknown
}

// Refs parses traversals into references. It returns a diagnostic for each invalid traversal.
func Refs(ts []hcl.Traversal) ([]Ref, hcl.Diagnostics) {
	var refs []Ref
	var diags hcl.Diagnostics
	for _, t := range ts {
		r, ds := ParseRef(t)
		if diags = append(diags, ds...); !ds.HasErrors() {
			refs = append(refs, r)
		}
	}
	return refs, diags
}

// Check reports a reference to an undeclared element. The parameter each tells whether each.key and each.value may be
// used. Check runs before evaluation, so the language's function try cannot hide these errors.
func (d *Declared) Check(r Ref, each bool) hcl.Diagnostics {
	if len(d.Elsewhere) > 0 && len(d.Elsewhere[r.Object()]) > 0 {
		in := d.Elsewhere[r.Object()]
		return errorf(r.Range, "Reference to another profile",
			"%s does not exist in profile %s, only in %s. Move the reference into a profile that has it.", r.Object(),
			d.In, strings.Join(in, ", "))
	}
	switch r.Root {
	case Var:
		return exists(r, "var.", d.Vars, "Add a declaration: variable %q { … }.", r.Name)
	case Local:
		return exists(r, "local.", d.Locals, "Add a declaration: locals { %s = … }.", r.Name)
	case Toolchain:
		return exists(r, "toolchain.", d.Toolchains, "Add a declaration: toolchain %q { … }.", r.Name)
	case Path:
		return d.attribute(r, []string{"module", "pipeline", "workspace"})
	case Profile:
		return d.attribute(r, []string{"name"})
	case Target, Targets:
		if !d.HasTarget {
			flag := ""
			if d.TargetFlag != "" {
				flag = ", or select a target with " + d.TargetFlag + " NAME"
			}
			return errorf(r.Range, "Missing target",
				"The pipeline has no target block. Add target \"NAME\" {}%s.", flag)
		}
	case Each:
		if !each {
			return errorf(r.Range, "each outside for_each",
				"each.key and each.value exist only in a step or module with for_each. Add for_each to the block.")
		}
		return d.attribute(r, []string{"key", "value"})
	case Matrix:
		return errorf(r.Range, "Missing matrix",
			"Use %s only in the arguments of a step with a matrix.", r)
	case StepRoot:
		return d.step(r)
	case Module:
		return d.call(r)
	}
	return nil
}

func (d *Declared) call(r Ref) hcl.Diagnostics {
	c, ok := d.Calls[r.Name]
	if !ok {
		return exists(r, "module.", slices.Sorted(maps.Keys(d.Calls)),
			"Add a declaration: module %q { source = … }.", r.Name)
	}
	switch {
	case c.ForEach && !r.Keyed && r.Attr != "":
		return errorf(r.Range, "Missing for_each key",
			"%s has an instance for each key of for_each. Select one: %s[\"key\"].%s. For all instances, write "+
				"[for k, m in %s : m.%s].", r.Object(),
			r.Object(), r.Attr, r.Object(), r.Attr)
	case !c.ForEach && r.Keyed:
		return errorf(r.Range, "Unexpected key", "%s has no for_each. Remove the key: %s.",
			r.Object(), r.unkeyed())
	}
	return d.checkModuleOutput(r)
}

func (d *Declared) checkModuleOutput(r Ref) hcl.Diagnostics {
	if outputs := d.Calls[r.Name].Outputs; outputs != nil {
		return r.in("Unknown output", r.Object(), r.Attr, outputs)
	}
	return nil
}

func (d *Declared) step(r Ref) hcl.Diagnostics {
	s, ok := d.Steps[r.Step]
	if !ok {
		var all, sameKind []string
		for a := range d.Steps {
			all = append(all, a.Short())
			if a.Kind == r.Step.Kind {
				sameKind = append(sameKind, a.Name)
			}
		}
		slices.Sort(all)
		slices.Sort(sameKind)
		near := suggest.Name(r.Step.Name, sameKind)
		if near != "" {
			near = r.Step.Kind + "." + near
		} else {
			near = suggest.Name(r.Step.Short(), all)
		}
		switch {
		case near != "":
			return errorf(r.Range, "Unknown step", "%s does not exist. Did you mean step.%s?", r.Step, near)
		case len(sameKind) > 0:
			return errorf(r.Range, "Unknown step", "%s does not exist. Available steps of kind %s: %s.", r.Step,
				r.Step.Kind, strings.Join(sameKind, ", "))
		}
		return errorf(r.Range, "Unknown step", "%s does not exist. Add a declaration: step %q %q { … }.",
			r.Step, r.Step.Kind, r.Step.Name)
	}
	switch {
	case s.ForEach && !r.Keyed && r.Outputs:
		return errorf(r.Range, "Missing for_each key",
			"%s has an instance for each key of for_each. Select one: %s[\"key\"].outputs. For all instances, write "+
				"[for k, s in %s : s.outputs.NAME].",
			r.Step, r.Step, r.Step)
	case !s.ForEach && r.Keyed:
		return errorf(r.Range, "Unexpected key", "%s has no for_each. Remove the key: %s.",
			r.Step, r.unkeyed())
	}
	if r.Output != "" && s.Outputs != nil {
		return CheckOutput(r, s.Outputs)
	}
	return nil
}

// CheckOutput reports a reference to an output that the step does not have.
func CheckOutput(r Ref, outputs []string) hcl.Diagnostics {
	at := addrs.Instance{Step: r.Step, Key: r.Key, Keyed: r.Keyed}
	return r.in("Unknown output", at.String()+".outputs", r.Output, outputs)
}

// CheckAttr reports a reference to an attribute that the target or toolchain does not have.
func CheckAttr(r Ref, attr string, have []string) hcl.Diagnostics {
	return r.in("Unknown attribute", r.Object(), attr, have)
}

// in reports an error if the name of an output or attribute is not in have.
func (r Ref) in(summary, of, name string, have []string) hcl.Diagnostics {
	if name == "" || slices.Contains(have, name) {
		return nil
	}
	at := r.OutputRange
	if at == (hcl.Range{}) {
		at = r.Range
	}
	advice := "Available: none."
	if near := suggest.Name(name, have); near != "" {
		advice = fmt.Sprintf("Did you mean %s.%s?", of, near)
	} else if len(have) > 0 {
		advice = "Available: " + strings.Join(slices.Sorted(slices.Values(have)), ", ") + "."
	}
	return errorf(at, summary, "%s.%s does not exist. %s", of, name, advice)
}

func (d *Declared) attribute(r Ref, have []string) hcl.Diagnostics {
	if r.Name == "" {
		return errorf(r.Range, "Incomplete reference", "%s is not a complete reference. Write %s.%s.", r.Root, r.Root,
			strings.Join(have, " or "+r.Root+"."))
	}
	return CheckAttr(r, r.Name, have)
}

func exists(r Ref, prefix string, names []string, advice string, args ...any) hcl.Diagnostics {
	if slices.Contains(names, r.Name) {
		return nil
	}
	if near := suggest.Name(r.Name, names); near != "" {
		return errorf(r.Range, "Undeclared name", "%s%s does not exist. Did you mean %s%s?", prefix, r.Name,
			prefix, near)
	}
	return errorf(r.Range, "Undeclared name", "%s%s does not exist. %s", prefix, r.Name, fmt.Sprintf(advice, args...))
}
