package metrics_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestMllmsLines: what is read of mllm's programs is in the sources of those that print it. The clone is the caller's.
func TestMllmsLines(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	for rev, lines := range map[string][]string{
		"main": {"Prefill time", "Decode time", "Total time", "TTFT", "Prefill tokens", "Decode tokens", "Decode steps", "Avg decode time", "num_tokens: {}", "Context binary file size: {} MB"},
		"origin/v1": {`"prefill time: "`, `"Prefill:"`, `"vit embedding time: "`, `"real_seq_length: "`, `"  Load time: "`, `"  Prefilling speed: "`, `" tokens/s , TTFT: "`,
			`"  Decoding speed: "`},
		"71d7a680": {`"Load model: "`},
	} {
		for _, line := range lines {
			if out, err := exec.CommandContext(t.Context(), "git", "-C", clone, "grep", "-q", "-F", "-e", line, rev, "--", "*.cpp", "*.hpp").CombinedOutput(); err != nil {
				t.Errorf("%s prints no %s: %v %s", rev, line, err, out)
			}
		}
	}
}
