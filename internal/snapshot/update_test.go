package snapshot_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/snapshot/snapshottest"
)

// large is a snapshot beside which an update is little.
func large(t testing.TB) *snapshottest.Build {
	m := full(t)
	for i := range 2000 {
		m.Lookups = append(m.Lookups, snapshot.Lookup{Name: fmt.Sprintf("variable %d", i), Value: digest.BLAKE3.Bytes([]byte{byte(i)})})
	}
	return m
}

// change changes something of everything that an update can change, and returns the update.
func change(m *snapshottest.Build, n int) snapshot.Update {
	text := fmt.Sprint("edition ", n)
	m.Reads[1].Path, m.Hosts[0].Path, m.Units[1].Outs[0].Path, m.Outputs[0].ID = "read "+text, "host "+text, "out "+text, "id "+text
	m.Title.Exported, m.Checks[1].Message = digest.BLAKE3.Bytes([]byte(text)), "message "+text
	return snapshot.Update{Exported: m.Title.Exported, Reads: map[int]snapshot.Read{1: m.Reads[1]}, Hosts: map[int]snapshot.Host{0: m.Hosts[0]},
		Results: map[int]snapshot.Unit{1: {Key: m.Units[1].Key, Root: m.Units[1].Root, Outs: m.Units[1].Outs}}, Outputs: map[int]snapshot.Output{0: m.Outputs[0]},
		Checks: map[int]snapshot.Check{1: m.Checks[1]}}
}

func saved(t *testing.T, m *snapshottest.Build) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "snapshot")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// What changes little by little is all there, whether it was added to the file or the file written anew, which happens before it has
// grown by much.
func TestSaveAddsWhatChanged(t *testing.T) {
	m := large(t)
	path := saved(t, m)
	first, _ := os.Stat(path)
	grew, shrank := 0, 0
	for n := range 60 {
		r, err := snapshot.Open(path)
		if err != nil {
			t.Fatalf("edition %d: %v", n, err)
		}
		before, _ := os.Stat(path)
		if err := r.Save(path, change(m, n)); err != nil {
			t.Fatal(err)
		}
		after, _ := os.Stat(path)
		switch {
		case os.SameFile(before, after):
			grew++
		default:
			shrank++
		}
		if after.Size() > first.Size()*5/4 {
			t.Fatalf("edition %d: %d bytes, %d at first", n, after.Size(), first.Size())
		}
		if back := kept(t, path); !reflect.DeepEqual(back, m) {
			t.Fatalf("edition %d: read\n%+v\nwant\n%+v", n, back, m)
		}
	}
	if grew < 40 || shrank < 1 {
		t.Errorf("%d times added to, %d times written anew", grew, shrank)
	}
}

// Of two that read the same file, the second to save replaces it.
func TestSaveOfWhatIsNoLongerThere(t *testing.T) {
	m := large(t)
	path := saved(t, m)
	one, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Save(path, change(m, 1)); err != nil {
		t.Fatal(err)
	}
	if err := two.Save(path, change(m, 2)); err != nil {
		t.Fatal(err)
	}
	if back := kept(t, path); !reflect.DeepEqual(back, m) {
		t.Errorf("read\n%+v\nwant\n%+v", back, m)
	}
}

// A file that was added to and then damaged counts as damaged; cut where an addition ends, it is the snapshot of before that.
func TestDamagedDelta(t *testing.T) {
	m := full(t)
	for i := range 40 {
		m.Lookups = append(m.Lookups, snapshot.Lookup{Name: fmt.Sprintf("%0200d", i)})
	}
	path := saved(t, m)
	whole, _ := os.ReadFile(path)
	r, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Save(path, snapshot.Update{Exported: digest.BLAKE3.Bytes([]byte("x"))}); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(path)
	if !bytes.HasPrefix(b, whole) || len(b) == len(whole) {
		t.Fatal("nothing was added")
	}
	for i := range b {
		b[i] ^= 4
		if _, err := snapshot.Parse(b); err == nil {
			t.Fatalf("byte %d was damaged and nobody noticed", i)
		}
		b[i] ^= 4
	}
	for n := len(whole) + 1; n < len(b); n++ {
		if _, err := snapshot.Parse(b[:n]); err == nil {
			t.Fatalf("cut to %d of %d bytes and nobody noticed", n, len(b))
		}
	}
}
