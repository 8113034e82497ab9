package merkle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Limits for trees that come from a store. Such trees may be untrusted.
const (
	maxName      = 255       // bytes, as in Linux file systems
	maxTarget    = 4095      // bytes, as in Linux file systems
	maxDepth     = 256       // nested folders
	maxEntries   = 2_000_000 // files, folders and symlinks per tree: a hundred SDKs
	maxDirectory = 64 << 20  // bytes per Directory message: 600,000 files
)

// Encode returns the digest of d's root Directory message, and a map from digests to Directory messages. The map
// contains no message for a Ref, whose digest is already known.
func (d *Dir) Encode(fn digest.Function) (root digest.Digest, blobs map[digest.Digest][]byte) {
	blobs = map[digest.Digest][]byte{}
	return d.encode(fn, func(_ *Dir, dg digest.Digest, b []byte) { blobs[dg] = b }), blobs
}

func (d *Dir) encode(fn digest.Function, add func(*Dir, digest.Digest, []byte)) digest.Digest {
	if !d.ref.IsZero() {
		return d.ref
	}
	b := make([]byte, 0, (len(d.Files)+len(d.Dirs)+len(d.Symlinks))*(entrySize+20))
	m := make([]byte, 0, 2*entrySize)
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		m = appendFile(m[:0], name, *d.Files[name])
		b = action.AppendMessage(b, 1, m)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Dirs)) {
		sub := d.Dirs[name].encode(fn, add)
		m = action.AppendDigest(action.AppendString(m[:0], 1, name), 2, sub)
		b = action.AppendMessage(b, 2, m)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Symlinks)) {
		m = action.AppendString(action.AppendString(m[:0], 1, name), 2, d.Symlinks[name])
		b = action.AppendMessage(b, 3, m)
	}
	dg := fn.Bytes(b)
	add(d, dg, b)
	return dg
}

func appendFile(m []byte, name string, f File) []byte {
	m = action.AppendString(m, 1, name)
	return action.AppendBool(action.AppendDigest(m, 2, f.Digest), 4, f.Executable)
}

// entrySize estimates the bytes of an entry without its name.
const entrySize = 80

// EncodeTree returns REAPI's Tree message for d, which must have no Refs (see Load). The message contains the root
// Directory, then every other Directory once, with parents before children. An OutputDir refers to the folder by the
// digest of this message.
func (d *Dir) EncodeTree(fn digest.Function) ([]byte, error) {
	err := d.Walk(func(p string, e Entry) error {
		if e.Dir != nil && !e.Dir.ref.IsZero() {
			return fmt.Errorf("folder %s is not loaded", p)
		}
		return nil
	})
	if err != nil || !d.ref.IsZero() {
		return nil, errors.Join(err, errors.New("the root folder is not loaded"))
	}
	digests, blobs := map[*Dir]digest.Digest{}, map[digest.Digest][]byte{}
	root := d.encode(fn, func(d *Dir, dg digest.Digest, b []byte) { digests[d], blobs[dg] = dg, b })
	b := action.AppendMessage(nil, 1, blobs[root])
	seen := map[digest.Digest]bool{}
	var children func(d *Dir)
	children = func(d *Dir) {
		for _, name := range slices.Sorted(maps.Keys(d.Dirs)) {
			sub := d.Dirs[name]
			dg := digests[sub]
			if seen[dg] {
				continue
			}
			seen[dg] = true
			b = action.AppendMessage(b, 2, blobs[dg])
			children(sub)
		}
	}
	children(d)
	return b, nil
}

// Put stores the Directory messages of d, and returns the root's digest. It stores all messages, even messages that a
// remote server has.
func (d *Dir) Put(ctx context.Context, blobs store.Blobs, fn digest.Function) (digest.Digest, error) {
	root, messages := d.Encode(fn)
	for dg, message := range messages {
		if err := blobs.Put(ctx, dg, bytes.NewReader(message)); err != nil {
			return digest.Digest{}, err
		}
	}
	return root, nil
}

// decodeDirectory decodes a Directory message made by fn. Its folders become Refs. Names must be valid, sorted and
// unique, as REAPI requires.
func decodeDirectory(b []byte, fn digest.Function) (*Dir, error) {
	d := &Dir{}
	if n := len(b) / (entrySize + 20); n > 64 { // assumes that most entries are files; any excess is freed soon
		d.Files = make(map[string]*File, n)
	}
	var last [4]string
	err := action.EachField(b, func(num protowire.Number, _ uint64, m []byte) error {
		if num < 1 || num > 3 {
			return nil
		}
		name, e, err := decodeEntry(num, m, fn)
		if err != nil {
			return err
		}
		if err := checkName(name); err != nil {
			return err
		}
		if name <= last[num] {
			return fmt.Errorf("name %q follows %q, but names must be sorted and unique", name, last[num])
		}
		last[num] = name
		if _, ok := d.entry(name); ok {
			return fmt.Errorf("duplicate name %q", name)
		}
		d.set(name, e)
		return nil
	})
	if len(d.Files) == 0 {
		d.Files = nil
	}
	return d, err
}

func decodeEntry(num protowire.Number, m []byte, fn digest.Function) (name string, e Entry, err error) {
	var f File
	var target string
	err = action.EachField(m, func(n protowire.Number, v uint64, m []byte) (err error) {
		switch {
		case n == 1:
			name = string(m)
		case n == 2 && num == 3:
			target = string(m)
		case n == 2:
			f.Digest, err = action.DecodeDigest(m, fn)
		case n == 4 && num == 1:
			f.Executable = v != 0
		}
		return err
	})
	switch {
	case err != nil:
	case num == 3:
		if target == "" || len(target) > maxTarget {
			err = fmt.Errorf("symlink %q has an invalid target length of %d bytes", name, len(target))
		}
		e.Symlink = target
	case f.Digest.IsZero():
		err = fmt.Errorf("the digest of %q is missing", name)
	case num == 1:
		e.File = &f
	default:
		e.Dir = Ref(f.Digest)
	}
	return name, e, err
}
