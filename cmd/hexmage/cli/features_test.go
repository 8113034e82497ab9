package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFeatures: each row of docs/features.md says yes with a command that there is, or no with a reason.
func TestFeatures(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "features.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	section := ""
	for line := range strings.Lines(string(page)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || !regexp.MustCompile(`^\| \d+$`).MatchString(cells[0]) {
			continue
		}
		rows[section]++
		commands := regexp.MustCompile("`hexmage ([^`]+)`").FindAllStringSubmatch(cells[3], -1)
		switch {
		case cells[2] != "yes" && cells[2] != "no":
			t.Errorf("neither yes nor no: %s", line)
		case cells[2] == "yes" && len(commands) == 0:
			t.Errorf("no command shows it: %s", line)
		case len(strings.Fields(cells[3])) < 3:
			t.Errorf("no reason: %s", line)
		}
		for _, c := range commands {
			if _, _, err := parse(strings.Fields(c[1]), noOutput); err != nil {
				t.Errorf("hexmage %s: %v", c[1], err)
			}
		}
	}
	if rows["Of a build tool"] != 25 || rows["Of phones and models"] != 10 {
		t.Errorf("%v rows", rows)
	}
}
