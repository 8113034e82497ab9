// Package merkle has folders as Merkle trees: REAPI's Directory messages, whose digest names a whole folder.
//
// A Dir is a folder in memory. It may hold subtrees that are known by their root digest alone (Ref): a toolchain of
// 10,000 files is put into each of forty exec roots without being read or encoded again. Methods that may have to
// look into such a subtree take a context and the store that has its Directory messages; where no Ref is in the way
// the store is not used and may be nil.
//
// The package also reads folders of the host into trees (Scan), writes trees out (Materialise, Trees), and brings
// what an action wrote into the store (Capture). It does not know actions' keys, plans, or which blobs exist.
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

// Dir is a folder. The zero Dir is empty and ready to use. Names are single path elements; a name is in one map only.
// A Dir is not safe for use by several goroutines while one of them changes it. A File never changes, so trees share
// it.
type Dir struct {
	Files    map[string]*File
	Dirs     map[string]*Dir
	Symlinks map[string]string // targets with slashes, relative to the link's folder

	ref     digest.Digest // not zero: only the root Directory's digest is known, and the maps are nil
	message []byte        // of ref, if that is known too
}

// Ref returns a folder of which only the digest of the root Directory message is known. It is never changed, so it
// may be shared between trees.
func Ref(root digest.Digest) *Dir { return &Dir{ref: root} }

// Ref returns the digest of a folder that came from func Ref, and whether d is such a one.
func (d *Dir) Ref() (digest.Digest, bool) { return d.ref, !d.ref.IsZero() }

// ErrNotExist is what Lookup and Sub return, wrapped, for a path that the tree does not have.
var ErrNotExist = errors.New("not in the tree")

// ConflictError says that two different things were put at one path.
type ConflictError struct {
	Path      string // slash path in the tree
	Have, New string // the two: "file blake3:…/12", "folder", "symlink to x"
}

// Error returns the message.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: there is %s, and %s should be put there: give one of them another path", e.Path, e.Have,
		e.New)
}

// Entry is what is at a path: exactly one field is set.
type Entry struct {
	File    *File
	Dir     *Dir
	Symlink string // the target
}

// String describes the entry for people.
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

// entry returns what has the name in d itself, which must not be a Ref.
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

// Clone returns a copy that shares nothing with d but Refs, which never change.
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

// Insert puts a file at the slash path, making folders as needed. The same file again is fine; anything else there is
// a *ConflictError.
func (d *Dir) Insert(ctx context.Context, blobs store.Blobs, p string, f File) error {
	return d.insert(ctx, blobs, p, Entry{File: &f})
}

// InsertEntry is Insert for a file, which d has in common with whoever else has the entry, or a symlink. A folder is
// Merged.
func (d *Dir) InsertEntry(ctx context.Context, blobs store.Blobs, p string, e Entry) error {
	if e.Dir != nil {
		return d.Merge(ctx, blobs, p, e.Dir)
	}
	return d.insert(ctx, blobs, p, e)
}

// Merge puts the contents of sub into the folder at the slash path ("" is d itself), making folders as needed.
// Folders that both have are merged; other things that both have must be the same, else it is a *ConflictError. sub
// is copied.
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
		return fmt.Errorf("folder tree: %s cannot be put at the root", e)
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

// put puts e at name in d, whose path is at.
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
		*d = Dir{ref: sub.ref, message: sub.message}
		return nil
	}
	if err := d.expand(ctx, blobs); err != nil {
		return err
	}
	sub, err := sub.opened(ctx, blobs)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sub.Files)) {
		if err := d.put(ctx, blobs, at, name, Entry{File: sub.Files[name]}); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sub.Symlinks)) {
		if err := d.put(ctx, blobs, at, name, Entry{Symlink: sub.Symlinks[name]}); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sub.Dirs)) {
		if err := d.put(ctx, blobs, at, name, Entry{Dir: sub.Dirs[name].Clone()}); err != nil {
			return err
		}
	}
	return nil
}

// own returns d's folder name, opened if it is a Ref, so that it can be changed without changing another tree.
func (d *Dir) own(ctx context.Context, blobs store.Blobs, name string, sub *Dir) (*Dir, error) {
	if sub.ref.IsZero() {
		return sub, nil
	}
	sub, err := sub.opened(ctx, blobs)
	if err != nil {
		return nil, err
	}
	d.Dirs[name] = sub
	return sub, nil
}

// expand replaces a Ref by what it names, one level deep, in place.
func (d *Dir) expand(ctx context.Context, blobs store.Blobs) error {
	o, err := d.opened(ctx, blobs)
	if err == nil && o != d {
		*d = *o
	}
	return err
}

// opened returns d, or for a Ref a new Dir with what it names, one level deep.
func (d *Dir) opened(ctx context.Context, blobs store.Blobs) (*Dir, error) {
	if d.ref.IsZero() {
		return d, nil
	}
	if d.message != nil {
		return decodeDirectory(d.message, d.ref.Function())
	}
	if blobs == nil {
		return nil, fmt.Errorf("tree %s: its Directory is needed and there is no store to read it from", d.ref)
	}
	return readDirectory(ctx, blobs, d.ref)
}

// Open returns d, or for a Ref a new Dir with what it names, one level deep: its folders are Refs again.
func (d *Dir) Open(ctx context.Context, blobs store.Blobs) (*Dir, error) { return d.opened(ctx, blobs) }

// Lookup returns what is at the slash path; "" is d itself.
func (d *Dir) Lookup(ctx context.Context, blobs store.Blobs, p string) (Entry, error) {
	names, err := split(p)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Dir: d}
	for i, name := range names {
		if e.Dir == nil {
			return Entry{}, fmt.Errorf("%s: %s is %s and no folder: %w", p, strings.Join(names[:i], "/"), e,
				ErrNotExist)
		}
		o, err := e.Dir.opened(ctx, blobs)
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

// Sub returns the folder at the slash path. It is part of d: to change it, Clone it first.
func (d *Dir) Sub(ctx context.Context, blobs store.Blobs, p string) (*Dir, error) {
	e, err := d.Lookup(ctx, blobs, p)
	if err != nil {
		return nil, err
	}
	if e.Dir == nil {
		return nil, fmt.Errorf("%s is %s, not a folder", p, e)
	}
	return e.Dir, nil
}

// Contents yields the digests of the files in the folder itself.
func (d *Dir) Contents(yield func(digest.Digest) bool) {
	for _, f := range d.Files {
		if !yield(f.Digest) {
			return
		}
	}
}

// Walk calls f for everything in d, a folder before what is in it, names in order. Refs are not opened: Load does
// that. It stops at the first error, which it returns.
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

// Zip calls f for each name that either folder has, in order, with what has it in each: the zero Entry for nothing.
// Neither may be a Ref. It stops at the first error, which it returns.
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

// split cuts a slash path into names; "" and "." have none.
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
		return fmt.Errorf("%q is no name", name)
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes is too long: the limit is %d", len(name), maxName)
	case strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("the name %q has a character that names cannot have", name)
	}
	return nil
}

// CheckSymlink refuses a symlink that could lead out of its tree: dir is the slash path of the folder that it is in
// ("" is the root). Its target must be relative, and ".." may only come first and not climb above the root. A ".."
// after a name is refused since that name may be another symlink, and the way up from where it leads is anyone's
// guess.
func CheckSymlink(dir, target string) error {
	depth := 0
	if dir != "" && dir != "." {
		depth = strings.Count(dir, "/") + 1
	}
	if target == "" || len(target) > maxTarget || strings.ContainsRune(target, 0) {
		return fmt.Errorf("the symlink's target %.40q is empty, too long or has a zero byte", target)
	}
	if strings.HasPrefix(target, "/") {
		return fmt.Errorf("the symlink's target %s is absolute: it must be relative and inside the tree", target)
	}
	named := false
	for _, name := range strings.Split(target, "/") {
		switch {
		case name == "" || name == ".":
		case name != "..":
			named = true
		case named:
			return fmt.Errorf("the symlink's target %s goes up after a name: write it without that", target)
		default:
			if depth--; depth < 0 {
				return fmt.Errorf("the symlink's target %s is outside the tree", target)
			}
		}
	}
	return nil
}
