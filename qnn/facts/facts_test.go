package facts_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn/facts"
)

func TestTargets(t *testing.T) {
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := s.Target("SM8750", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	m := v.AsValueMap()
	model, _ := m["soc_model"].AsBigFloat().Int64()
	vtcm, _ := m["vtcm_mb"].AsBigFloat().Int64()
	if m["soc"].AsString() != "SM8750" || m["arch"].AsString() != "v79" || model != 69 || vtcm != 8 {
		t.Errorf("target %v", m)
	}
	if !v.Type().Equals(facts.TargetType()) {
		t.Errorf("type %s", v.Type().FriendlyName())
	}
	if _, diags := s.Target("SM8751", nil); !diags.HasErrors() || !strings.Contains(diags.Error(), `did you mean "SM8750"`) {
		t.Errorf("diagnostics %v", diags)
	}
	if s.WithAndroidID(639) != "SM8750" || s.WithAndroidID(4711) != "" {
		t.Errorf("soc_id 639 is of %q, 4711 of %q", s.WithAndroidID(639), s.WithAndroidID(4711))
	}
	models, ids := map[int]string{}, map[int]string{}
	for _, s := range s.SoCs {
		if models[s.SoCModel] != "" {
			t.Errorf("%s and %s have the same soc_model", s.Name, models[s.SoCModel])
		}
		models[s.SoCModel] = s.Name
		for _, id := range s.AndroidIDs {
			if ids[id] != "" {
				t.Errorf("%s and %s have the same soc_id", s.Name, ids[id])
			}
			ids[id] = s.Name
		}
	}
}
