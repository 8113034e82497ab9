package facts

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// TargetType is the type of what Targets returns.
func TargetType() cty.Type {
	return cty.Object(map[string]cty.Type{"soc": cty.String, "arch": cty.String, "soc_model": cty.Number, "vtcm_mb": cty.Number, "soc_id": cty.Number})
}

// Targets returns what the language knows as `target`: {soc, arch, soc_model, vtcm_mb, soc_id (the first that Android knows; 0: not known)}.
func (s *Set) Targets(soc string) (cty.Value, hcl.Diagnostics) {
	r, err := s.FindSoC(soc)
	if err != nil {
		return cty.UnknownVal(TargetType()), hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unknown SoC", Detail: err.Error() + "."}}
	}
	id := 0
	if len(r.AndroidIDs) > 0 {
		id = r.AndroidIDs[0]
	}
	return cty.ObjectVal(map[string]cty.Value{"soc": cty.StringVal(r.Name), "arch": cty.StringVal(r.Arch), "soc_model": number(r.SoCModel),
		"vtcm_mb": number(r.VTCMMB), "soc_id": number(id)}), nil
}
