package step

import (
	"fmt"
	"path"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
)

// String returns a string argument, "" when it is not set. Numbers and booleans are spelt as HCL spells them.
func (r Request) String(name string) string {
	v := r.arg(name)
	if v == cty.NilVal {
		return ""
	}
	switch v.Type() {
	case cty.String:
		return v.AsString()
	case cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case cty.Bool:
		return fmt.Sprint(v.True())
	}
	return ""
}

// Int returns a number argument without its fraction, def when it is not set.
func (r Request) Int(name string, def int) int {
	v := r.arg(name)
	if v == cty.NilVal || v.Type() != cty.Number {
		return def
	}
	n, _ := v.AsBigFloat().Int64()
	return int(n)
}

// Bool returns a bool argument, false when it is not set.
func (r Request) Bool(name string) bool {
	v := r.arg(name)
	return v != cty.NilVal && v.Type() == cty.Bool && v.True()
}

// Strings returns a list, set or tuple of strings, nil when it is not set.
func (r Request) Strings(name string) []string {
	v := r.arg(name)
	if v == cty.NilVal || !v.CanIterateElements() {
		return nil
	}
	var out []string
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); !e.IsNull() && e.Type() == cty.String {
			out = append(out, e.AsString())
		}
	}
	return out
}

// Map returns a map or object of strings, nil when it is not set.
func (r Request) Map(name string) map[string]string {
	v := r.arg(name)
	if v == cty.NilVal || !v.CanIterateElements() {
		return nil
	}
	out := map[string]string{}
	for it := v.ElementIterator(); it.Next(); {
		if k, e := it.Element(); !e.IsNull() && e.Type() == cty.String {
			out[k.AsString()] = e.AsString()
		}
	}
	return out
}

func (r Request) arg(name string) cty.Value {
	if r.Args == cty.NilVal || r.Args.IsNull() || !r.Args.Type().HasAttribute(name) {
		return cty.NilVal
	}
	v := r.Args.GetAttr(name)
	if v.IsNull() || !v.IsKnown() {
		return cty.NilVal
	}
	return v
}

// Used returns the outputs that the argument was made from, sorted.
func (r Request) Used(name string) []addrs.Output {
	var out []addrs.Output
	for _, u := range r.Uses {
		if len(u.Path) == 0 {
			continue
		}
		if a, ok := u.Path[0].(cty.GetAttrStep); ok && a.Name == name {
			out = append(out, u.Output)
		}
	}
	return addrs.SortOutputs(out)
}

// Place turns an argument that holds one path into inputs. A path made from outputs is where those appear in the exec
// root, so the value itself is the path there; any other is a file or folder of the workspace, which appears as
// in/<argument>/<base name>. It returns the path in the exec root, "" when the argument is not set.
func (r Request) Place(name string) (string, []action.Input) {
	return r.place(name, r.String(name), "in/"+name)
}

// PlaceAll is Place for a list of paths.
func (r Request) PlaceAll(name string) ([]string, []action.Input) {
	var paths []string
	var all []action.Input
	for i, s := range r.Strings(name) {
		p, in := r.place(name, s, fmt.Sprintf("in/%s/%d", name, i))
		paths, all = append(paths, p), append(all, in...)
	}
	return paths, Unique(all)
}

func (r Request) place(name, value, dir string) (string, []action.Input) {
	if value == "" {
		return "", nil
	}
	var in []action.Input
	for _, o := range r.Used(name) {
		if p := o.Path(); value == p || len(value) > len(p) && value[:len(p)+1] == p+"/" {
			in = append(in, action.Input{Path: p, Artifact: &o, Shared: o.Kind == addrs.Toolchain})
		}
	}
	if len(in) > 0 {
		return path.Clean(value), in
	}
	at := dir
	if base := path.Base(path.Clean("/" + value)); base != "/" { // "." and ".." have no name of their own
		at += "/" + base
	}
	return at, []action.Input{{Path: at, Host: &action.HostPath{Path: value}}}
}

// Unique drops inputs at paths that an earlier one has.
func Unique(in []action.Input) []action.Input {
	seen := map[string]bool{}
	var out []action.Input
	for _, i := range in {
		if !seen[i.Path] {
			seen[i.Path] = true
			out = append(out, i)
		}
	}
	return out
}

// Errorf returns an error diagnostic at the step's header.
func (r Request) Errorf(summary, detail string, args ...any) *hcl.Diagnostic {
	rng := r.Range
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &rng}
}

// ArgErrorf is Errorf at the place where the argument is set.
func (r Request) ArgErrorf(name, summary, detail string, args ...any) *hcl.Diagnostic {
	d := r.Errorf(summary, detail, args...)
	d.Subject = r.ArgRange(name)
	return d
}

// Toolchain returns a toolchain the kind uses, or a diagnostic that says which block to add.
func (r Request) Toolchain(name string) (Toolchain, *hcl.Diagnostic) {
	if t, ok := r.Toolchains[name]; ok {
		return t, nil
	}
	return Toolchain{}, r.Errorf("Toolchain not declared",
		"A step of kind %q needs toolchain %q. Add a block `toolchain %q { version = \"…\" }` to the pipeline.", r.At.Kind, name, name)
}

// FlagTool returns the start of an argv that runs a built-in tool, and the platform property that carries its behaviour version.
func FlagTool(name, version string, args ...string) ([]string, map[string]string) {
	return append([]string{action.ToolArg0, "tool", name}, args...), map[string]string{action.PropertyTool: name + "/" + version}
}

// Input places what a path value of the argument names at a path of the exec root: an output or something below it, or a
// file or folder of the workspace.
func (r Request) Input(argument, value, at string) action.Input {
	for _, o := range r.Used(argument) {
		p := o.Path()
		if value == p {
			return action.Input{Path: at, Artifact: &o}
		}
		if len(value) > len(p) && value[:len(p)+1] == p+"/" {
			return action.Input{Path: at, Artifact: &o, Sub: path.Clean(value[len(p)+1:])}
		}
	}
	return action.Input{Path: at, Host: &action.HostPath{Path: value}}
}
