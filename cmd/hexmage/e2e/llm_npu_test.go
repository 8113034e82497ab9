//go:build linux

package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLLMNPU: llm.npu's way in profile open: prompts of three lengths through the DSP of the emulated phone, every token the reference's; beside no phone's numbers; nothing runs twice but
// what is on the phone, and an older run's graphs there do no harm.
func TestLLMNPU(t *testing.T) {
	w := warmed(t)
	o := w.run(t, "--offline", "run", "llm-npu")
	wants(t, o, exitOK, "not a phone's speed", "a small Qwen2, int8, on SM8750")
	if !strings.Contains(o.stdout, "tokens as the reference   3 of 3 runs") {
		t.Errorf("not all tokens are the reference's:\n%s", o.stdout)
	}
	if strings.Contains(o.stdout, "paper") || strings.Contains(o.stdout, "reproduction") {
		t.Errorf("an emulated phone beside the paper:\n%s", o.stdout)
	}
	printed, err := os.ReadFile(filepath.Join(w.dir, "out", "llm-npu", "stdout.txt"))
	if err != nil || len(regexp.MustCompile(`(?m)prefill time: \d+\.\d\dms$`).FindAll(printed, -1)) != 3 || strings.Count(string(printed), "Load model: ") != 6 {
		t.Errorf("%v\n%s", err, printed)
	}
	if r := w.runJSON(t, "--offline", "llm-npu"); r.executed != 0 {
		t.Errorf("again: %q ran", r.names)
	}
	// One length more runs that one alone, and its reference.
	if r := w.runJSON(t, "--offline", `--var=lengths=["64","256","1024","100"]`, "llm-npu"); r.executed == 0 || strings.Count(strings.Join(r.names, "\n"), "run.main") > 2 {
		t.Errorf("another length: %q ran", r.names)
	}
}
