package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFidelity checks docs/fidelity.md: each row about a test names a test or an observation by hand, and each test
// that the page names exists.
func TestFidelity(t *testing.T) {
	root := filepath.Join("..", "..")
	raw, err := os.ReadFile(filepath.Join(root, "docs", "fidelity.md"))
	if err != nil {
		t.Fatal(err)
	}
	exists, function := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(at, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(at)
		for _, m := range function.FindAllSubmatch(source, -1) {
			exists[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`")
	for _, m := range named.FindAllStringSubmatch(string(raw), -1) {
		if !exists[m[1]] {
			t.Errorf("docs/fidelity.md: the repository has no test %s", m[1])
		}
	}
	_, tested, _ := strings.Cut(string(raw), "\n## Tested against")
	tested, _, _ = strings.Cut(tested, "\n## ")
	rows := 0
	for line := range strings.Lines(tested) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| tested |") {
			continue
		}
		if rows++; !named.MatchString(line) && !strings.Contains(line, "by hand") {
			t.Errorf("docs/fidelity.md: the row names no test: %s", line)
		}
	}
	if rows < 40 {
		t.Errorf("docs/fidelity.md has %d rows about tests, expected 40 or more", rows)
	}
}
