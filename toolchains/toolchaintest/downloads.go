package toolchaintest

import (
	"path/filepath"
	"testing"
)

// Downloads returns the folder in which the packages of all tools are kept as they came: what a cache has as downloads/.
// The first caller on a machine downloads them.
func Downloads(t testing.TB) string {
	t.Helper()
	dir, err := cacheDir()
	if err != nil {
		t.Fatalf("downloads: %v", err)
	}
	names, err := specs.ReadDir("specs")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		spec, err := specs.ReadFile("specs/" + e.Name())
		if err == nil {
			_, err = fetchOnce(t.Context(), dir, e.Name()[:len(e.Name())-len(".json")], spec)
		}
		if err != nil {
			t.Fatalf("downloads: %s: %v", e.Name(), err)
		}
	}
	return filepath.Join(dir, "downloads")
}
