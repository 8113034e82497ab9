package merkle_test

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// node is a FileNode, DirectoryNode or SymlinkNode in a Directory.
func node(field int, name string, rest []byte) []byte {
	m := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
	return protowire.AppendBytes(protowire.AppendTag(nil, protowire.Number(field), protowire.BytesType),
		append(m, rest...))
}

func TestLoadRefusesHostileMessages(t *testing.T) {
	dg := action.AppendDigest(nil, 2, fn.Bytes(nil))
	target := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "x")
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, b := range map[string][]byte{
		"text":                 []byte("not a message"),
		"file with a slash":    node(1, "a/b", dg),
		"file ..":              node(1, "..", dg),
		"file .":               node(1, ".", dg),
		"file without name":    node(1, "", dg),
		"file with zero byte":  node(1, "a\x00", dg),
		"file without digest":  node(1, "a", nil),
		"folder ..":            node(2, "..", dg),
		"folder, no digest":    node(2, "a", nil),
		"symlink ..":           node(3, "..", target),
		"symlink, no target":   node(3, "a", nil),
		"long name":            node(1, strings.Repeat("n", 256), dg),
		"twice":                cat(node(1, "a", dg), node(1, "a", dg)),
		"unsorted":             cat(node(1, "b", dg), node(1, "a", dg)),
		"file and folder":      cat(node(1, "a", dg), node(2, "a", dg)),
		"folder and symlink":   cat(node(2, "a", dg), node(3, "a", target)),
		"huge directory":       node(2, "a", action.AppendDigest(nil, 2, mustDigest(t, 1<<40))),
		"cut in the middle":    node(1, "abc", dg)[:9],
		"hash of wrong length": node(1, "a", []byte{2<<3 | 2, 3, 1<<3 | 2, 1, 'a'}),
	} {
		blobs := memory.NewBlobs()
		for _, c := range [][]byte{b, nil} {
			if err := blobs.Put(t.Context(), fn.Bytes(c), bytes.NewReader(c)); err != nil {
				t.Fatal(err)
			}
		}
		if d, err := merkle.Load(t.Context(), blobs, fn.Bytes(b)); err == nil {
			t.Errorf("%s: loaded %v", name, d)
		}
	}
}

func mustDigest(t *testing.T, size int64) digest.Digest {
	d, err := digest.New(fn, strings.Repeat("00", 32), size)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Forty folders that each hold the one below twice are 2^40 folders to who loads them all.
func TestLoadBomb(t *testing.T) {
	blobs := memory.NewBlobs()
	d := &merkle.Dir{}
	for range 40 {
		root, err := d.Put(t.Context(), blobs, fn)
		if err != nil {
			t.Fatal(err)
		}
		d = &merkle.Dir{Dirs: map[string]*merkle.Dir{"a": merkle.Ref(root), "b": merkle.Ref(root)}}
	}
	root, err := d.Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := merkle.Load(t.Context(), blobs, root); err == nil || !strings.Contains(err.Error(), "entries") {
		t.Errorf("error %v, want one about too many entries", err)
	}
}

func TestLoadDeep(t *testing.T) {
	blobs := memory.NewBlobs()
	d := &merkle.Dir{}
	for range 1000 {
		d = &merkle.Dir{Dirs: map[string]*merkle.Dir{"d": d}}
	}
	root, err := d.Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := merkle.Load(t.Context(), blobs, root); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("error %v, want one about depth", err)
	}
}

func TestLoadMissing(t *testing.T) {
	blobs := memory.NewBlobs()
	_, root := build(t, blobs, "a/b=1")
	blobs.Delete(root)
	if _, err := merkle.Load(t.Context(), blobs, root); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
	message, err := (&merkle.Dir{Dirs: map[string]*merkle.Dir{"a": {}}}).EncodeTree(fn)
	if err != nil {
		t.Fatal(err)
	}
	_, _, n := protowire.ConsumeField(message)
	if n < 0 {
		t.Fatal(protowire.ParseError(n))
	}
	if d, err := merkle.DecodeTree(message[:n], fn); err == nil {
		t.Errorf("a Tree message without its children gives %v", d)
	}
	if d, err := merkle.DecodeTree(nil, fn); err == nil {
		t.Errorf("an empty Tree message gives %v", d)
	}
}

// Whatever bytes a Tree message is made of, what comes out has proper names and encodes to what it says.
func FuzzDecodeTree(f *testing.F) {
	blobs := memory.NewBlobs()
	d, _ := build(f, blobs, "a/b/c*=run", "a/e=x", "l->a/e")
	message, err := d.EncodeTree(fn)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(message)
	f.Add(message[:len(message)-3])
	f.Add(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType),
		node(1, "..", action.AppendDigest(nil, 2, fn.Bytes(nil)))))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := merkle.DecodeTree(b, fn)
		if err != nil {
			return
		}
		err = d.Walk(func(p string, e merkle.Entry) error {
			if !strings.HasPrefix(path.Join("/top", p), "/top/") || path.Clean(p) != p || strings.ContainsRune(p, 0) {
				t.Errorf("path %q", p)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		again, err := d.EncodeTree(fn)
		if err != nil {
			t.Fatal(err)
		}
		d2, err := merkle.DecodeTree(again, fn)
		if err != nil {
			t.Fatalf("its own encoding is refused: %v", err)
		}
		r1, _ := d.Encode(fn)
		if r2, _ := d2.Encode(fn); r1 != r2 {
			t.Fatalf("root %v comes back as %v", r1, r2)
		}
		blobs := memory.NewBlobs()
		if _, err := d.Put(context.Background(), blobs, fn); err != nil {
			t.Fatal(err)
		}
		if _, err := merkle.Load(context.Background(), blobs, r1); err != nil {
			t.Fatal(err)
		}
	})
}
