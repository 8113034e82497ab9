package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/simulated/phone"
)

// The table of faults in docs/emulator.md and the help are those that there are.
func TestFaultsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "emulator.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "| `--fault` | effect |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	help := (&deviceSimulateCmd{}).Help()
	var want strings.Builder
	for _, f := range phone.FaultTable() {
		fmt.Fprintf(&want, "| `%s` | %s |\n", strings.ReplaceAll(f.Usage(), "|", "\\|"), f.Doc)
		if !strings.Contains(help, "    "+f.Usage()+" ") || !strings.Contains(help, f.Doc+"\n") {
			t.Errorf("the help lacks %s", f.Usage())
		}
	}
	if table != strings.TrimSpace(want.String()) {
		t.Errorf("docs/emulator.md has another table than there are faults; it should be\n%s", &want)
	}
}
