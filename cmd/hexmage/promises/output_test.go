//go:build linux

package promises_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSecrets gives an action a secret, which it prints in several spellings, and looks for it in all that hexmage
// prints and keeps.
func TestSecrets(t *testing.T) {
	const value = "hunter2-7f3a9c"
	w := newWorld(t)
	w.pipeline(`
variable "token" {
  type      = string
  sensitive = true
}
variable "exit" { default = "0" }
step "exec" "s" {
  shell = true
  argv  = [<<-EOT
    echo ran >> LOGS/s
    echo "$TOKEN"
    echo "warning: $TOKEN" >&2
    printf %s "$TOKEN" | base64
    env
    echo $${#TOKEN} > o
    exit ${var.exit}
  EOT
  ]
  env   = { TOKEN = var.token }
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`)
	w.env = []string{"HEXMAGE_VAR_token=" + value}
	spellings := []string{value, hex.EncodeToString([]byte(value)),
		base64.StdEncoding.EncodeToString([]byte(value))[:18]}
	check := func(where, text string) {
		t.Helper()
		for _, s := range spellings {
			if strings.Contains(text, s) {
				t.Errorf("%s has the secret as %s", where, s)
			}
		}
	}
	commands := func(code int) {
		t.Helper()
		for _, args := range [][]string{
			{"run", "p", stagedLevel, "-v"}, {"--json", "run", "p", stagedLevel}, {"plan", "p"},
			{"--json", "plan", "p"},
			{"explain", "p", "exec.s"}, {"report"}, {"runs"},
		} {
			o := w.hexmage(args...)
			want := 0
			if args[0] == "run" || args[0] == "--json" && args[1] == "run" {
				want = code
			}
			if o.code != want {
				t.Errorf("hexmage %q: exit code %d, want %d\n%s", args, o.code, want, o.text)
			}
			check(fmt.Sprintf("hexmage %q", args), o.text)
		}
	}
	commands(0)
	w.wantOut("o", "14\n")
	w.wantLines("s", 1)
	w.env = []string{"HEXMAGE_VAR_token=another-value"}
	w.runs(stagedLevel)
	w.wantLines("s", 1) // the value is not part of the key
	w.env = []string{"HEXMAGE_VAR_token=" + value, "HEXMAGE_VAR_exit=1"}
	commands(1)

	files := 0
	err := filepath.WalkDir(w.base, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		check("the name of "+p, p)
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(p)
		check(p, string(b))
		return err
	})
	if err != nil || files < 10 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestOutputAtomic replaces outputs while readers have them open, looks at them all the time, and kills hexmage in
// between. Each reader sees the old output or the new one as a whole.
func TestOutputAtomic(t *testing.T) {
	const large = 20_000_000
	w := newWorld(t)
	w.pipeline(fmt.Sprintf(`
step "exec" "s" {
  shell  = true
  argv   = [<<-EOT
    head -c %d /dev/zero | tr '\0' "$(cat src)" > large
    cp src small
    mkdir tree
    cp src tree/a
    cp src tree/b
  EOT
  ]
  inputs = ["src"]
  output "large" { file = "large" }
  output "small" { file = "small" }
  output "tree" { tree = "tree" }
}
output "large" { value = step.exec.s.outputs.large }
output "small" { value = step.exec.s.outputs.small }
output "tree" { value = step.exec.s.outputs.tree }
`, large))
	out := filepath.Join(w.dir, "out", "p")
	whole := func(b []byte, size int) bool {
		return len(b) == size && strings.Count(string(b), string(b[0])) == size
	}
	w.write("src", "a")
	w.runs()
	w.write("src", "b")
	w.runs() // now hexmage has the results of a and b, and replaces outputs only

	// Who has an output open keeps what it was.
	var open []*os.File
	for _, name := range []string{"large", "small"} {
		f, err := os.Open(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open = append(open, f)
	}
	tree, err := os.OpenRoot(filepath.Join(out, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	a, err := tree.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	w.write("src", "a")
	w.runs()
	w.wantOut("small", "a")
	w.wantOut("tree/b", "a")
	for _, f := range append(open, a) {
		b, err := io.ReadAll(f)
		if err != nil || len(b) == 0 || b[0] != 'b' || !whole(b, len(b)) || len(b) != 1 && len(b) != large {
			t.Errorf("%s changed under its reader: %d bytes, %v", f.Name(), len(b), err)
		}
	}

	// Readers that come while hexmage works, or after it was killed, see a whole output.
	stop, done := make(chan struct{}), make(chan struct{})
	look := func() {
		for name, size := range map[string]int{"large": large, "small": 1, "tree/a": 1} {
			if b, err := os.ReadFile(filepath.Join(out, name)); err != nil || !whole(b, size) {
				t.Errorf("output %s is not whole: %d bytes of %d, %v", name, len(b), size, err)
			}
		}
	}
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				look()
			}
		}
	}()
	for i := range 6 {
		w.write("src", string(rune('a'+(i+1)%2)))
		cmd, ended := w.start("run", "p")
		timer := time.AfterFunc(time.Duration(20+15*i)*time.Millisecond, func() { kill(cmd) })
		ended()
		timer.Stop()
	}
	for _, text := range []string{"b", "a"} {
		w.write("src", text)
		w.runs()
		w.wantOut("small", text)
	}
	close(stop)
	<-done
	left, err := filepath.Glob(filepath.Join(w.dir, "out", "p", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left beside the outputs: %q, %v", left, err)
	}
}
