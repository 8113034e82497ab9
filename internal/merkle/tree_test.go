package merkle_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
)

const fn = digest.BLAKE3

func diskStore(t testing.TB) *disk.Blobs {
	t.Helper()
	s, err := disk.NewBlobs(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// build makes a tree from "path=content" (a trailing * on the path: executable) and "path->target", puts its files and
// messages into store, and returns it with its root.
func build(t testing.TB, blobs store.Blobs, entries ...string) (*merkle.Dir, digest.Digest) {
	t.Helper()
	ctx := context.Background()
	d := &merkle.Dir{}
	for _, e := range entries {
		var err error
		if p, target, ok := strings.Cut(e, "->"); ok {
			err = d.InsertEntry(ctx, nil, p, merkle.Entry{Symlink: target})
		} else {
			p, content, _ := strings.Cut(e, "=")
			b := []byte(content)
			if err := blobs.Put(ctx, fn.Bytes(b), bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
			name, executable := strings.CutSuffix(p, "*")
			err = d.Insert(ctx, nil, name, merkle.File{Digest: fn.Bytes(b), Executable: executable})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := d.Put(ctx, blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	return d, root
}

// list shows a tree of the store in build's words.
func list(t testing.TB, blobs store.Blobs, d *merkle.Dir) []string {
	t.Helper()
	ctx := context.Background()
	root, err := d.Put(ctx, blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = merkle.Load(ctx, blobs, root); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	err = d.Walk(func(p string, e merkle.Entry) error {
		switch {
		case e.File != nil:
			r, err := blobs.Open(ctx, e.File.Digest)
			if err != nil {
				return err
			}
			defer r.Close()
			b, err := io.ReadAll(r)
			if e.File.Executable {
				p += "*"
			}
			got = append(got, p+"="+string(b))
			return err
		case e.Dir == nil:
			got = append(got, p+"->"+e.Symlink)
		case len(e.Dir.Files)+len(e.Dir.Dirs)+len(e.Dir.Symlinks) == 0:
			got = append(got, p+"/")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// listHost shows a host folder in the same words.
func listHost(t testing.TB, dir string) []string {
	t.Helper()
	got := []string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			inside, err := os.ReadDir(p)
			if len(inside) == 0 {
				got = append(got, rel+"/")
			}
			return err
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(p)
			got = append(got, rel+"->"+target)
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if st, err := os.Stat(p); err != nil {
			return err
		} else if st.Mode()&0o111 != 0 {
			rel += "*"
		}
		got = append(got, rel+"="+string(b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func want(t testing.TB, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree differs (-want +got):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, blobs := range []store.Blobs{memory.NewBlobs(), diskStore(t)} {
		entries := []string{"a/b/c*=run", "a/b/d=", "a/e=x", "lib.so->lib.so.1", "lib.so.1=elf", "z->a/b"}
		d, root := build(t, blobs, entries...)
		want(t, list(t, blobs, d), entries...)
		loaded, err := merkle.Load(t.Context(), blobs, root)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := loaded.Encode(fn)
		if again != root {
			t.Errorf("loaded tree has root %v, want %v", again, root)
		}
		message, err := loaded.EncodeTree(fn)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := merkle.DecodeTree(message, fn)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := decoded.Encode(fn); r != root {
			t.Errorf("Tree message has root %v, want %v", r, root)
		}
		dest := filepath.Join(t.TempDir(), "out")
		if err := merkle.Materialize(t.Context(), blobs, merkle.Ref(root), dest,
			false); err != nil {
			t.Fatal(err)
		}
		want(t, listHost(t, dest), entries...)
		scanned, err := merkle.Scan(t.Context(), merkle.HashFiles(fn), dest, merkle.ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := scanned.Encode(fn); r != root {
			t.Errorf("scanned tree has root %v, want %v", r, root)
		}
	}
}

// elsewhere is a store that finds each blob at a server.
type elsewhere struct{ store.Blobs }

func (elsewhere) Missing(context.Context, []digest.Digest) ([]digest.Digest, error) { return nil, nil }

// TestPutStores: Put and PutFile store what only a server has, since a result on this machine names it.
func TestPutStores(t *testing.T) {
	blobs := diskStore(t)
	_, root := build(t, memory.NewBlobs(), "a/b=1")
	d, _ := build(t, memory.NewBlobs(), "a/b=1")
	if _, err := d.Put(t.Context(), elsewhere{blobs}, fn); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := store.PutFile(t.Context(), elsewhere{blobs}, fn, file)
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := blobs.Missing(t.Context(), []digest.Digest{root, f}); err != nil || len(missing) > 0 {
		t.Errorf("missing %v, %v", missing, err)
	}
}

func TestMergeOpensRefsOnlyWhereNeeded(t *testing.T) {
	blobs := memory.NewBlobs()
	_, sdk := build(t, blobs, "bin/clang*=cc", "include/a.h=a", "include/sys/b.h=b")
	_, more := build(t, blobs, "include/a.h=a", "include/c.h=c")

	d := &merkle.Dir{}
	if err := d.Merge(t.Context(), nil, "toolchains/sdk", merkle.Ref(sdk)); err != nil {
		t.Fatalf("a Ref cannot be put in without a store: %v", err)
	}
	if err := d.Merge(t.Context(), nil, "toolchains/sdk", merkle.Ref(sdk)); err != nil {
		t.Fatalf("the same Ref again: %v", err)
	}
	if err := d.Insert(t.Context(), nil, "src/main.c", merkle.File{Digest: fn.Bytes(nil)}); err != nil {
		t.Fatal(err)
	}
	_, messages := d.Encode(fn)
	if len(messages) != 3 { // root, toolchains, src
		t.Errorf("%d messages encoded, want 3", len(messages))
	}
	if err := d.Merge(t.Context(), nil, "toolchains/sdk", merkle.Ref(more)); err == nil {
		t.Error("two trees were merged without reading them")
	}
	if err := d.Merge(t.Context(), blobs, "toolchains/sdk", merkle.Ref(more)); err != nil {
		t.Fatal(err)
	}
	if err := blobs.Put(t.Context(), fn.Bytes(nil), strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	want(t, list(t, blobs, d), "src/main.c=", "toolchains/sdk/bin/clang*=cc", "toolchains/sdk/include/a.h=a",
		"toolchains/sdk/include/c.h=c", "toolchains/sdk/include/sys/b.h=b")
	// sys was not touched, so it is still known by digest alone.
	if e, err := d.Lookup(t.Context(), nil, "toolchains/sdk/include/sys"); err != nil {
		t.Error(err)
	} else if _, ok := e.Dir.Ref(); !ok {
		t.Error("a folder was opened without need")
	}
	want(t, list(t, blobs, merkle.Ref(sdk)), "bin/clang*=cc", "include/a.h=a", "include/sys/b.h=b")
}

func TestMergeCopies(t *testing.T) {
	blobs := memory.NewBlobs()
	a, _ := build(t, blobs, "x/one=1")
	d := &merkle.Dir{}
	for _, p := range []string{"", "sub"} {
		if err := d.Merge(t.Context(), nil, p, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Insert(t.Context(), nil, "x/two", merkle.File{Digest: fn.Bytes([]byte("1"))}); err != nil {
		t.Fatal(err)
	}
	want(t, list(t, blobs, a), "x/one=1")
	want(t, list(t, blobs, d), "sub/x/one=1", "x/one=1", "x/two=1")
}

func TestConflicts(t *testing.T) {
	blobs := memory.NewBlobs()
	for name, c := range map[string]struct {
		one, two []string
		path     string // of the conflict; "" is none
	}{
		"same file":           {[]string{"a/f=1"}, []string{"a/f=1"}, ""},
		"same symlink":        {[]string{"a/f->g"}, []string{"a/f->g"}, ""},
		"other content":       {[]string{"a/f=1"}, []string{"a/f=2"}, "a/f"},
		"other mode":          {[]string{"a/f=1"}, []string{"a/f*=1"}, "a/f"},
		"file and folder":     {[]string{"a/f=1"}, []string{"a/f/g=1"}, "a/f"},
		"folder and file":     {[]string{"a/f/g=1"}, []string{"a/f=1"}, "a/f"},
		"folder and symlink":  {[]string{"a/f/g=1"}, []string{"a/f->b"}, "a/f"},
		"other symlink":       {[]string{"a/f->g"}, []string{"a/f->h"}, "a/f"},
		"symlink and file":    {[]string{"a/f->g"}, []string{"a/f=1"}, "a/f"},
		"beside each other":   {[]string{"a/f=1"}, []string{"a/g=2"}, ""},
		"deep in both":        {[]string{"a/b/c/d=1"}, []string{"a/b/c/d=2"}, "a/b/c/d"},
		"through a file":      {[]string{"a=1"}, []string{"a/b=1"}, "a"},
		"at the top, symlink": {[]string{"a->b"}, []string{"a=1"}, "a"},
	} {
		one, oneRoot := build(t, blobs, c.one...)
		two, twoRoot := build(t, blobs, c.two...)
		for how, pair := range map[string][2]*merkle.Dir{
			"loaded": {one, two}, "refs": {merkle.Ref(oneRoot), merkle.Ref(twoRoot)},
			"mixed": {one, merkle.Ref(twoRoot)},
		} {
			d := pair[0].Clone()
			if how == "refs" {
				d = &merkle.Dir{}
				if err := d.Merge(t.Context(), blobs, "", pair[0]); err != nil {
					t.Fatal(err)
				}
			}
			err := d.Merge(t.Context(), blobs, "", pair[1])
			var conflict *merkle.ConflictError
			switch {
			case c.path == "" && err != nil:
				t.Errorf("%s, %s: %v", name, how, err)
			case c.path != "" && (!errors.As(err, &conflict) || conflict.Path != c.path ||
				conflict.Have == conflict.New):
				t.Errorf("%s, %s: error %v, want a conflict at %s", name, how, err, c.path)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	blobs := memory.NewBlobs()
	_, root := build(t, blobs, "a/b/f=1", "a/l->b")
	d := merkle.Ref(root)
	for p, want := range map[string]string{
		"": "folder", "a": "folder", "a/b": "folder", "a/b/f": "file", "a/l": "a symlink to b",
		"a/x": "", "a/b/f/g": "", "a/l/f": "", "../a": "", "/a": "", "a//b": "",
	} {
		e, err := d.Lookup(t.Context(), blobs, p)
		if want == "" && err == nil {
			t.Errorf("%q is %v, want an error", p, e)
		} else if want != "" && (err != nil || !strings.HasPrefix(e.String(), want)) {
			t.Errorf("%q is %v, %v; want %s", p, e, err, want)
		}
	}
	sub, err := d.Sub(t.Context(), blobs, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	want(t, list(t, blobs, sub), "f=1")
	if _, err := d.Sub(t.Context(), blobs, "a/b/f"); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestPathsAreChecked(t *testing.T) {
	for _, p := range []string{"..", "a/../b", "/etc/passwd", "a//b", "a/", "a/./b", "a\x00b",
		strings.Repeat("x", 300), ""} {
		d := &merkle.Dir{}
		if err := d.Insert(t.Context(), nil, p, merkle.File{Digest: fn.Bytes(nil)}); err == nil {
			t.Errorf("Insert took %q", p)
		}
	}
}

func TestCheckSymlink(t *testing.T) {
	for _, c := range []struct {
		dir, target string
		ok          bool
	}{
		{"", "a", true}, {"", "a/b/c", true}, {"a", "../b", true}, {"a/b", "../../c", true}, {"a", ".././b", true},
		{"", "..", false}, {"a", "../..", false}, {"a/b", "../../../c", false}, {"", "/etc", false}, {"a", "", false},
		{"a/b", "c/../d", false}, {"", "./../x", false}, {"", "a\x00", false}, {"", strings.Repeat("a/", 3000), false},
		{"", ".", true}, {"a", "..", true},
	} {
		if err := merkle.CheckSymlink(c.dir, c.target); (err == nil) != c.ok {
			t.Errorf("symlink in %q to %.20q: %v, want ok %v", c.dir, c.target, err, c.ok)
		}
	}
}
