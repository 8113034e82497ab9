package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

// The log of a failed action has all that it printed, the report the end of it.
func TestLongOutput(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run(planOf(nil,
		sh("chatty", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 1"))); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(w.failure().Log); err != nil || strings.Count(string(b), "\n") != 20000 ||
		!strings.HasSuffix(w.failure().Output, "line 19999") {
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
		return sh(name, fmt.Sprintf("touch %[1]s/%[2]s; until test -e %[1]s/%[3]s; do sleep 0.01; done; i=0; while "+
			"[ $i -lt 20000 ]; do echo %[2]s $i; i=$((i+1)); done; exit 1", meet, name, other))
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
		if b, err := os.ReadFile(f.Failure.Log); err != nil || strings.Count(string(b), name+" ") != 20000 ||
			strings.Count(string(b), "\n") != 20000 || f.Failure.LogCut {
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
	if b, err := os.ReadFile(f.Log); err != nil || !f.LogCut || !strings.HasSuffix(string(b), "the end\n") ||
		!strings.Contains(string(b), " bytes omitted …") {
		t.Errorf("the log has %d bytes, %v, cut %v", len(b), err, f.LogCut)
	}
}

// Each action has a log of its own, however its name is spelt.
func TestLogNames(t *testing.T) {
	w := newWorld(t)
	w.KeepGoing = true
	var all []*plan.Instance
	for i, name := range []string{"a/b", "a-b", "a+b", "a,b", "a=2fb", "a b", "ä", strings.Repeat("x", 300),
		strings.Repeat("x", 301)} {
		n := sh(fmt.Sprint("s", i), "echo "+name+"; exit 1")
		n.At.Name, n.At.Key, n.At.Keyed, n.Specs[0].Name = "s", name, true, ""
		all = append(all, n)
	}
	for i, m := range []addrs.Module{addrs.Module("").Call("m"), addrs.Module("").Copy("m", "k"),
		addrs.Module("").Copy("m", "k").Call("n"), addrs.Module("").Copy("m", "k,module.n")} {
		n := sh(fmt.Sprint("m", i), "echo "+string(m)+"; exit 1")
		n.At.Module, n.At.Name, n.Specs[0].Name = m, "s", ""
		all = append(all, n)
	}
	key, spec := sh("s", "echo of the key; exit 1"), sh("s", "echo of the name; exit 1")
	key.At.Key, key.At.Keyed, key.Specs[0].Name = "k,n", true, ""
	spec.At.Key, spec.At.Keyed, spec.Specs[0].Name = "k", true, "n"
	if _, err := w.run(planOf(nil, append(all, key, spec)...)); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range w.events {
		f, ok := e.(event.ActionFinished)
		if !ok {
			continue
		}
		if b, err := os.ReadFile(f.Failure.Log); err != nil || string(b) != f.Failure.Output+"\n" ||
			seen[f.Failure.Log] {
			t.Errorf("%s %s: %s has %q, %v; want %q", f.Step, f.Name, f.Failure.Log, b, err, f.Failure.Output)
		}
		seen[f.Failure.Log] = true
	}
	if len(seen) != len(all)+2 {
		t.Errorf("%d logs", len(seen))
	}
}
