package sdktest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
)

// AsVendors removes the simulation's mark from the unpacked SDK at root. Tests can then use it as an installed SDK from
// Qualcomm.
func AsVendors(t testing.TB, root string) {
	t.Helper()
	found := false
	for _, name := range sdk.FileNames() {
		path := filepath.Join(root, name)
		raw, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(raw, []byte(qnn.Simulated)) {
			continue
		}
		found = true
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(raw, []byte(qnn.Simulated), []byte("vendor")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !found {
		t.Fatalf("the mark of the simulation is missing in %s", root)
	}
}
