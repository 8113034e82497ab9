package snapshot_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/snapshot/snapshottest"
	"github.com/hexmage/hexmage/internal/statefile"
)

// encoded are the blocks of a whole snapshot.
func encoded(t testing.TB, m *snapshottest.Build) [][]byte {
	f, err := statefile.Parse(m.Encode(), snapshot.Kind())
	if err != nil {
		t.Fatal(err)
	}
	return f.Blocks
}

// A block that was not written by Encode, but has a right checksum, never crashes a reader: its records are errors or values
// within bounds.
func FuzzParse(f *testing.F) {
	f.Add(encoded(f, full(f))[0])
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, block []byte) {
		r, err := snapshot.Parse(statefile.Encode(snapshot.Kind(), block))
		if err != nil {
			return
		}
		m, err := read(r)
		if err != nil {
			return
		}
		for _, u := range m.Units {
			for _, i := range append(u.Needs, u.Instance) {
				if i < 0 || i >= max(len(m.Units), len(m.Instances)) {
					t.Fatalf("unit needs %d", i)
				}
			}
		}
	})
}

// What was added to a file, in whatever shape, gives an error or values within bounds.
func FuzzDelta(f *testing.F) {
	first := encoded(f, full(f))[0]
	f.Add([]byte{0, 0})
	f.Add([]byte{1, 3, 'n', 'e', 'w', 1, 2, 0, 1, 7})
	f.Fuzz(func(t *testing.T, block []byte) {
		if r, err := snapshot.Parse(statefile.Encode(snapshot.Kind(), first, block)); err == nil {
			_, _ = read(r)
		}
	})
}
