package cli

import (
	"bytes"
	"testing"

	"github.com/hexmage/hexmage/internal/event"
)

type keep struct{ seen []event.ActionFinished }

func (k *keep) Send(e event.Event) { k.seen = append(k.seen, e.(event.ActionFinished)) }

// A source that does not compile for two targets says why once; another error, or another step's, is said in full.
func TestDedupFailures(t *testing.T) {
	const first = "steps/patch/ops.dir/src/ops/SiLU.cpp:3:5: error: expected ';'\n    3 | int a\n      |     ^\n1 " +
		"error generated.\n"
	const second = "steps/patch/ops.dir/src/ops/RoPE.cpp:9:1: error: unknown type name 'foo'\n"
	var k keep
	o := (&app{Env: Env{Stderr: &bytes.Buffer{}}, WorkDir: t.TempDir()}).diagnosed(&k)
	send := func(step, name, output string) event.Failure {
		o.Send(event.ActionFinished{Step: step, Name: name, Outcome: event.Failed,
			Failure: &event.Failure{Summary: "failed", Output: output, Hints: []string{"a hint"}}})
		return *k.seen[len(k.seen)-1].Failure
	}
	for _, tt := range []struct{ step, name, output, want string }{
		{"oppackage.a", "htp_v75/ops/SiLU.o", first, first},
		{"oppackage.a", "htp_v79/ops/SiLU.o", first,
			"same errors as in htp_v75: src/ops/SiLU.cpp:3:5: expected ';'"},
		{"oppackage.a", "htp_v81/ops/SiLU.o", first,
			"same errors as in htp_v75: src/ops/SiLU.cpp:3:5: expected ';'"},
		{"oppackage.a", "htp_v79/ops/RoPE.o", second, second},
		{"oppackage.a", "htp_v79/ops/Both.o", first + second, first + second},
		{"oppackage.b", "htp_v75/ops/SiLU.o", first, first},
		{"exec.x", "", "no compiler\n", "no compiler\n"},
		{"exec.x", "", "no compiler\n", "no compiler\n"},
	} {
		got := send(tt.step, tt.name, tt.output)
		if got.Output != tt.want || (len(got.Hints) == 0) != (tt.want != tt.output) || got.Summary != "failed" {
			t.Errorf("%s %s: %q, hints %q; want %q", tt.step, tt.name, got.Output, got.Hints, tt.want)
		}
	}
}
