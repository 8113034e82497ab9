// Command mutants checks that the tests in cmd/hexmage/promises can fail. For each promise, it breaks hexmage in one
// place, and expects the promise's test to fail.
//
// The table of promises is in table.go. The command never changes your files: it passes a changed file to the go
// command as an overlay. Arguments are names of tests; without arguments the command checks all tests. The command does
// not know how a test detects the change.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

const (
	tests = "cmd/hexmage/promises" // has a test for each promise
	table = "internal/archtest/mutants/table.go"
)

func run(names []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hexmage-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := runner{root: root, dir: dir, binary: filepath.Join(dir, "promises.test")}
	if out, err := exec.Command("go", "test", "-c", "-o", r.binary, "./"+tests).CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c ./%s: %w\n%s", tests, err, out)
	}
	all := slices.DeleteFunc(mutants(),
		func(m mutant) bool { return len(names) > 0 && !slices.Contains(names, m.test) })
	if len(all) == 0 {
		return fmt.Errorf("no mutant has a test of %q: see %s", names, table)
	}
	if err := r.unchanged(all); err != nil {
		return err
	}
	var wrong []error
	fmt.Println("| promise | test | caught in |\n|---|---|---|")
	for i, m := range all {
		took, err := r.caught(i, m)
		result := fmt.Sprintf("%.1f s", took.Seconds())
		if err != nil {
			result = "**not caught**"
			wrong = append(wrong, fmt.Errorf("%s (%s): %w", m.test, m.edits[0].file, err))
		}
		fmt.Printf("| %s | `%s` | %s |\n", m.promise, m.test, result)
	}
	return errors.Join(wrong...)
}

// runner runs tests of promises.
type runner struct{ root, dir, binary string }

// unchanged runs the tests without a mutant. All must pass, and none may be skipped.
func (r *runner) unchanged(all []mutant) error {
	out, err := r.test("", "")
	if err != nil {
		return fmt.Errorf("without a mutant: %w\n%s", err, out)
	}
	for _, m := range all {
		if !strings.Contains(out, "--- PASS: "+m.test+" ") {
			return fmt.Errorf("%s: without a mutant, the test does not run on this machine\n%s", m.test, out)
		}
	}
	return nil
}

// caught returns how long it takes to build the mutant and to see its test fail.
func (r *runner) caught(i int, m mutant) (time.Duration, error) {
	replace := map[string]string{}
	for j, e := range m.edits {
		path := filepath.Join(r.root, filepath.FromSlash(e.file))
		from := path
		if changed, ok := replace[path]; ok {
			from = changed
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return 0, err
		}
		mutated, err := e.apply(string(text))
		if err != nil {
			return 0, err
		}
		replace[path] = filepath.Join(r.dir, fmt.Sprintf("%d-%d.go", i, j))
		if err := os.WriteFile(replace[path], []byte(mutated), 0o644); err != nil {
			return 0, err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return 0, err
	}
	overlay := filepath.Join(r.dir, fmt.Sprintf("%d.json", i))
	if err := os.WriteFile(overlay, b, 0o644); err != nil {
		return 0, err
	}
	start := time.Now()
	out, err := r.test(overlay, m.test)
	switch {
	case err == nil:
		return 0, fmt.Errorf("the test passes although hexmage is broken: make the test look for it\n%s", out)
	case strings.Contains(out, "panic: ") || !strings.Contains(out, "--- FAIL: "+m.test+" "):
		return 0, fmt.Errorf("the test ends without a result: update the mutant in %s\n%s", table, out)
	}
	return time.Since(start), nil
}

// test runs tests on the program that TestMain builds. It returns what they print.
func (r *runner) test(overlay, name string) (string, error) {
	args := []string{"-test.v", "-test.timeout=5m"}
	if name != "" {
		args = append(args, "-test.run=^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	}
	cmd := exec.Command(r.binary, args...)
	cmd.Dir = filepath.Join(r.root, filepath.FromSlash(tests))
	cmd.Env = os.Environ()
	if overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
