package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/qnn"
)

// TargetType returns the type of the values that Target returns.
func TargetType() cty.Type {
	return cty.Object(map[string]cty.Type{"soc": cty.String, "arch": cty.String, "soc_model": cty.Number, "vtcm_mb": cty.Number, "soc_id": cty.Number})
}

// Settable lists the arguments of a target block. They override the SoC's record, or replace it for an unknown SoC.
func Settable() []string { return []string{"arch", "soc_model", "vtcm_mb"} }

// Target returns the value of `target` for a block `target "NAME" {}`, and the rules' findings about the block.
//
// The value is {soc, arch, soc_model, vtcm_mb, soc_id}. The number soc_id is the first id that Android reports, or 0.
// The block's arguments override the SoC's record in the catalog. A block without a name must have the argument soc, which
// can be a variable.
func (s *Set) Target(name string, args map[string]lang.Argument) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	say := func(severity hcl.DiagnosticSeverity, argument, summary, format string, a ...any) {
		d := &hcl.Diagnostic{Severity: severity, Summary: summary, Detail: fmt.Sprintf(format, a...)}
		if x, ok := args[argument]; ok {
			d.Subject = &x.Range
		}
		diags = append(diags, d)
	}
	asked := name
	if soc, ok := args["soc"]; ok && name == "" {
		if v, err := convert.Convert(soc.Value, cty.String); err == nil && !v.IsNull() {
			asked = v.AsString()
		}
		if asked != "" && soc.Constant {
			say(hcl.DiagError, "soc", "Misplaced SoC", "The SoC is the label of the block. Write target %q {}.", asked)
		}
	}
	if asked == "" {
		say(hcl.DiagError, "soc", "Missing SoC", "The target block has no SoC. Write one as label, such as target "+
			"\"SM8750\" {}.")
		return cty.UnknownVal(TargetType()), diags
	}
	settable := Settable()
	record, err := s.FindSoC(asked)
	if err != nil && !slices.ContainsFunc(settable, func(name string) bool {
		x, ok := args[name]
		return !ok || x.Value.IsNull()
	}) {
		record, err = &qnn.SoC{Name: asked}, nil // the block itself is the record
	}
	if err != nil {
		say(hcl.DiagError, "soc", "Unknown SoC", "%v.", err)
		return cty.UnknownVal(TargetType()), diags
	}
	attrs := map[string]cty.Value{"soc": cty.StringVal(record.Name), "arch": cty.StringVal(record.Arch), "soc_model": number(record.SoCModel),
		"vtcm_mb": number(record.VTCMMB), "soc_id": number(0)}
	if len(record.AndroidIDs) > 0 {
		attrs["soc_id"] = number(record.AndroidIDs[0])
	}
	for _, argument := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(settable, argument) {
			if argument == "soc" && name == "" {
				continue
			}
			hint := "Valid arguments: " + strings.Join(settable, ", ") + "."
			if near := suggest.Name(argument, settable); near != "" {
				hint = "Did you mean " + near + "?"
			}
			say(hcl.DiagError, argument, "Unknown argument", "Unknown argument %s in a target block. %s", argument, hint)
			continue
		}
		v, err := convert.Convert(args[argument].Value, attrs[argument].Type())
		if err != nil {
			say(hcl.DiagError, argument, "Wrong type", "%s of the target: %v.", argument, err)
		} else if !v.IsNull() {
			attrs[argument] = v
		}
	}
	target := cty.ObjectVal(attrs)
	found, ds := s.Ask(Subject{Target: TargetOf(target)}, AtTarget)
	diags = append(diags, ds...)
	return target, append(diags, s.Diagnostics(found, func(argument string) *hcl.Range {
		if x, ok := args[argument]; ok {
			return &x.Range
		}
		return nil
	})...)
}

// TargetOf converts a value of `target`. For an unknown value, it returns nil.
func TargetOf(v cty.Value) *qnn.Target {
	if v == cty.NilVal || v.IsNull() || !v.IsWhollyKnown() || !v.Type().IsObjectType() {
		return nil
	}
	t := &qnn.Target{}
	for name, to := range map[string]any{"soc": &t.SoC, "arch": &t.Arch, "soc_model": &t.SoCModel, "vtcm_mb": &t.VTCMMB} {
		if v.Type().HasAttribute(name) && gocty.FromCtyValue(v.GetAttr(name), to) != nil {
			return nil
		}
	}
	return t
}
