package step

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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

// Errorf returns an error diagnostic at the step's header.
func (r Request) Errorf(summary, detail string, args ...any) *hcl.Diagnostic {
	rng := r.Range
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &rng}
}

// Toolchain returns a toolchain the kind uses, or a diagnostic that says which block to add.
func (r Request) Toolchain(name string) (Toolchain, *hcl.Diagnostic) {
	if t, ok := r.Toolchains[name]; ok {
		return t, nil
	}
	return Toolchain{}, r.Errorf("Toolchain not declared",
		"A step of kind %q needs toolchain %q. Add a block `toolchain %q { version = \"…\" }` to the pipeline.", r.At.Kind, name, name)
}
