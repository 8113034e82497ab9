package cli

import "testing"

// TestRunLogOf: the runs of a pipeline in one workspace are not those of another.
func TestRunLogOf(t *testing.T) {
	of := func(root, work string) string {
		return (&app{Cache: "/cache", Root: root, WorkDir: work}).runLogOf("p")
	}
	one := of("/one", "/one/sub")
	if again := of("/one", "/one"); again != one {
		t.Errorf("one workspace records to %s and %s", one, again)
	}
	for _, other := range []string{of("/two", "/two"), of("", "/one/sub"), of("", "/two/sub")} {
		if other == one {
			t.Errorf("two workspaces share %s", other)
		}
	}
}
