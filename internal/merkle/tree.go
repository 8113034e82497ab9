// Package merkle represents folders as Merkle trees of REAPI's Directory messages, so that one digest identifies a
// whole folder.
//
// A Dir is a folder in memory. A Ref is a Dir that holds only the digest of a subtree. With a Ref, hexmage can put a
// toolchain of 10,000 files into forty exec roots without reading or encoding the files again. Methods that may need
// the content of a Ref take a context and the store with the Directory messages. If the path contains no Ref, these
// methods do not use the store, and the store may be nil.
//
// The package also reads folders of the host into trees (Scan), writes trees to disk (Materialize, Trees), and stores
// the outputs of actions (Capture). It does not know cache keys, plans, or which blobs exist.
package merkle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// File is a regular file.
type File struct {
	Digest     digest.Digest
	Executable bool
}

// Dir is a folder. The zero Dir is empty and ready to use. Each name is a single path element and is a key in only one
// of the maps. While a goroutine changes a Dir, no other goroutine may use the Dir. A File never changes, so several
// trees may share it.
type Dir struct {
	Files    map[string]*File
	Dirs     map[string]*Dir
	Symlinks map[string]string // targets with slashes, relative to the link's folder

	ref digest.Digest // if not zero, only the digest of the root Directory is known, and the maps are nil
}

// Ref returns a folder that is known only by the digest of its root Directory message. Such a folder never changes, so
// several trees may share it.
func Ref(root digest.Digest) *Dir { return &Dir{ref: root} }

// Ref returns the digest and true if the function Ref created d. Otherwise it returns false.
func (d *Dir) Ref() (digest.Digest, bool) { return d.ref, !d.ref.IsZero() }

// ErrNotExist means that the tree has no entry at the path. Lookup and Sub return it wrapped.
var ErrNotExist = errors.New("no such file in the tree")

// ConflictError reports two different entries at one path.
type ConflictError struct {
	Path      string // slash path in the tree
	Have, New string // the two entries: "file blake3:…/12", "folder", "symlink to x"
}

// Error returns the message.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: the tree has %s and %s at this path; change the path of one of them", e.Path, e.Have,
		e.New)
}

// Entry is an entry of a tree: a file, a symlink or a folder. Exactly one field is set.
type Entry struct {
	File    *File
	Dir     *Dir
	Symlink string // the target
}

// String describes the entry for users.
func (e Entry) String() string {
	switch {
	case e.File != nil && e.File.Executable:
		return "executable file " + e.File.Digest.String()
	case e.File != nil:
		return "file " + e.File.Digest.String()
	case e.Dir != nil && !e.Dir.ref.IsZero():
		return "folder " + e.Dir.ref.String()
	case e.Dir != nil:
		return "a folder"
	}
	return "a symlink to " + e.Symlink
}

// entry returns the entry with the name in d itself, which must not be a Ref.
func (d *Dir) entry(name string) (Entry, bool) {
	if f, ok := d.Files[name]; ok {
		return Entry{File: f}, true
	}
	if c, ok := d.Dirs[name]; ok {
		return Entry{Dir: c}, true
	}
	t, ok := d.Symlinks[name]
	return Entry{Symlink: t}, ok
}

func (d *Dir) set(name string, e Entry) {
	switch {
	case e.File != nil:
		if d.Files == nil {
			d.Files = map[string]*File{}
		}
		d.Files[name] = e.File
	case e.Dir != nil:
		if d.Dirs == nil {
			d.Dirs = map[string]*Dir{}
		}
		d.Dirs[name] = e.Dir
	default:
		if d.Symlinks == nil {
			d.Symlinks = map[string]string{}
		}
		d.Symlinks[name] = e.Symlink
	}
}

// Clone returns a deep copy of d. Only Refs are shared, because they never change.
func (d *Dir) Clone() *Dir {
	if !d.ref.IsZero() {
		return d
	}
	c := &Dir{Files: maps.Clone(d.Files), Symlinks: maps.Clone(d.Symlinks)}
	for name, sub := range d.Dirs {
		c.set(name, Entry{Dir: sub.Clone()})
	}
	return c
}

// Insert adds a file at the slash path p and creates missing folders. If the path already has a different entry, Insert
// returns a *ConflictError.
func (d *Dir) Insert(ctx context.Context, blobs store.Blobs, p string, f File) error {
	return d.insert(ctx, blobs, p, Entry{File: &f})
}

// InsertEntry is like Insert, for any entry. It shares a file with e instead of copying the file. It adds a folder to d
// as Merge does.
func (d *Dir) InsertEntry(ctx context.Context, blobs store.Blobs, p string, e Entry) error {
	if e.Dir != nil {
		return d.Merge(ctx, blobs, p, e.Dir)
	}
	return d.insert(ctx, blobs, p, e)
}

// Merge adds a copy of everything in sub to the folder at the slash path p, and creates missing folders. If p is "",
// Merge adds to d itself. Merge combines folders that exist in d and in sub. If any other path has different entries in
// d and in sub, Merge returns a *ConflictError.
func (d *Dir) Merge(ctx context.Context, blobs store.Blobs, p string, sub *Dir) error {
	if p == "" || p == "." {
		return d.merge(ctx, blobs, "", sub)
	}
	return d.insert(ctx, blobs, p, Entry{Dir: sub.Clone()})
}

func (d *Dir) insert(ctx context.Context, blobs store.Blobs, p string, e Entry) error {
	names, err := split(p)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("folder tree: %s cannot be the root", e)
	}
	if err := d.expand(ctx, blobs); err != nil {
		return err
	}
	for i, name := range names[:len(names)-1] {
		have, ok := d.entry(name)
		switch {
		case !ok:
			have = Entry{Dir: &Dir{}}
			d.set(name, have)
		case have.Dir == nil:
			return &ConflictError{Path: strings.Join(names[:i+1], "/"), Have: have.String(), New: "a folder"}
		}
		if d, err = d.own(ctx, blobs, name, have.Dir); err != nil {
			return err
		}
	}
	return d.put(ctx, blobs, path.Dir(p), names[len(names)-1], e)
}

// put puts e at name in d; at is the path of d.
func (d *Dir) put(ctx context.Context, blobs store.Blobs, at, name string, e Entry) error {
	have, ok := d.entry(name)
	switch {
	case !ok:
		d.set(name, e)
		return nil
	case have.Dir != nil && e.Dir != nil:
		if have.Dir.ref == e.Dir.ref && !e.Dir.ref.IsZero() {
			return nil
		}
		sub, err := d.own(ctx, blobs, name, have.Dir)
		if err != nil {
			return err
		}
		return sub.merge(ctx, blobs, path.Join(at, name), e.Dir)
	case have.File != nil && e.File != nil && *have.File == *e.File,
		have.File == nil && have.Dir == nil && e.File == nil && e.Dir == nil && have.Symlink == e.Symlink:
		return nil
	}
	return &ConflictError{Path: path.Join(at, name), Have: have.String(), New: e.String()}
}

func (d *Dir) merge(ctx context.Context, blobs store.Blobs, at string, sub *Dir) error {
	if !d.ref.IsZero() && d.ref == sub.ref {
		return nil
	}
	if d.ref.IsZero() && len(d.Files)+len(d.Dirs)+len(d.Symlinks) == 0 && !sub.ref.IsZero() {
		*d = *sub
		return nil
	}
	if err := d.expand(ctx, blobs); err != nil {
		return err
	}
	sub, err := sub.Open(ctx, blobs)
	if err != nil {
		return err
	}
	for _, name := range sub.names() {
		e, _ := sub.entry(name)
		if e.Dir != nil {
			e.Dir = e.Dir.Clone()
		}
		if err := d.put(ctx, blobs, at, name, e); err != nil {
			return err
		}
	}
	return nil
}

// own returns d's folder name for changing it. It opens a Ref, so that other trees do not change.
func (d *Dir) own(ctx context.Context, blobs store.Blobs, name string, sub *Dir) (*Dir, error) {
	if sub.ref.IsZero() {
		return sub, nil
	}
	sub, err := sub.Open(ctx, blobs)
	if err != nil {
		return nil, err
	}
	d.Dirs[name] = sub
	return sub, nil
}

// expand replaces a Ref in place by its content, one level deep.
func (d *Dir) expand(ctx context.Context, blobs store.Blobs) error {
	o, err := d.Open(ctx, blobs)
	if err == nil && o != d {
		*d = *o
	}
	return err
}

// Open returns d if d is not a Ref. For a Ref, Open reads one Directory message and returns a new Dir, whose subfolders
// are Refs.
func (d *Dir) Open(ctx context.Context, blobs store.Blobs) (*Dir, error) {
	if d.ref.IsZero() {
		return d, nil
	}
	if blobs == nil {
		return nil, fmt.Errorf("tree %s: cannot read the Directory without a store", d.ref)
	}
	return readDirectory(ctx, blobs, d.ref)
}

// Lookup returns the entry at the slash path p. If p is "", the entry is d itself.
func (d *Dir) Lookup(ctx context.Context, blobs store.Blobs, p string) (Entry, error) {
	names, err := split(p)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Dir: d}
	for i, name := range names {
		if e.Dir == nil {
			return Entry{}, fmt.Errorf("path %s: %s is %s, not a folder: %w", p, strings.Join(names[:i], "/"), e,
				ErrNotExist)
		}
		o, err := e.Dir.Open(ctx, blobs)
		if err != nil {
			return Entry{}, err
		}
		var ok bool
		if e, ok = o.entry(name); !ok {
			return Entry{}, fmt.Errorf("%s: %w", p, ErrNotExist)
		}
	}
	return e, nil
}

// Sub returns the folder at the slash path p. The folder is part of d, so call Clone before you change the folder.
func (d *Dir) Sub(ctx context.Context, blobs store.Blobs, p string) (*Dir, error) {
	e, err := d.Lookup(ctx, blobs, p)
	if err != nil {
		return nil, err
	}
	if e.Dir == nil {
		return nil, fmt.Errorf("path %s is %s, not a folder", p, e)
	}
	return e.Dir, nil
}

// Contents yields the digest of each file that is directly in the folder.
func (d *Dir) Contents(yield func(digest.Digest) bool) {
	for _, f := range d.Files {
		if !yield(f.Digest) {
			return
		}
	}
}

// Walk calls f for every entry below d in order of names, a folder before its content. Walk does not enter Refs; call
// Load to get a tree without Refs. Walk stops at the first error of f and returns the error.
func (d *Dir) Walk(f func(p string, e Entry) error) error { return d.walk("", f) }

func (d *Dir) walk(at string, f func(p string, e Entry) error) error {
	for _, name := range d.names() {
		e, _ := d.entry(name)
		p := path.Join(at, name)
		if err := f(p, e); err != nil {
			return err
		}
		if e.Dir != nil {
			if err := e.Dir.walk(p, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// Zip compares two folders: it calls f for each name in a or b, in order, with both entries. If a folder lacks the
// name, the entry is zero. Neither folder may be a Ref. Zip stops at the first error of f and returns the error.
func Zip(a, b *Dir, f func(name string, a, b Entry) error) error {
	names := append(a.names(), b.names()...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		x, _ := a.entry(name)
		y, _ := b.entry(name)
		if err := f(name, x, y); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) names() []string {
	names := make([]string, 0, len(d.Files)+len(d.Dirs)+len(d.Symlinks))
	names = slices.AppendSeq(names, maps.Keys(d.Files))
	names = slices.AppendSeq(names, maps.Keys(d.Dirs))
	names = slices.AppendSeq(names, maps.Keys(d.Symlinks))
	slices.Sort(names)
	return names
}

// split splits a slash path into names; "" and "." have none.
func split(p string) ([]string, error) {
	if p == "" || p == "." {
		return nil, nil
	}
	names := strings.Split(p, "/")
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("path %q: %w", p, err)
		}
	}
	return names, nil
}

func checkName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("invalid name %q", name)
	case len(name) > maxName:
		return fmt.Errorf("name of %d bytes is too long; the limit is %d bytes", len(name), maxName)
	case strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("invalid character in the name %q", name)
	}
	return nil
}

// CheckSymlink rejects a symlink that could lead out of its tree. The argument dir is the slash path of the folder with
// the symlink ("" for the root). The target must be relative, with ".." only at its start, and must not climb above the
// root. CheckSymlink also rejects targets such as "a/../b", because "a" may be a symlink to a folder with another
// parent.
func CheckSymlink(dir, target string) error {
	depth := 0
	if dir != "" && dir != "." {
		depth = strings.Count(dir, "/") + 1
	}
	if target == "" || len(target) > maxTarget || strings.ContainsRune(target, 0) {
		return fmt.Errorf("the target %.40q of the symlink is empty, too long or contains a zero byte", target)
	}
	if strings.HasPrefix(target, "/") {
		return fmt.Errorf("the symlink has the absolute target %s; use a relative target inside the tree", target)
	}
	named := false
	for _, name := range strings.Split(target, "/") {
		switch {
		case name == "" || name == ".":
		case name != "..":
			named = true
		case named:
			return fmt.Errorf("the target %s of the symlink has .. after a name; remove .. from the target", target)
		default:
			if depth--; depth < 0 {
				return fmt.Errorf("the target %s of the symlink is outside the tree", target)
			}
		}
	}
	return nil
}
