package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// hexmage runs the command line in a folder and returns what it printed.
func hexmage(t *testing.T, dir, cache string, args ...string) (stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: dir, Self: self,
		Vars: []string{"HOME=" + cache, "HEXMAGE_CACHE=" + cache, "PATH=" + os.Getenv("PATH")}}
	if code := cli.Main(append([]string{"hexmage"}, args...), env); code != cli.ExitOK {
		t.Fatalf("hexmage %s: exit code %d\n%s%s", strings.Join(args, " "), code, &out, &errs)
	}
	return out.String(), errs.String()
}

// TestExamples checks that every example is valid and laid out, and that there is a test of it below.
func TestExamples(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(*testing.T, string){"hello": exampleHello, "oppackage-only": exampleOpPackage,
		"c-project": exampleCProject, "onnx-edit": exampleONNXEdit}
	dirs, err := filepath.Glob(filepath.Join(root, "*", "pipelines"))
	if err != nil || len(dirs) != len(tests) {
		t.Errorf("examples %q, %v; tests of %d", dirs, err, len(tests))
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, name))); err != nil {
				t.Fatal(err)
			}
			cache := t.TempDir()
			hexmage(t, dir, cache, "fmt", "--check")
			hexmage(t, dir, cache, "validate")
			if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
				t.Error(err)
			}
			test(t, dir)
		})
	}
}

// exampleHello does what the example's README says.
func exampleHello(t *testing.T, dir string) {
	cache := t.TempDir()
	letter := func(want string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "out", "hello", "letter.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(b)); diff != "" {
			t.Errorf("letter (-want +got):\n%s", diff)
		}
	}
	run := func(want string, args ...string) {
		t.Helper()
		if _, said := hexmage(t, dir, cache, append([]string{"run", "hello"}, args...)...); !strings.Contains(said,
			want) {
			t.Errorf("run said %q, want %q", said, want)
		}
	}
	run("5 executed, 0 cached")
	letter("3 greetings\nHello, Ada!\nHello, Grace!\nHello, Hedy!\n")
	run("0 executed, 5 cached")

	people := filepath.Join(dir, "people.txt")
	b, err := os.ReadFile(people)
	if err == nil {
		err = os.WriteFile(people, append(b, "Katherine\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	run("3 executed, 3 cached")
	letter("4 greetings\nHello, Ada!\nHello, Grace!\nHello, Hedy!\nHello, Katherine!\n")

	run("6 executed, 0 cached", "--var", "greeting=Hi")
	letter("4 greetings\nHi, Ada!\nHi, Grace!\nHi, Hedy!\nHi, Katherine!\n")
}

// exampleONNXEdit plans the example as its README does. TestExampleONNXEdit in e2e/emulator runs the example.
func exampleONNXEdit(t *testing.T, dir string) {
	for args, want := range map[string]string{"": "python.net", "--var=model=your.onnx": "your.onnx"} {
		if err := os.WriteFile(filepath.Join(dir, "your.onnx"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		said, _ := hexmage(t, dir, t.TempDir(), append([]string{"plan", "-v", "edit"}, strings.Fields(args)...)...)
		if !strings.Contains(said, "python.edit") || !strings.Contains(said, want) {
			t.Errorf("plan %s has no %s:\n%s", args, want, said)
		}
	}
}

// exampleCProject does what the example's README says.
func exampleCProject(t *testing.T, dir string) {
	cache := t.TempDir()
	for _, c := range []struct{ file, content, want string }{
		{"", "", "5 executed, 0 cached"},
		{"", "", "0 executed, 5 cached"},
		{"include/greeting.h", "#define GREETING \"The product is\"\n", "1 executed, 4 cached"},
		{"version.txt", "1.1\n", "4 executed, 1 cached"},
	} {
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, said := hexmage(t, dir, cache, "run", "app"); !strings.Contains(said, c.want) {
			t.Errorf("after %s: run said %q, want %q", c.file, said, c.want)
		}
	}
	if st, err := os.Stat(filepath.Join(dir, "out", "app", "app")); err != nil || st.Mode()&0o111 == 0 {
		t.Errorf("the program: %v, %v", st, err)
	}
}

// exampleOpPackage plans only: the compilers are packages of the distribution.
func exampleOpPackage(t *testing.T, dir string) {
	said, _ := hexmage(t, dir, t.TempDir(), "plan", "-v", "clip")
	for _, want := range []string{"hexagon-clang++", "-mv79", "--target=aarch64", "clip/src/ops/", "libQnn*.so",
		"actions depend on the files in clip"} {
		if !strings.Contains(said, want) {
			t.Errorf("the plan does not say %q:\n%s", want, said)
		}
	}
}

// TestShippedPipelines checks that the pipelines of this repository are valid and laid out.
func TestShippedPipelines(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	hexmage(t, root, t.TempDir(), "fmt", "--check")
	hexmage(t, root, t.TempDir(), "validate") // in each profile
}
