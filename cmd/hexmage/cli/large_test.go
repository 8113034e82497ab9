package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// `run` reports a mistake in a large file as `validate` does and exports nothing; once it is corrected, `run` builds
// all.
func TestLargeFile(t *testing.T) {
	large := func(argv string) string {
		var b strings.Builder
		for i := range 800 {
			a := "[\"cp\", step.exec.first.outputs.o, \"o\"]"
			if i == 400 {
				a = argv
			}
			fmt.Fprintf(&b, "step \"exec\" \"s%d\" {\n  description = \"number %[1]d of many, with some words so "+
				"that the file is large\"\n  argv = %s\n  output \"o\" { file = \"o\" }\n}\n", i, a)
		}
		return "step \"exec\" \"first\" {\n  argv = [\"sh\", \"-c\", \"echo 1 > o\"]\n  output \"o\" { file = \"o\" " +
			"}\n}\n" + b.String() + "output \"last\" { value = step.exec.s400.outputs.o }\n"
	}
	dir, cache := t.TempDir(), t.TempDir()
	run := func(args ...string) (int, string) {
		var stderr bytes.Buffer
		env := cli.System()
		env.Dir, env.Stdout, env.Stderr, env.Vars = dir, new(bytes.Buffer), &stderr,
			append(os.Environ(), "HEXMAGE_CACHE="+cache)
		return cli.Main(append([]string{"hexmage"}, args...), env), stderr.String()
	}
	if err := os.Mkdir(filepath.Join(dir, "pipelines"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(argv string) {
		if err := os.WriteFile(filepath.Join(dir, "pipelines", "x.hcl"), []byte(large(argv)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range []string{
		`["cp", step.exec.frist.outputs.o, "o"]`,
		`["cp", tonumber("x"), "o"]`,
		`["cp", "o"`,
	} {
		write(wrong)
		code, want := run("validate", "x")
		if code == 0 || !strings.Contains(want, "pipelines/x.hcl") {
			t.Fatalf("validate: %d\n%s", code, want)
		}
		if code, got := run("run", "x"); code != 1 && code != 2 || got != want {
			t.Errorf("run: %d\n%s\nvalidate:\n%s", code, got, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			t.Error("something was put out")
		}
	}
	write(`["sh", "-c", "echo 2 > o"]`)
	if code, said := run("run", "x"); code != 0 || !strings.Contains(said, "801 actions") {
		t.Fatalf("%d\n%s", code, said)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "out", "x", "last")); string(b) != "2\n" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}
