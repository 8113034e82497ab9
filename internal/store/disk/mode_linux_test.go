package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// A mode that somebody changed reaches no link, and what was written under it is found, though the time is that of
// before.
func TestModeOfWhatIsLinked(t *testing.T) {
	s, err := NewBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for i, c := range []struct {
		mode    uint32
		written bool
	}{{0o755, false}, {0o400, false}, {0o644, true}, {0o4444, false}} {
		b := storetest.Bytes(int64(i), 5000)
		d := digest.BLAKE3.Bytes(b)
		at := filepath.Join(out, d.Hex())
		if err := errors.Join(s.Put(t.Context(), d, bytes.NewReader(b)), unix.Chmod(s.Path(d), c.mode)); err != nil {
			t.Fatal(err)
		}
		if c.written {
			b[7] ^= 1
			if err := errors.Join(os.WriteFile(s.Path(d), b, 0),
				os.Chtimes(s.Path(d), store.LinkTime(), store.LinkTime())); err != nil {
				t.Fatal(err)
			}
			if err := s.Link(t.Context(), d, at, false); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("mode %o, written to: %v", c.mode, err)
			}
			continue
		}
		if err := s.Link(t.Context(), d, at, false); err != nil {
			t.Errorf("mode %o: %v", c.mode, err)
			continue
		}
		for _, p := range []string{at, s.Path(d)} {
			var st unix.Stat_t
			if err := unix.Lstat(p, &st); err != nil || st.Mode&0o7777 != 0o444 {
				t.Errorf("mode %o: %s has mode %o, %v", c.mode, p, st.Mode, err)
			}
		}
	}
}
