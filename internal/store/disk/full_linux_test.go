package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// fullRoot is the variable that makes the test binary run only the child's part of TestFull.
const fullRoot = "HEXMAGE_TEST_FULL_ROOT"

// A disk that is full in the middle of a blob is stood in for by the process's limit on file sizes: writes stop half
// way with an error. It holds for a whole process, so it is a child's.
func TestFull(t *testing.T) {
	root := os.Getenv(fullRoot)
	if root == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFull$", "-test.v")
		cmd.Env = append(os.Environ(), fullRoot+"="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestFull") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	s := open(t, root)
	b := storetest.Bytes(1, 300_000)
	d := digest.BLAKE3.Bytes(b)
	work := filepath.Join(t.TempDir(), "blob")
	if err := os.WriteFile(work, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(work, work+"2"); err != nil { // so that Adopt has to copy
		t.Fatal(err)
	}
	var perr, aerr, merr, rerr error
	var missing []digest.Digest
	var left []os.DirEntry
	storetest.FullDisk(t, 100_000, func() {
		perr = s.Put(t.Context(), d, bytes.NewReader(b))
		_, aerr = s.Adopt(t.Context(), digest.BLAKE3, work)
		missing, merr = s.Missing(t.Context(), []digest.Digest{d})
		left, rerr = os.ReadDir(filepath.Join(root, "new"))
	})
	if !errors.Is(perr, syscall.EFBIG) || !errors.Is(aerr, syscall.EFBIG) {
		t.Errorf("Put %v, Adopt %v; want the error of the write", perr, aerr)
	}
	if merr != nil || len(missing) != 1 {
		t.Errorf("half a blob is there: %v", merr)
	}
	if rerr != nil || len(left) != 0 {
		t.Errorf("a full disk is kept full: %v, %v", left, rerr)
	}
	if err := s.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
		t.Errorf("when there is space again: %v", err)
	}
	if err := s.Link(t.Context(), d, filepath.Join(t.TempDir(), "f"), true); err != nil {
		t.Error(fmt.Errorf("link: %w", err))
	}
}
