package merkle_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// Swapped gives what putting the files into the folder gives.
func TestSwapped(t *testing.T) {
	fn, blobs := digest.BLAKE3, memory.NewBlobs()
	file := func(text string, executable bool) *merkle.File {
		return &merkle.File{Digest: fn.Bytes([]byte(text)), Executable: executable}
	}
	was := &merkle.Dir{Files: map[string]*merkle.File{}}
	for i := range 200 {
		was.Files[fmt.Sprintf("f%d", i)] = file(fmt.Sprint(i), i%3 == 0)
	}
	root, err := was.Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	is := &merkle.Dir{Files: maps.Clone(was.Files)}
	swaps := map[string]merkle.Swap{}
	for name, f := range map[string]*merkle.File{"f0": file("", false), "f1": file("a longer text than there was", true), "f199": file("199", true)} {
		swaps[name] = merkle.Swap{Was: *was.Files[name], Is: *f}
		is.Files[name] = f
	}
	got, err := merkle.Swapped(t.Context(), blobs, root, swaps)
	if err != nil {
		t.Fatal(err)
	}
	gotRoot, gotMessages := got.Encode(fn)
	wantRoot, wantMessages := is.Encode(fn)
	if gotRoot != wantRoot || !cmp.Equal(gotMessages, wantMessages) {
		t.Errorf("the folder is %s with %d messages, want %s", gotRoot, len(gotMessages), wantRoot)
	}
	outer, messages := (&merkle.Dir{Dirs: map[string]*merkle.Dir{"in": got}}).Encode(fn)
	if len(messages) != 2 || messages[wantRoot] == nil || messages[outer] == nil {
		t.Errorf("in another folder it has %d messages", len(messages))
	}
	open, err := got.Open(t.Context(), nil)
	if err != nil || !maps.EqualFunc(open.Files, is.Files, func(a, b *merkle.File) bool { return *a == *b }) {
		t.Errorf("opened it has %d files, %v", len(open.Files), err)
	}
	merged := &merkle.Dir{}
	if err := merged.Merge(t.Context(), nil, "", got); err != nil {
		t.Fatal(err)
	}
	if err := merged.Insert(t.Context(), nil, "f1", *is.Files["f1"]); err != nil {
		t.Errorf("merged into an empty folder: %v", err)
	}
}

func TestSwappedRefuses(t *testing.T) {
	fn, blobs := digest.BLAKE3, memory.NewBlobs()
	a, b := &merkle.File{Digest: fn.Bytes([]byte("a"))}, &merkle.File{Digest: fn.Bytes([]byte("b"))}
	put := func(d *merkle.Dir) digest.Digest {
		root, err := d.Put(t.Context(), blobs, fn)
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	files := map[string]*merkle.File{"f": a, "g": b}
	for name, d := range map[string]*merkle.Dir{
		"another file": {Files: map[string]*merkle.File{"f": b}},
		"another mode": {Files: map[string]*merkle.File{"f": {Digest: a.Digest, Executable: true}}},
		"another name": {Files: map[string]*merkle.File{"g": a}},
		"a folder":     {Files: files, Dirs: map[string]*merkle.Dir{"d": {}}},
		"a symlink":    {Files: files, Symlinks: map[string]string{"l": "f"}},
	} {
		if _, err := merkle.Swapped(t.Context(), blobs, put(d), map[string]merkle.Swap{"f": {Was: *a, Is: *b}}); !errors.Is(err, merkle.ErrNoSwap) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := merkle.Swapped(t.Context(), blobs, fn.Bytes([]byte("none")), nil); err == nil {
		t.Error("a folder that is not there")
	}
}
