package toolchaintest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/archive"
)

// EnvHTP names a folder with the vendor's Python packages in wheels/; docs/fidelity.md says how to make it.
const EnvHTP = "HEXMAGE_TEST_HTP"

// Wheel returns a folder with what the one wheel has whose name the pattern matches. The test is skipped where there are no wheels; what says
// what is not tested then.
func Wheel(t testing.TB, what, pattern string) string {
	t.Helper()
	env := os.Getenv(EnvHTP)
	if env == "" {
		t.Skip("NOT TESTED: " + what + ". " + EnvHTP + " names no folder with the vendor's Python packages (docs/fidelity.md).")
	}
	found, err := filepath.Glob(filepath.Join(env, "wheels", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	dir := filepath.Join(t.TempDir(), "wheel")
	if _, err := archive.Unpack(t.Context(), dir, archive.Options{}, found[0]); err != nil {
		t.Fatal(err)
	}
	return dir
}
