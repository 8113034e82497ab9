package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFidelity: every row of docs/fidelity.md says to what its claim was held and by which test, and the page knows
// every other page: by a claim of it, or as one that speaks of hexmage alone.
func TestFidelity(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	raw, err := os.ReadFile(filepath.Join(docs, "fidelity.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "claim" {
			continue
		}
		rows++
		how, against, shown := strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])
		seen := slices.Contains([]string{"ran", "read"}, how)
		if against == "" || !seen && how != "documents" && how != "ours" {
			t.Errorf("it is not said to what this was held: %s", line)
		}
		if seen && !regexp.MustCompile("`Test|by hand").MatchString(shown) {
			t.Errorf("it is not said what shows this: %s", line)
		}
	}
	if rows < 60 {
		t.Errorf("%d rows", rows)
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "fidelity.md" &&
			!regexp.MustCompile(`\]\(`+regexp.QuoteMeta(name)+`[#)]`).MatchString(text) {
			t.Errorf("docs/fidelity.md says nothing of docs/%s", name)
		}
	}
}
