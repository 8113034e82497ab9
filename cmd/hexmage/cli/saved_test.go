//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/store"
)

// A large input that is saved while an action reads it where it is: the action runs again, and that is said, in a
// first build and in one that does without a plan.
func TestSavedWhileRead(t *testing.T) {
	t.Parallel()
	dir, cache, meet := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(name string, size int) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("pipelines/p.hcl", 0)
	if err := os.WriteFile(filepath.Join(dir, "pipelines/p.hcl"), []byte(fmt.Sprintf(`
step "exec" "count" {
  argv   = ["sh", "-ec", "touch %[1]s/began; until test -e %[1]s/saved; do sleep 0.01; done; wc -c < big > o"]
  inputs = ["big"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.count.outputs.o }
`, meet)), 0o644); err != nil {
		t.Fatal(err)
	}
	for round, size := range []int{store.MinRef + 1, store.MinRef + 3} {
		write("big", size)
		for _, name := range []string{"began", "saved"} {
			_ = os.Remove(filepath.Join(meet, name))
		}
		time.Sleep(2200 * time.Millisecond) // younger files are copied, and no snapshot is made of them
		cmd := exec.CommandContext(t.Context(), binary(t), "run", "p", "--sandbox=staged")
		var out bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), "HEXMAGE_CACHE="+cache, "HOME="+dir),
			&out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(meet, "began")); err == nil {
				break
			}
			if time.Now().After(deadline) {
				_ = cmd.Process.Kill()
				t.Fatalf("nothing began: %s", out.String())
			}
		}
		write("big", size+1)
		if err := os.WriteFile(filepath.Join(meet, "saved"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		b, err := os.ReadFile(filepath.Join(dir, "out/p/o"))
		switch strings.TrimSpace(string(b)) {
		case fmt.Sprint(size + 1):
			if strings.Count(out.String(), "big changed during the build; hexmage builds again") != 1 {
				t.Errorf("round %d: it does not say once why it builds again:\n%s", round, out.String())
			}
		case fmt.Sprint(size):
			t.Skip("large inputs are copied here: the process may not mount")
		default:
			t.Errorf("round %d: %q, %v\n%s", round, b, err, out.String())
		}
	}
}
