//go:build linux

package e2e_test

import (
	"strings"
	"testing"
)

// TestLimits: a run that breaks a limit fails, without the device being asked again; against a phone's baseline the stand-in has none.
func TestLimits(t *testing.T) {
	w := warmed(t)
	good := w.shipped(t)
	const at = `  timeout     = "30m"` + "\n"
	with := func(lines string) *outcome {
		w.writeShipped(t, good.with(t, at, at+lines))
		return w.run(t, "run", pipeline)
	}
	o := with("  limit \"prefill_tokens_per_s\" { min = 1000000 }\n")
	wants(t, o, exitFailed, aot+"run.llm metrics: failed: exit code 1", "below its limit of 1000000 tokens/s", "hint: prefill_tokens_per_s is beyond the limit that the step sets.")
	if strings.Contains(o.stderr, "on emulator") {
		t.Errorf("the device was asked again:\n%s", o)
	}
	wants(t, with("  limit \"watts\" { max = 1 }\n"), exitFailed, "watts has a limit and was not measured; the run printed prefill_time_us", "hint: The step limits watts")
	o = with("  baselines = [\"llm.npu-paper\"]\n  limit \"prefill_tokens_per_s\" {\n    baseline   = \"llm.npu-paper\"\n    regression = 0.1\n  }\n")
	if o.code != 0 || strings.Contains(o.stdout, "llm.npu") || !strings.Contains(o.stdout, "not a phone's speed") {
		t.Errorf("the stand-in is held against a phone: %s", o)
	}
}
