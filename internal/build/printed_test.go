package build_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The log of a failed action has all that it printed, the report the end of it.
func TestLongOutput(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run(planOf(nil, sh("chatty", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1"))); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(w.failure().Log); err != nil || strings.Count(string(b), "\n") != 20000 || !strings.HasSuffix(w.failure().Output, "line 19999") {
		t.Errorf("the log has %d bytes, %v", len(b), err)
	}
	if left, _ := filepath.Glob(filepath.Join(w.LogDir, "printed*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
