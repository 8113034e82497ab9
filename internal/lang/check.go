package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/nearest"
)

// Declared is what references can mean.
type Declared struct {
	Vars, Locals, Toolchains []string
	Steps                    map[addrs.Step]DeclaredStep
	Calls                    map[string]DeclaredCall
	HasTarget                bool
	TargetFlag               string // what names one on the command line, for messages
	// In says which profile is chosen, and Elsewhere which others declare what this one does not, by Ref.Object: for
	// messages.
	In        string
	Elsewhere map[string][]string
}

// DeclaredCall is what is known of a module's call before anything is evaluated.
type DeclaredCall struct {
	ForEach bool
	Outputs []string // nil when the module could not be read
}

// DeclaredStep is what is known of a step before anything is evaluated.
type DeclaredStep struct {
	ForEach bool
	Outputs []string // nil when not all are known yet
}

// Refs returns the references of traversals, and a diagnostic for each that has no meaning.
func Refs(ts []hcl.Traversal) ([]Ref, hcl.Diagnostics) {
	if len(ts) == 0 {
		return nil, nil
	}
	refs := make([]Ref, 0, len(ts))
	var diags hcl.Diagnostics
	for _, t := range ts {
		n := len(refs)
		refs = refs[:n+1]
		ds := parseRef(t, &refs[n])
		if diags = append(diags, ds...); ds.HasErrors() {
			refs[n] = Ref{}
			refs = refs[:n]
		}
	}
	return refs, diags
}

// Check says whether what the reference means is declared; each tells whether each.key and each.value are in scope.
// No evaluation can hide what it finds, as try() would.
func (d *Declared) Check(r Ref, each bool) hcl.Diagnostics {
	if len(d.Elsewhere) > 0 && len(d.Elsewhere[r.Object()]) > 0 {
		in := d.Elsewhere[r.Object()]
		return errorf(r.Range, "Not in this profile",
			"There is no %s in profile %s. It is there in %s: move what uses it into that profile, too.", r.Object(),
			d.In, strings.Join(in, ", "))
	}
	switch r.Root {
	case Var:
		return exists(r, "var.", d.Vars, "Declare it: variable %q { … }.", r.Name)
	case Local:
		return exists(r, "local.", d.Locals, "Declare it: locals { %s = … }.", r.Name)
	case Toolchain:
		return exists(r, "toolchain.", d.Toolchains, "Declare it: toolchain %q { … }.", r.Name)
	case Path:
		return d.attribute(r, []string{"module", "pipeline", "workspace"})
	case Profile:
		return d.attribute(r, []string{"name"})
	case Target, Targets:
		if !d.HasTarget {
			flag := ""
			if d.TargetFlag != "" {
				flag = "; or name one on the command line: " + d.TargetFlag + " NAME"
			}
			return errorf(r.Range, "There is no target",
				"The pipeline does not say what it builds for. Add a block: target \"NAME\" {}%s.", flag)
		}
	case Each:
		if !each {
			return errorf(r.Range, "each outside for_each",
				"each.key and each.value exist only in a step or module with for_each.")
		}
		return d.attribute(r, []string{"key", "value"})
	case Matrix:
		return errorf(r.Range, "matrix outside of a step with a matrix",
			"%s is a value of the step's matrix, and here is none. It exists in the arguments of a step that has "+
				"one.", r)
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
		return exists(r, "module.", slices.Sorted(maps.Keys(d.Calls)), "Declare it: module %q { source = … }.", r.Name)
	}
	switch {
	case c.ForEach && !r.Keyed && r.Attr != "":
		return errorf(r.Range, "A module with for_each has several copies",
			"%s is a map: choose one with %s[\"key\"].%s, or all with [for k, m in %s : m.%s].", r.Object(),
			r.Object(), r.Attr, r.Object(), r.Attr)
	case !c.ForEach && r.Keyed:
		return errorf(r.Range, "A module without for_each has no keys", "%s is one module. Leave out the key: %s.",
			r.Object(), r.unkeyed())
	}
	return d.checkModuleOutput(r)
}

func (d *Declared) checkModuleOutput(r Ref) hcl.Diagnostics {
	if outputs := d.Calls[r.Name].Outputs; outputs != nil {
		return r.in("No such output", r.Object(), r.Attr, outputs)
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
		near := nearest.Name(r.Step.Name, sameKind)
		if near != "" {
			near = r.Step.Kind + "." + near
		} else {
			near = nearest.Name(r.Step.Short(), all)
		}
		switch {
		case near != "":
			return errorf(r.Range, "No such step", "There is no %s. Did you mean step.%s?", r.Step, near)
		case len(sameKind) > 0:
			return errorf(r.Range, "No such step", "There is no %s. Of kind %s there are: %s.", r.Step, r.Step.Kind,
				strings.Join(sameKind, ", "))
		}
		return errorf(r.Range, "No such step", "There is no %s. Declare it: step %q %q { … }.", r.Step, r.Step.Kind,
			r.Step.Name)
	}
	switch {
	case s.ForEach && !r.Keyed && r.Outputs:
		return errorf(r.Range, "A step with for_each has several copies",
			"%s is a map: choose one with %s[\"key\"].outputs, or all with [for k, s in %s : s.outputs.NAME].",
			r.Step, r.Step, r.Step)
	case !s.ForEach && r.Keyed:
		return errorf(r.Range, "A step without for_each has no keys", "%s is one step. Leave out the key: %s.",
			r.Step, r.unkeyed())
	}
	if r.Output != "" && s.Outputs != nil {
		return CheckOutput(r, s.Outputs)
	}
	return nil
}

// CheckOutput says whether the output that the reference names is among those of its step.
func CheckOutput(r Ref, outputs []string) hcl.Diagnostics {
	at := addrs.Instance{Step: r.Step, Key: r.Key, Keyed: r.Keyed}
	return r.in("No such output", at.String()+".outputs", r.Output, outputs)
}

// CheckAttr says whether the attribute that a reference to a target or toolchain names is among those it has.
func CheckAttr(r Ref, attr string, have []string) hcl.Diagnostics {
	return r.in("No such attribute", r.Object(), attr, have)
}

// in reports an error if a name, of an output or attribute, is not among those that there are.
func (r Ref) in(summary, of, name string, have []string) hcl.Diagnostics {
	if name == "" || slices.Contains(have, name) {
		return nil
	}
	at := r.OutputRange
	if at == (hcl.Range{}) {
		at = r.Range
	}
	advice := "It has none."
	if near := nearest.Name(name, have); near != "" {
		advice = fmt.Sprintf("Did you mean %s.%s?", of, near)
	} else if len(have) > 0 {
		advice = "It has: " + strings.Join(slices.Sorted(slices.Values(have)), ", ") + "."
	}
	return errorf(at, summary, "There is no %s.%s. %s", of, name, advice)
}

func (d *Declared) attribute(r Ref, have []string) hcl.Diagnostics {
	if r.Name == "" {
		return errorf(r.Range, "Incomplete reference", "%s is not a value by itself. Write %s.%s.", r.Root, r.Root,
			strings.Join(have, " or "+r.Root+"."))
	}
	return CheckAttr(r, r.Name, have)
}

func exists(r Ref, prefix string, names []string, advice string, args ...any) hcl.Diagnostics {
	if slices.Contains(names, r.Name) {
		return nil
	}
	if near := nearest.Name(r.Name, names); near != "" {
		return errorf(r.Range, "Not declared", "There is no %s%s. Did you mean %s%s?", prefix, r.Name, prefix, near)
	}
	return errorf(r.Range, "Not declared", "There is no %s%s. %s", prefix, r.Name, fmt.Sprintf(advice, args...))
}
