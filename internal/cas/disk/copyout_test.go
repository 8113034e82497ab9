package disk_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/cas/castest"
	"github.com/hexmage/hexmage/internal/cas/disk"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

// A large blob is copied without hashing it if this process has hashed it, and nothing happened to its file since.
func TestCopyOut(t *testing.T) {
	b := castest.Bytes(7, cas.MinLoan+5)
	d := digest.BLAKE3.Bytes(b)
	for _, c := range []struct {
		name   string
		adopt  bool
		change func(t *testing.T, root, blob string)
		copies bool // without a look
		whole  bool // at all
	}{
		{"put", false, nil, true, true},
		{"adopted", true, nil, true, true},
		{"written to", false, func(t *testing.T, _, blob string) {
			f, err := os.OpenFile(blob, os.O_WRONLY, 0)
			if err != nil {
				if err = os.Chmod(blob, 0o600); err == nil {
					f, err = os.OpenFile(blob, os.O_WRONLY, 0)
				}
			}
			if err == nil {
				_, err = f.WriteAt([]byte{b[9] + 1}, 9)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, false, false},
		{"removed", false, func(t *testing.T, _, blob string) {
			if err := os.Remove(blob); err != nil {
				t.Fatal(err)
			}
		}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			s, err := disk.New(root)
			if err != nil {
				t.Fatal(err)
			}
			if c.adopt {
				p := filepath.Join(root, "made")
				if err = os.WriteFile(p, b, 0o644); err == nil {
					_, err = s.Adopt(t.Context(), digest.BLAKE3, p)
				}
			} else {
				err = s.Put(t.Context(), d, bytes.NewReader(b))
			}
			if err = errors.Join(err, s.Flush(t.Context())); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(t, root, s.Path(d))
			}
			to := filepath.Join(root, "out")
			check := func(how string, err error, works bool, unless error) {
				t.Helper()
				got, rerr := os.ReadFile(to)
				os.Remove(to)
				switch {
				case works && (err != nil || !bytes.Equal(got, b)):
					t.Errorf("%s: %v, %d bytes that are right: %v", how, err, len(got), bytes.Equal(got, b))
				case !works && (!errors.Is(err, unless) || rerr == nil):
					t.Errorf("%s: error %v, want %v; a file was left: %v", how, err, unless, rerr == nil)
				}
			}
			check("CopyOut", s.CopyOut(d, to, 0o644), c.copies, errors.ErrUnsupported)
			other, err := disk.New(root)
			if err != nil {
				t.Fatal(err)
			}
			check("CopyOut of another process", other.CopyOut(d, to, 0o644), false, errors.ErrUnsupported)
			want := cas.ErrCorrupt
			if c.name == "removed" {
				want = cas.ErrNotFound
			}
			check("CopyFile", merkle.CopyFile(t.Context(), cas.WithSources(s), d, to, 0o644), c.whole, want)
		})
	}
}
