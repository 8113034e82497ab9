package merkle

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Load reads the whole tree whose root Directory message has the digest root. The result has no Refs. Load rejects
// malformed messages, names such as "..", and trees that are too deep or have too many entries.
func Load(ctx context.Context, blobs store.Blobs, root digest.Digest) (*Dir, error) {
	return loadAll(root, func(dg digest.Digest) (*Dir, error) { return readDirectory(ctx, blobs, dg) })
}

func loadAll(root digest.Digest, read func(digest.Digest) (*Dir, error)) (*Dir, error) {
	l := &loader{left: maxEntries, read: read, seen: map[digest.Digest]loaded{}}
	all, err := l.load(root, 0)
	return all.dir, err
}

// loader reads a tree within limits.
type loader struct {
	left int // how many more entries it may read
	read func(digest.Digest) (*Dir, error)
	seen map[digest.Digest]loaded
}

type loaded struct {
	dir             *Dir
	entries, height int // of its whole content
}

// load reads each message once. It counts a repeated folder before copying it, because a few messages can describe more
// folders than there are atoms.
func (l *loader) load(dg digest.Digest, depth int) (loaded, error) {
	if again, ok := l.seen[dg]; ok {
		if err := l.count(again.entries, depth+again.height); err != nil {
			return loaded{}, err
		}
		again.dir = again.dir.Clone()
		return again, nil
	}
	d, err := l.read(dg)
	if err != nil {
		return loaded{}, err
	}
	all := loaded{dir: d, entries: len(d.Files) + len(d.Dirs) + len(d.Symlinks)}
	if err := l.count(all.entries, depth); err != nil {
		return loaded{}, err
	}
	for name, ref := range d.Dirs {
		sub, err := l.load(ref.ref, depth+1)
		if err != nil {
			return loaded{}, err
		}
		d.Dirs[name] = sub.dir
		all.entries += sub.entries
		all.height = max(all.height, sub.height+1)
	}
	l.seen[dg] = all
	return all, nil
}

func (l *loader) count(entries, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("folder tree: folders are nested more than %d levels deep", maxDepth)
	}
	if l.left -= entries; l.left < 0 {
		return fmt.Errorf("folder tree: more than %d entries", maxEntries)
	}
	return nil
}

// readDirectory reads one Directory message; its folders become Refs.
func readDirectory(ctx context.Context, blobs store.Blobs, dg digest.Digest) (*Dir, error) {
	b, err := store.ReadBlob(ctx, blobs, dg, maxDirectory)
	if err != nil {
		return nil, fmt.Errorf("folder tree: %w", err)
	}
	d, err := decodeDirectory(b, dg.Function())
	if err != nil {
		return nil, fmt.Errorf("folder tree: %s is not a valid Directory message: %w", dg, err)
	}
	return d, nil
}

// LoadTree reads the REAPI Tree message with the given digest and returns the tree. It reads one blob, while Load reads
// one blob per folder. The limits of Load apply.
func LoadTree(ctx context.Context, blobs store.Blobs, tree digest.Digest) (*Dir, error) {
	b, err := store.ReadBlob(ctx, blobs, tree, maxTree)
	if err != nil {
		return nil, fmt.Errorf("folder tree: %w", err)
	}
	d, err := DecodeTree(b, tree.Function())
	if err != nil {
		return nil, fmt.Errorf("folder tree: %s is not a valid Tree message: %w", tree, err)
	}
	return d, nil
}

// LoadOutput reads an output folder of an action from the store.
func LoadOutput(ctx context.Context, blobs store.Blobs, d action.OutputDir) (*Dir, error) {
	if d.Tree.IsZero() {
		return Load(ctx, blobs, d.Root)
	}
	return LoadTree(ctx, blobs, d.Tree)
}

// OutputBlobs returns the digests of all messages and files in an output folder of an action. It fails with
// store.ErrCorrupt if the Tree message belongs to another folder.
func OutputBlobs(ctx context.Context, blobs store.Blobs, d action.OutputDir) ([]digest.Digest, error) {
	dir, err := LoadOutput(ctx, blobs, d)
	if err != nil {
		return nil, err
	}
	root, messages := dir.Encode(d.Root.Function())
	if root != d.Root {
		return nil, fmt.Errorf("the Tree message %s does not match the folder %s: %w",
			d.Tree, d.Root, store.ErrCorrupt)
	}
	all := slices.Collect(maps.Keys(messages))
	if !d.Tree.IsZero() {
		all = append(all, d.Tree)
	}
	err = dir.Walk(func(_ string, e Entry) error {
		if e.File != nil {
			all = append(all, e.File.Digest)
		}
		return nil
	})
	return all, err
}

// maxTree is the maximum size of a Tree message in bytes.
const maxTree = 1 << 30

// DecodeTree decodes a REAPI Tree message whose digests use the function fn. The result has no Refs.
func DecodeTree(b []byte, fn digest.Function) (*Dir, error) {
	var root digest.Digest
	messages := map[digest.Digest][]byte{}
	err := action.EachField(b, func(num protowire.Number, _ uint64, m []byte) error {
		if num != 1 && num != 2 {
			return nil
		}
		dg := fn.Bytes(m)
		if num == 1 {
			if !root.IsZero() {
				return fmt.Errorf("the Tree message has two roots")
			}
			root = dg
		}
		messages[dg] = m
		return nil
	})
	if err != nil {
		return nil, err
	}
	if root.IsZero() {
		return nil, fmt.Errorf("the Tree message has no root")
	}
	return loadAll(root, func(dg digest.Digest) (*Dir, error) {
		m, ok := messages[dg]
		if !ok {
			return nil, fmt.Errorf("the Tree message lacks the Directory %s", dg)
		}
		return decodeDirectory(m, fn)
	})
}
