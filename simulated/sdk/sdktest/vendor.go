package sdktest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
)

// AsVendors takes its mark out of the unpacked simulation at root, in the file that says which SDK it is: for tests of what is done with a
// copy of Qualcomm's that somebody has installed.
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
		t.Fatalf("%s has no simulation's mark", root)
	}
}
