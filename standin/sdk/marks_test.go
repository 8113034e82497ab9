package sdk_test

import (
	"archive/zip"
	"bytes"
	"io"
	"path"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/standin/sdk"
	"github.com/hexmage/hexmage/standin/sdk/sdktest"
)

// TestMarks: every file of a stand-in of an SDK says that it is one; so does what is looked at to see which SDK it is.
func TestMarks(t *testing.T) {
	unmarked := map[string]bool{"libnative.a": true, // an archive of nothing
		"open_abi.h": true, "open_register.h": true} // which no vendor has, and which say it in other words
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
			if !f.Mode().IsRegular() || r.Name == "mllm" && path.Base(f.Name) != "mllm-qwen3-aot-sha-c" { // whose sources are upstream's in nothing but their flags
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
			if got := bytes.Contains(raw, []byte(qnn.StandIn)); got == unmarked[path.Base(f.Name)] {
				t.Errorf("%s: has the mark: %v", f.Name, got)
			}
		}
	}
}
