package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLeftOfTheRaceDetector: what `mage test` does not run under the race detector is there, by those names: one that
// was renamed or is gone would stay in the list unseen.
func TestLeftOfTheRaceDetector(t *testing.T) {
	src, err := os.ReadFile("../../magefile.go")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`const planning = "\^\(([^)]*)\)\$\|" \+\s+"\^TestScript\$/\^\(([^)]*)\)\$"`).
		FindSubmatch(src)
	if list == nil {
		t.Fatal("magefile.go has no list of that form any more")
	}
	var tests, scripts []string
	files, err := filepath.Glob("../../cmd/hexmage/cli/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			tests = append(tests, string(m[1]))
		}
	}
	files, err = filepath.Glob("../../cmd/hexmage/cli/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		scripts = append(scripts, strings.TrimSuffix(filepath.Base(f), ".txtar"))
	}
	for i, there := range [][]string{tests, scripts} {
		for _, name := range strings.Split(string(list[i+1]), "|") {
			if whole := regexp.MustCompile("^" + name + "$"); !slices.ContainsFunc(there, whole.MatchString) {
				t.Errorf("%s is no test of package cli", name)
			}
		}
	}
}
