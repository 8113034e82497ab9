package disk_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/disk"
)

// Several exec roots may want the same executable blob for the first time at once: each makes the executable copy, and
// replaces the others', while the others link to it.
func TestLinkWhileReplaced(t *testing.T) {
	dir := t.TempDir()
	s, err := disk.NewBlobs(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	for round := range 100 {
		text := fmt.Sprint("program ", round)
		d := digest.BLAKE3.Bytes([]byte(text))
		if err := s.Put(t.Context(), d, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if err := s.Link(t.Context(), d, filepath.Join(dir, fmt.Sprintf("%d-%d", round, n)),
					true); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}
