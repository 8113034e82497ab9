package cli

import (
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/store/layout"
)

// TestRunLogOfAShippedPipeline: its runs in one folder are not those of another, whichever hexmage unpacked it.
func TestRunLogOfAShippedPipeline(t *testing.T) {
	places := layout.Root("/cache")
	of := func(root, work, version string) string {
		a := &app{Cache: string(places), Root: root, WorkDir: work}
		return a.runLogOf(filepath.Join(places.Shipped(), version), "p")
	}
	one := of("/one", "/one/sub", "1")
	if again := of("/one", "/one", "2"); again != one {
		t.Errorf("two hexmages record to %s and %s", one, again)
	}
	for _, other := range []string{of("/two", "/two", "1"), of("", "/one/sub", "1"), of("", "/two", "1")} {
		if other == one {
			t.Errorf("two folders share %s", other)
		}
	}
}
