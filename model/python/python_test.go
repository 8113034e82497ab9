package python_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/python"
)

func names(t *testing.T, program string) []string {
	t.Helper()
	files, err := python.Program(program)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out
}

// TestProgram: a program comes with what it imports, and with nothing else: a change elsewhere runs nothing again.
func TestProgram(t *testing.T) {
	if got, want := names(t, "accuracy"), []string{"accuracy.py", "arch.py", "command.py", "compare.py", "tokens.py"}; !slices.Equal(got, want) {
		t.Errorf("accuracy has %q, want %q", got, want)
	}
	if got := names(t, "onnx_quantize"); slices.Contains(got, "context.py") || !slices.Contains(got, "tensors.py") {
		t.Errorf("onnx_quantize has %q", got)
	}
	if _, err := python.Program("nothing"); err == nil {
		t.Error("a program that there is not")
	}
	all, err := filepath.Glob("programs/*.py")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, p := range all {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\ncommand.run(")) || bytes.Contains(text, []byte("\n    command.run(")) {
			for _, name := range names(t, strings.TrimSuffix(filepath.Base(p), ".py")) {
				used[name] = true
			}
		}
		for line := range bytes.Lines(text) { // the closure sees imports at the beginning of a line alone
			if s := strings.TrimLeft(string(line), " "); len(s) < len(line) && strings.HasPrefix(s, "import ") {
				name, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(s, "import ")), " ")
				if _, err := os.Stat("programs/" + name + ".py"); err == nil {
					t.Errorf("%s imports %s inside of a function: it would not be there", p, name)
				}
			}
		}
	}
	for _, p := range all {
		if !used[filepath.Base(p)] {
			t.Errorf("no program uses %s", p)
		}
	}
}

// TestTexts: what calibration and comparison read by default is there.
func TestTexts(t *testing.T) {
	for _, name := range []string{"calibration.txt", "reading.txt"} {
		if text, err := python.Text(name); err != nil || len(text) < 100 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}
