//go:build linux

package mainjob_test

import (
	"regexp"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestFamily: a Qwen2, a Llama, and a Qwen3 for phones of four generations, each through the simulated profile: every
// token is the reference's.
func TestFamily(t *testing.T) {
	w := Warmed(t)
	tokens := regexp.MustCompile(`\n +tokens as the reference +(\d+) of (\d+)\n`)
	phones := map[string]int{"--soc=SM8550,SM8650,SM8750,SM8850": 4}
	for architecture := range Family() {
		phones[architecture] = 1
	}
	for name, n := range phones {
		o := w.Run(t, "--offline", "run", Simulated, MLLMAOT, name)
		Wants(t, o, ExitOK, "not a phone's speed")
		all := tokens.FindAllStringSubmatch(o.Stdout, -1)
		if len(all) != n {
			t.Errorf("%s: %d phones, want %d", name, len(all), n)
		}
		for _, m := range all {
			if m[1] != m[2] || m[1] == "0" {
				t.Errorf("%s: not all tokens are the reference's: %q", name, m[0])
			}
		}
		if r := w.RunJSON(t, "--offline", Simulated, MLLMAOT, name); r.Executed != 0 {
			t.Errorf("%s again: %q ran", name, r.Names)
		}
	}
}
