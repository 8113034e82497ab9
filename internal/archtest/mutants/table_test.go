package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTable tells when a change of the code or of a test needs a change of the table.
func TestTable(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	var there, used []string
	files, err := filepath.Glob(filepath.Join(root, tests, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(b),
			-1) {
			there = append(there, m[1])
		}
	}
	promises := map[string]bool{}
	for _, m := range mutants() {
		promises[m.promise] = true
		name, _, _ := strings.Cut(m.test, "/")
		if used = append(used, name); !slices.Contains(there, name) {
			t.Errorf("%s is no test of %s", name, tests)
		}
		texts := map[string]string{}
		for _, e := range m.edits {
			if texts[e.file] == "" {
				b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
				if err != nil {
					t.Errorf("%s: %v: update the mutant", m.test, err)
					continue
				}
				texts[e.file] = string(b)
			}
			if texts[e.file], err = e.apply(texts[e.file]); err != nil {
				t.Errorf("%s: %v", m.test, err)
			}
		}
	}
	if len(promises) != 12 {
		t.Errorf("the table has mutants of %d promises, want 12", len(promises))
	}
	for _, name := range there {
		if !slices.Contains(used, name) {
			t.Errorf("%s of %s has no mutant: nothing shows that it can fail", name, tests)
		}
	}
	if _, err := (edit{"f", "a", "b"}).apply("a a"); err == nil {
		t.Error("an edit that fits twice is applied")
	}
}
