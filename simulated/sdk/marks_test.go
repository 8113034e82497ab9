package sdk_test

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// TestMarks: each file of the simulation has the mark, as has the file that identifies the SDK.
func TestMarks(t *testing.T) {
	for _, r := range sdk.Releases() {
		var b bytes.Buffer
		if err := sdktest.Archive(&b, r.Name, r.Version); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			if !f.Mode().IsRegular() {
				continue
			}
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(raw, []byte(qnn.Simulated)) {
				t.Errorf("%s has no mark", f.Name)
			}
		}
	}
}
