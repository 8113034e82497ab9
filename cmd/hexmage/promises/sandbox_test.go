//go:build linux

package promises_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUndeclaredInput has an action read a file of the workspace that it declares, and one that it does not declare.
func TestUndeclaredInput(t *testing.T) {
	strict(t)
	w := newWorld(t)
	w.env = []string{"UNDECLARED=value"}
	w.write("declared", "declared\n")
	w.write("undeclared", "undeclared\n")
	w.pipeline(strings.ReplaceAll(`
step "exec" "s" {
  shell = true
  argv = [<<-EOT
    cat declared > o
    cat undeclared >> o || echo not by name >> o
    cat WS/undeclared >> o || echo not by path >> o
    ls WS >> o || echo not in a list >> o
    echo "$${UNDECLARED-not in the environment}" >> o
  EOT
  ]
  inputs = ["declared"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`, "WS", w.dir))
	w.runs(strictLevel)
	w.wantOut("o", "declared\nnot by name\nnot by path\nnot in a list\nnot in the environment\n")
}

// TestWriteOutside has an action change everything outside of its outputs that it can name: the workspace, the cache
// with its toolchain and the results of other actions, and a folder beside them.
func TestWriteOutside(t *testing.T) {
	strict(t)
	w := newWorld(t)
	w.write("input", "input\n")
	w.write("other", "other\n")
	w.toolchain("one")
	const first = `
toolchain "ours" {
  version = "1"
  source     = "archive"
}
step "exec" "first" {
  argv = ["sh", "-ec", "mkdir t; cat \"$1/version\" > t/file", "script", toolchain.ours.dir]
  output "t" { tree = "t" }
}
output "tree" { value = step.exec.first.outputs.t }
`
	w.pipeline(first)
	w.runs(strictLevel)
	var targets []string
	for _, dir := range []string{"ws", "cache"} {
		for p := range w.snapshot(dir) {
			targets = append(targets, p)
		}
	}
	if len(targets) < 8 {
		t.Fatalf("there are few files to attack: %q", targets)
	}
	w.write("targets", strings.Join(targets, "\n")+"\n")
	// An attempt that succeeds is a line of the output. The command goes on after one that fails.
	w.pipeline(first + strings.NewReplacer("WS", w.dir, "CACHE", w.cache).Replace(`
step "exec" "attack" {
  argv = ["sh", "-c", <<-EOT
    true > a/o
    for dir in WS CACHE LOGS; do
      ! echo x > $dir/planted || echo "made $dir/planted" >> a/o
      ! mkdir $dir/folder || echo "made $dir/folder" >> a/o
    done
    for file in $(cat targets); do
      ! true >> $file || echo "opened $file" >> a/o
      ! chmod 666 $file || echo "chmod $file" >> a/o
      ! touch -d @1 $file || echo "touch $file" >> a/o
      ! mv $file $file.moved || echo "moved $file" >> a/o
      ! rm -f $file || echo "removed $file" >> a/o
      ! ln $file a/link || echo "linked $file" >> a/o
    done
    ! echo x >> input || echo "wrote to input" >> a/o
    test -s "$1/version" && test -s "$2/file" && test -s input || echo "inputs are not there" >> a/o
  EOT
  , "script", toolchain.ours.dir, step.exec.first.outputs.t]
  inputs = ["input", "targets"]
  output "o" { file = "a/o" }
}
output "o" { value = step.exec.attack.outputs.o }
`))
	before := w.snapshot("ws")
	w.runs(strictLevel)
	w.wantOut("o", "")
	after := w.snapshot("ws")
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s is %q, was %q", name, after[name], was)
		}
	}
	for _, dir := range []string{w.dir, w.cache, w.logs} {
		for _, name := range []string{"planted", "folder"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s is in %s", name, dir)
			}
		}
	}
	if o := w.hexmage("cache", "verify"); o.code != 0 {
		t.Errorf("the cache is damaged: %s", o.text)
	}
}

// snapshot returns mode, time and content of each file below a folder of the world.
func (w *world) snapshot(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Join(w.base, dir), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(p)
		all[p] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime(), sha256.Sum256(b))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// TestNetwork has an action connect to a listener of the test, without and with network = true.
func TestNetwork(t *testing.T) {
	strict(t)
	w := newWorld(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "client"), b, 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	accepted := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			conn.Close()
		}
		accepted <- err
	}()
	const step = `
step "exec" "s" {
  argv    = ["sh", "-c", "if ./client; then echo connected > o; else echo refused > o; fi"]
  inputs  = ["client"]
  env     = { %s = "%s" }
  network = %t
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`
	w.pipeline(fmt.Sprintf(step, envDial, listener.Addr(), false))
	w.runs(strictLevel)
	w.wantOut("o", "refused\n")
	select {
	case <-accepted:
		t.Fatal("the action connected")
	default:
	}
	w.pipeline(fmt.Sprintf(step, envDial, listener.Addr(), true))
	w.runs(strictLevel)
	w.wantOut("o", "connected\n")
	if err := <-accepted; err != nil {
		t.Error(err)
	}
}
