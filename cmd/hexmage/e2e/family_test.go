//go:build linux

package e2e_test

import (
	"regexp"
	"testing"
)

// family are the pipelines beside qwen3-aot-v79 that go its way, and how many nodes of how many the vendor's compiler takes of their small models.
func family() map[string]string {
	return map[string]string{"qwen2-aot": "1680 of 1680", "llama-aot": "1580 of 1580"}
}

// TestFamily: a Qwen2, a Llama, and a Qwen3 for phones of four generations, each through the open profile: every token is the reference's.
func TestFamily(t *testing.T) {
	w := warmed(t)
	tokens := regexp.MustCompile(`\n +tokens as the reference +(\d+) of (\d+)\n`)
	phones := map[string]int{"qwen3-aot": 4}
	for name := range family() {
		phones[name] = 1
	}
	for name, n := range phones {
		o := w.run(t, "--offline", "run", name)
		wants(t, o, exitOK, "not a phone's speed")
		all := tokens.FindAllStringSubmatch(o.stdout, -1)
		if len(all) != n {
			t.Errorf("%s: %d phones, want %d", name, len(all), n)
		}
		for _, m := range all {
			if m[1] != m[2] || m[1] == "0" {
				t.Errorf("%s: not all tokens are the reference's: %q", name, m[0])
			}
		}
		if r := w.runJSON(t, "--offline", name); r.executed != 0 {
			t.Errorf("%s again: %q ran", name, r.names)
		}
	}
}

// familyOnHost has them go through the vendor's compiler and emulator, quantised with upstream's arithmetic.
func familyOnHost(t *testing.T, w *world) {
	for name, nodes := range family() {
		native := []string{"--profile=host", "--var=quantizer=native", name}
		wants(t, w.run(t, append([]string{"run"}, native...)...), exitOK, nodes, "not a phone's speed", "passed", "check.twin", "check.quantised", "check.range")
		if r := w.runJSON(t, native...); r.executed != 0 {
			t.Errorf("%s again: %q ran", name, r.names)
		}
	}
}
