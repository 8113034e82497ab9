//go:build linux

package mainjob_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// most is how many system calls on files and descriptors an action may cost, from nothing to its output in its place.
// It is a fifth above what was counted. About 150 are those of cp, 63 are Landlock's rules.
const most = 580

// TestCalls: what hexmage asks of the kernel for a small action does not grow unseen. Other calls are not counted, as
// how many there are depends on what else the machine does.
func TestCalls(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not on this machine: system calls are not counted")
	}
	w := NewWorld(t)
	count := func(n int) int {
		t.Helper()
		for i := range n {
			w.Write(t, fmt.Sprintf("src/%d-%d", n, i), fmt.Sprintf("%d of %d\n", i, n))
		}
		name := fmt.Sprint("p", n)
		w.Write(t, "pipelines/"+name+".hcl", fmt.Sprintf(`
step "exec" "o" {
  for_each = toset(fileset("src", "%d-*"))
  argv     = ["cp", each.value, "o"]
  inputs   = [each.value]
  output "o" { file = "o" }
}
output "o" { value = [for s in step.exec.o : s.outputs.o] }
`, n))
		cmd := w.Command(context.Background(), "run", name)
		table := filepath.Join(t.TempDir(), "calls")
		cmd.Path, cmd.Args = strace,
			append([]string{strace, "-f", "-qq", "-c", "-o", table, "-e", "trace=%file,%desc",
				cmd.Path}, cmd.Args[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			if exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "true").Run() != nil {
				t.Skip("strace cannot look at other processes here: system calls are not counted")
			}
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		total := regexp.MustCompile(`(?m)^100\.00 +\S+ +\S+ +(\d+) .*total$`).FindSubmatch(b)
		if total == nil {
			t.Fatalf("no total:\n%s", b)
		}
		calls, _ := strconv.Atoi(string(total[1]))
		return calls
	}
	few, many := count(10), count(110)
	if each := float64(many-few) / 100; each > most || each < most/3 {
		t.Errorf("an action costs %.1f system calls: more than %d, or so few that they were not counted", each, most)
	} else {
		t.Logf("an action costs %.1f system calls", each)
	}
}
