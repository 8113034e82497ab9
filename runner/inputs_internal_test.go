package runner

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/disk"
)

// TestFilesOfTheStoreSeek: a push resumes in a large file by Seek, because reading up to the offset each time takes
// hours for gigabytes. A file that is read from its start is verified.
func TestFilesOfTheStoreSeek(t *testing.T) {
	blobs, err := disk.NewBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	d := digest.BLAKE3.Bytes(b)
	if err := blobs.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	f := New(Options{Store: blobs}).file(t.Context(), merkle.File{Digest: d})
	open := func() io.ReadCloser {
		t.Helper()
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	r := open()
	if _, ok := r.(io.Seeker); !ok {
		t.Fatal("it cannot seek")
	}
	if _, err := r.(io.Seeker).Seek(1<<20, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, b[1<<20:]) {
		t.Errorf("from the middle: %d bytes, %v", len(got), err)
	}
	if got, err := io.ReadAll(open()); err != nil || !bytes.Equal(got, b) {
		t.Errorf("from the start: %d bytes, %v", len(got), err)
	}

	at := blobs.Path(d)
	if err := os.Chmod(at, 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(at, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt([]byte{^b[100]}, 100); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := io.ReadAll(open()); err == nil {
		t.Error("a damaged file, read from its start: no error")
	}
}
