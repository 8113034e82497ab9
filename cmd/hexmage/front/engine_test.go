package front

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The engine is beside the program, or where a link to that leads, or in PATH; else it is said what to install.
func TestFindEngine(t *testing.T) {
	dir, links, path := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("PATH", path)
	program := func(path string) string {
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	self, link := program(sibling(filepath.Join(dir, "x"), Name)), sibling(filepath.Join(links, "x"), Name)
	if err := os.Symlink(self, link); err != nil {
		t.Skip(err)
	}
	if found, err := findEngine(self); err == nil || !strings.Contains(err.Error(), "go install") {
		t.Errorf("without an engine: %q, %v", found, err)
	}
	other := program(sibling(filepath.Join(path, "x"), EngineName))
	if found, err := findEngine(self); err != nil || found != other {
		t.Errorf("in PATH: %q, %v", found, err)
	}
	own := program(sibling(self, EngineName))
	for _, from := range []string{self, link} {
		if found, err := findEngine(from); err != nil || found != own {
			t.Errorf("from %s: %q, %v", from, found, err)
		}
	}
}
