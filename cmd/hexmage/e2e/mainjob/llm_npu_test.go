//go:build linux

package mainjob_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestLLMNPU: llm.npu's way in profile simulated: prompts of three lengths through the DSP of the simulated phone,
// every token the reference's; beside no phone's numbers; nothing runs twice but what is on the phone, and an older
// run's graphs there do no harm.
func TestLLMNPU(t *testing.T) {
	w := Warmed(t)
	o := w.Run(t, "--offline", "run", "llm-npu")
	Wants(t, o, ExitOK, "not a phone's speed", "a small Qwen2, int8, on SM8750")
	if !strings.Contains(o.Stdout, "tokens as the reference   3 of 3 runs") {
		t.Errorf("not all tokens are the reference's:\n%s", o.Stdout)
	}
	if strings.Contains(o.Stdout, "paper") || strings.Contains(o.Stdout, "reproduction") {
		t.Errorf("a simulated phone beside the paper:\n%s", o.Stdout)
	}
	printed, err := os.ReadFile(filepath.Join(w.Dir, "out", "llm-npu", "stdout.txt"))
	if err != nil || len(regexp.MustCompile(`(?m)prefill time: \d+\.\d\dms$`).FindAll(printed, -1)) != 3 ||
		strings.Count(string(printed), "Load model: ") != 6 {
		t.Errorf("%v\n%s", err, printed)
	}
	if r := w.RunJSON(t, "--offline", "llm-npu"); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	demo, err := os.ReadFile(filepath.Join(w.Dir, "out", "llm-npu", "demo.txt"))
	if err != nil || !strings.Contains(string(demo), "[A] ") ||
		strings.Contains(string(demo), "QNN context retrieved") {
		t.Errorf("the demo: %v\n%s", err, demo)
	}
	// One length more runs that one alone, and its reference.
	r := w.RunJSON(t, "--offline", `--var=lengths=["64","256","1024","100"]`, "llm-npu")
	if names := strings.Join(r.Names, "\n"); strings.Count(names, "run.main run[") != 1 ||
		!strings.Contains(names, "run.main run[seq=100]") || !strings.Contains(names, "reference.small") {
		t.Errorf("another length: %q ran", r.Names)
	}
}
