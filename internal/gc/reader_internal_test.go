package gc

import (
	"bytes"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// Some blobs were there when the cache folder was read, the others came later.
func TestReaderIsAStore(t *testing.T) {
	storetest.Reads(t, "*gc.reader", func(t *testing.T, fn digest.Function, content [][]byte) store.Blobs {
		root := t.TempDir()
		blobs, err := disk.NewBlobs(root)
		if err != nil {
			t.Fatal(err)
		}
		var s *survey
		for i, b := range content {
			if i == 2 {
				if s, err = readSurvey(t.Context(), root); err != nil {
					t.Fatal(err)
				}
			}
			if err := blobs.Put(t.Context(), fn.Bytes(b), bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
		}
		return &reader{s}
	})
}
