package maven_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/pin"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// aar is an Android archive with the runtime's libraries.
func aar(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"AndroidManifest.xml", "jni/arm64-v8a/libQnnHtp.so", "jni/arm64-v8a/libQnnHtpV79Stub.so"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(name))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRepository: a release comes from a repository as Maven lays one out, is compared with the digest beside it when it is
// pinned, and with the pin afterwards.
func TestRepository(t *testing.T) {
	body := aar(t)
	sum := sha1.Sum(body)
	const at = "/m2/com/qualcomm/qti/qnn-runtime/2.41.0/qnn-runtime-2.41.0.aar"
	files := map[string][]byte{at: body, at + ".sha1": []byte(hex.EncodeToString(sum[:]))}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, ok := files[r.URL.Path]; ok {
			_, _ = w.Write(b)
			return
		}
		http.NotFound(w, r)
	}))
	defer srv.Close()
	c, diags := toolchains.Load(map[string][]byte{"ours.hcl": []byte(`
toolchain "qnn-runtime" {
  default = "2.41.0.251128"
  source "maven" {
    coordinates  = "com.qualcomm.qti:qnn-runtime:${short_version}"
    repositories = ["` + srv.URL + `/nowhere", "` + srv.URL + `/m2"]
  }
  release "2.41.0.251128" {
    source "maven" {
      strip_prefix = ""
    }
    verify {
      layout = ["jni/arm64-v8a/libQnnHtp.so"]
    }
  }
}
`)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	reqs := []toolchains.Request{{Name: "qnn-runtime", Profile: "device"}}
	lock := &toolchains.Lock{}
	o := pin.Options{Options: sources.Options{Downloads: t.TempDir()}}
	if _, err := pin.Update(t.Context(), c, lock, reqs, o); err != nil {
		t.Fatal(err)
	}
	e := lock.Find("qnn-runtime", "2.41.0.251128", "maven")
	if e == nil || e.Size != int64(len(body)) || !strings.HasSuffix(e.URL, at) {
		t.Fatalf("locked %+v", e)
	}
	get := func(downloads string) error {
		ch, err := c.Choose(toolchains.Request{Name: "qnn-runtime", Profile: "device", Lock: lock})
		if err != nil {
			return err
		}
		out := filepath.Join(t.TempDir(), "tree")
		if err := sources.Fetch(t.Context(), ch.Spec, out, sources.Options{Downloads: downloads}); err != nil {
			return err
		}
		_, err = os.Stat(filepath.Join(out, "jni/arm64-v8a/libQnnHtpV79Stub.so"))
		return err
	}
	if err := get(t.TempDir()); err != nil {
		t.Errorf("fetch what is locked: %v", err)
	}
	// A file that is not what the repository itself says is not pinned; one that is not what was pinned is not taken.
	files[at] = append(bytes.Clone(body[:len(body)-1]), body[len(body)-1]^1)
	if err := get(t.TempDir()); !errors.Is(err, fetch.ErrMismatch) {
		t.Errorf("another file: %v", err)
	}
	files[at] = body
	files[at+".sha1"] = []byte(strings.Repeat("0", 40))
	o.Downloads = t.TempDir()
	if _, err := pin.Update(t.Context(), c, &toolchains.Lock{}, reqs, o); !errors.Is(err, fetch.ErrMismatch) || !strings.Contains(err.Error(), ".sha1") {
		t.Errorf("a digest that is another's: %v", err)
	}
}
