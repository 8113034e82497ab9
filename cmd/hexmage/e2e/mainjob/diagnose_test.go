//go:build linux

package mainjob_test

import (
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestLimits: a run that breaks a limit fails, without the device being asked again; against a phone's baseline the
// simulation has none.
func TestLimits(t *testing.T) {
	w := Warmed(t)
	good := w.Shipped(t)
	const at = `  timeout     = "30m"` + "\n"
	with := func(lines string) *Outcome {
		w.WriteShipped(t, good.With(t, at, at+lines))
		return w.Run(t, "run", Simulated, Pipeline)
	}
	o := with("  limit \"prefill_tokens_per_s\" { min = 1000000 }\n")
	Wants(t, o, ExitFailed, AOT+"run.llm metrics failed: exit code 1", "below its limit of 1000000 tokens/s",
		"hint: prefill_tokens_per_s is beyond the limit that the step sets.")
	if strings.Contains(o.Stderr, "on emulator") {
		t.Errorf("the device was asked again:\n%s", o)
	}
	Wants(t, with("  limit \"watts\" { max = 1 }\n"), ExitFailed,
		"watts has a limit but was not measured. Measured metrics: prefill_time_us",
		"hint: The step has a limit for watts, and the run printed no value for it.")
	o = with("  baselines = [\"llm.npu-paper\"]\n  limit \"prefill_tokens_per_s\" {\n    baseline   = " +
		"\"llm.npu-paper\"\n    regression = 0.1\n  }\n")
	if o.Code != 0 || strings.Contains(o.Stdout, "llm.npu") || !strings.Contains(o.Stdout, "not a phone's speed") {
		t.Errorf("the simulation is held against a phone: %s", o)
	}
}
