// Package rooted finds where a path below a folder leads, and refuses links that lead out of the folder: a workspace
// comes from somebody else as often as not, and what it names is to be its own. os.Root would refuse links to
// absolute paths in the folder, too, and has no path to give to those who remember a file by its name.
//
// One enters it with Resolve, to read or to write at a path, or with FS. Who changes the folder between Resolve and
// the use of its path is not held off. The package does not know what is in the folder.
package rooted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hexmage/hexmage/internal/stat"
)

// maxLinks is how many links a path may lead through: as many as Linux follows.
const maxLinks = 40

// OutsideError says that a path leads out of the folder that it is to stay in.
type OutsideError struct {
	Root   string // the folder
	Path   string // as it was asked for
	Link   string // the link that leads out, as a slash path in the folder; "" if it is the path itself
	Target string // of the link
}

// Error returns the message, with the remedy.
func (e *OutsideError) Error() string {
	switch e.Link {
	case "":
		return fmt.Sprintf("%s leads out of %s, where it is to stay", e.Path, e.Root)
	case filepath.ToSlash(e.Path):
		return fmt.Sprintf("%s is a link to %s, out of %s: put what it leads to in its place", e.Path, e.Target, e.Root)
	}
	return fmt.Sprintf("%s is out of %s, as %s is a link to %s: put what it leads to in its place", e.Path, e.Root,
		e.Link, e.Target)
}

// ErrIrregular says that something is neither a file nor a folder, and is not opened.
var ErrIrregular = errors.New("it is no regular file or folder")

// Place is where a path leads.
type Place struct {
	Path  string   // below the root, without links on the way from there
	Links []string // paths of the links that led to it
	// of what is there, from when the path was followed; the zero Stamp where nothing is, or nobody may look
	Stamp stat.Stamp
}

// Resolve returns where name, relative to the folder root, is. The error is an *OutsideError when a link leads out of
// root; below the root of the file system, none does.
func Resolve(root, name string) (Place, error) {
	var p Place
	sep := string(filepath.Separator)
	root = filepath.Clean(root)
	top := filepath.Dir(root) == root
	at, depth := root, 0 // depth: names below root, none of them a link
	rest := strings.Split(filepath.Clean(name), sep)
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && depth > 0:
			at, depth, p.Stamp = filepath.Dir(at), depth-1, stat.Stamp{}
			continue
		case part == ".." && top:
			continue
		case part == "..":
			return p, &OutsideError{Root: root, Path: name}
		}
		here := strings.TrimSuffix(at, sep) + sep + part
		is, err := stat.Lstat(here)
		if err != nil && slices.Contains(rest, "..") { // it leads nowhere; a path made of it would lead somewhere
			return p, err
		}
		if err != nil {
			p.Path, p.Stamp = filepath.Join(here, filepath.Join(rest...)), stat.Stamp{}
			return p, nil
		}
		if !is.IsSymlink() {
			at, depth, p.Stamp = here, depth+1, is
			continue
		}
		if p.Links = append(p.Links, here); len(p.Links) > maxLinks {
			return p, &fs.PathError{Op: "follow", Path: name, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(here)
		if err != nil {
			return p, err
		}
		to, ok := inside(root, target, depth)
		if !ok {
			link := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(here, root), sep))
			return p, &OutsideError{Root: root, Path: name, Link: link, Target: target}
		}
		if filepath.IsAbs(target) {
			at, depth, p.Stamp = root, 0, stat.Stamp{}
		}
		rest = append(strings.Split(to, sep), rest...)
	}
	if p.Path = at; !p.Stamp.Exists() { // the root, or up from somewhere
		p.Stamp, _ = stat.Lstat(at)
	}
	return p, nil
}

// inside returns the target of a link that is depth folders below root, relative to root if it is absolute, and tells
// whether it goes up to root at most.
func inside(root, target string, depth int) (string, bool) {
	if !filepath.IsAbs(target) {
		if filepath.Dir(root) == root {
			return target, true
		}
		for _, name := range strings.Split(target, string(filepath.Separator)) {
			switch name {
			case "", ".":
			case "..":
				if depth--; depth < 0 {
					return "", false
				}
			default:
				depth++ // or less, if it is a link: then Resolve finds out
			}
		}
		return target, true
	}
	roots := []string{root}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		roots = append(roots, real)
	}
	for _, r := range roots {
		if rel, err := filepath.Rel(r, target); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// FS is the folder as a file system in which no link leads out of it, and which opens nothing but files and folders:
// a pipe would be waited for.
func FS(root string) fs.FS { return folder{root, "."} }

// folder is what is below dir, a slash path in root.
type folder struct{ root, dir string }

func (f folder) at(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	p, err := Resolve(f.root, filepath.FromSlash(path.Join(f.dir, name)))
	return p.Path, err
}

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	at, err := f.at("open", name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(at); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrIrregular}
	}
	return os.Open(at)
}

// Stat implements fs.StatFS.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	at, err := f.at("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Lstat(at)
}

// Sub implements fs.SubFS. Links may lead out of the folder below, but not out of the whole.
func (f folder) Sub(dir string) (fs.FS, error) {
	if !fs.ValidPath(dir) {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: fs.ErrInvalid}
	}
	return folder{f.root, path.Join(f.dir, dir)}, nil
}
