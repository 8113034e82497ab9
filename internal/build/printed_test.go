package build_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
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

// Each of the actions that print much at the same time has its own log.
func TestLongOutputs(t *testing.T) {
	w := newWorld(t)
	w.KeepGoing = true
	meet := t.TempDir()
	chatty := func(name, other string) *plan.Instance {
		return sh(name, fmt.Sprintf("touch %[1]s/%[2]s; until test -e %[1]s/%[3]s; do sleep 0.01; done; i=0; while [ $i -lt 20000 ]; do echo %[2]s $i; i=$((i+1)); done; exit 1", meet, name, other))
	}
	if _, err := w.run(planOf(nil, chatty("one", "two"), chatty("two", "one"))); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range w.events {
		f, ok := e.(event.ActionFinished)
		if !ok {
			continue
		}
		n++
		_, name, _ := strings.Cut(f.Step, ".")
		if b, err := os.ReadFile(f.Failure.Log); err != nil || strings.Count(string(b), name+" ") != 20000 || strings.Count(string(b), "\n") != 20000 || f.Failure.LogCut {
			t.Errorf("the log of %s has %d bytes, %v", name, len(b), err)
		}
	}
	if n != 2 {
		t.Errorf("%d actions ended", n)
	}
}

// A log without all that was printed is not called so.
func TestTooLongOutput(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run(planOf(nil, sh("endless", "head -c 70000000 /dev/zero; echo the end; exit 1"))); err != nil {
		t.Fatal(err)
	}
	f := w.failure()
	if b, err := os.ReadFile(f.Log); err != nil || !f.LogCut || !strings.HasSuffix(string(b), "the end\n") || !strings.Contains(string(b), " bytes left out …") {
		t.Errorf("the log has %d bytes, %v, cut %v", len(b), err, f.LogCut)
	}
}
