//go:build linux

package promises_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestKey changes one part of an action at a time. The action must run again each time, and not when all is as before.
func TestKey(t *testing.T) {
	const step = `
step "exec" "s" {
  argv   = ["sh", "-ec", "echo ran >> LOGS/s; cat src/a > o; echo $1 $WORD >> o", "script", "%s"]
  inputs = ["src"]
  env    = { WORD = "%s" }
  %s
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`
	first := func(t *testing.T) *world {
		w := newWorld(t)
		w.write("src/a", "one\n")
		w.pipeline(fmt.Sprintf(step, "x", "y", ""))
		for range 2 {
			w.runs(stagedLevel)
			w.wantLines("s", 1)
			w.wantOut("o", "one\nx y\n")
		}
		return w
	}

	t.Run("command", func(t *testing.T) {
		w := first(t)
		w.pipeline(fmt.Sprintf(step, "changed", "y", ""))
		w.runs(stagedLevel)
		w.wantLines("s", 2)
		w.wantOut("o", "one\nchanged y\n")
		w.pipeline(fmt.Sprintf(step, "x", "changed", ""))
		w.runs(stagedLevel)
		w.wantLines("s", 3)
		w.wantOut("o", "one\nx changed\n")
	})

	t.Run("inputs", func(t *testing.T) {
		w := first(t)
		// Size and modification time stay as they are.
		p := filepath.Join(w.dir, "src", "a")
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		w.write("src/a", "two\n")
		if err := os.Chtimes(p, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		w.runs(stagedLevel)
		w.wantLines("s", 2)
		w.wantOut("o", "two\nx y\n")
	})

	t.Run("platform", func(t *testing.T) {
		w := first(t)
		w.pipeline(fmt.Sprintf(step, "x", "y", "network = true"))
		w.runs(stagedLevel)
		w.wantLines("s", 2)
	})

	t.Run("program", func(t *testing.T) {
		w := newWorld(t)
		w.pipeline(`
step "exec" "s" {
  argv = ["LOGS/program"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`)
		for _, text := range []string{"one", "two"} {
			p := filepath.Join(w.logs, "program")
			if err := os.WriteFile(p, []byte("#!/bin/sh\necho "+text+" > o\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.runs(stagedLevel)
			w.wantOut("o", text+"\n")
		}
	})

	t.Run("toolchain", func(t *testing.T) {
		w := newWorld(t)
		w.pipeline(`
toolchain "ours" {
  version = "1"
  source     = "archive"
}
step "exec" "s" {
  argv = ["sh", "-ec", "echo ran >> LOGS/s; cat \"$1/version\" > o", "script", toolchain.ours.dir]
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`)
		for i, text := range []string{"one", "two"} {
			w.toolchain(text)
			w.runs(stagedLevel)
			w.wantLines("s", i+1)
			w.wantOut("o", text)
		}
	})
}

// TestEarlyCutoff changes an input in a way that leaves the output of the first step as it was. No step after it runs.
func TestEarlyCutoff(t *testing.T) {
	w := newWorld(t)
	w.pipeline(`
step "exec" "strip" {
  argv   = ["sh", "-ec", "echo ran >> LOGS/strip; grep -v '^#' src > o"]
  inputs = ["src"]
  output "o" { file = "o" }
}
step "exec" "next" {
  argv = ["sh", "-ec", "echo ran >> LOGS/next; mkdir t; cat \"$1\" > t/next", "script", step.exec.strip.outputs.o]
  output "t" { tree = "t" }
}
step "exec" "last" {
  argv = ["sh", "-ec", "echo ran >> LOGS/last; cat \"$1/next\" > o", "script", step.exec.next.outputs.t]
  output "o" { file = "o" }
}
output "o" { value = step.exec.last.outputs.o }
`)
	for i, c := range []struct {
		src       string
		dependent int // how often the steps after the first have run
	}{
		{"# a comment\nfirst\n", 1},
		{"# another comment\nfirst\n", 1},
		{"# another comment\nsecond\n", 2},
	} {
		w.write("src", c.src)
		w.runs(stagedLevel)
		w.wantLines("strip", i+1)
		w.wantLines("next", c.dependent)
		w.wantLines("last", c.dependent)
	}
	w.wantOut("o", "second\n")
}

// TestDepfile changes a header that the command read, and one that it did not read.
func TestDepfile(t *testing.T) {
	w := newWorld(t)
	w.write("include/read.h", "one\n")
	w.write("include/other.h", "one\n")
	w.pipeline(`
step "exec" "s" {
  argv    = ["sh", "-ec", "echo ran >> LOGS/s; cat include/read.h > o; echo 'o: include/read.h' > o.d"]
  inputs  = ["include"]
  depfile = "o.d"
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`)
	w.runs(stagedLevel)
	w.wantLines("s", 1)
	w.write("include/other.h", "changed\n")
	w.runs(stagedLevel)
	w.wantLines("s", 1)
	w.write("include/read.h", "changed\n")
	w.runs(stagedLevel)
	w.wantLines("s", 2)
	w.wantOut("o", "changed\n")
}
