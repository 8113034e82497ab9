package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage"
)

// TestNeeds: what a shipped pipeline is said to need in a profile, which nothing is planned for, is what a plan takes
// that somebody has to get or to pin first, and a device.
func TestNeeds(t *testing.T) {
	env := Env{Stdout: io.Discard, Stderr: io.Discard, Dir: t.TempDir(), Vars: []string{"HEXMAGE_CACHE=" + t.TempDir()}}
	a, err := newApp(globalFlags{Offline: true}, env, newInterrupts(func(string) {}))
	if err != nil {
		t.Fatal(err)
	}
	d, err := a.domain(a.here())
	if err != nil {
		t.Fatal(err)
	}
	some := 0
	for _, name := range names(hexmage.Shipped) {
		cfg, diags := a.load(a.here(), name)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, profile := range profilesOf(cfg.Module) {
			own := *a
			own.Profile = profile
			if name == "onnx-htp" && profile == "device" { // needs are those of the largest plan
				own.Set = map[string]string{"graph": "example", "profiling": "basic"}
			}
			p, diags, err := own.planConfig(a.here(), cfg)
			if err != nil || diags.HasErrors() {
				t.Fatalf("%s, profile %s: %v, %v", name, profile, err, diags)
			}
			var want []string
			runs, simulated := false, false
			for _, n := range p.Instances {
				runs, simulated = runs || n.At.Kind == "run", simulated || n.At.Kind == "simulated_phone"
				if n.At.Kind == "toolchain" && profile == "device" &&
					slices.Contains([]string{"qairt", "hexagon", "ndk", "ort_android", "ort_qnn_android"}, n.At.Name) {
					want = append(want, n.At.Name)
				}
			}
			if runs && !simulated {
				want = append(want, "a phone or board")
			}
			got := d.needs(cfg.Module, profile)
			some += len(got)
			slices.Sort(want)
			want = slices.Compact(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, profile %s needs %s, and the plan takes %s", name, profile, strings.Join(got, ", "),
					strings.Join(want, ", "))
			}
		}
	}
	if some < 10 {
		t.Errorf("%d needs in all", some)
	}
}
