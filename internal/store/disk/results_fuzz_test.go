package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// A result file may hold any bytes: reading them fails with ErrCorrupt or gives a result that survives another Put and
// Get.
func FuzzReadResult(f *testing.F) {
	root := f.TempDir()
	c, key, path := openResults(f, root), digest.BLAKE3.Bytes([]byte("k")), filepath.Join(root, "file")
	message := map[digest.Digest][]byte{digest.BLAKE3.Bytes([]byte("m")): []byte("m")}
	if err := c.Put(f.Context(), key, storetest.Result(digest.BLAKE3, 1), message); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(resultFile(root, key))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{})
	f.Add(good[len(good)-20:])
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		e, err := disk.ReadResult(path, key)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if err := c.Put(t.Context(), key, e.Result, e.Messages()); err != nil {
			t.Fatal(err)
		}
		got, err := c.Messages(t.Context(), key)
		same := cmp.Comparer(func(a, b digest.Digest) bool { return a == b })
		if diff := cmp.Diff(e.Messages(), got, cmpopts.EquateEmpty(), same); err != nil || diff != "" {
			t.Errorf("messages: %v\n%s", err, diff)
		}
		storetest.Want(t, c, key, e.Result)
	})
}
