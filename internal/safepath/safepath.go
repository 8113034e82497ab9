// Package safepath resolves paths below a folder. It rejects links that lead out of the folder, because a workspace may
// be untrusted.
//
// Package os offers os.Root, which is stricter: it also rejects absolute links to paths in the folder. Also, os.Root
// does not return the path of a file. If a program changes the folder after Resolve returns, the returned path may lead
// out of the folder.
package safepath

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

// OutsideError means that a path leads out of the folder.
type OutsideError struct {
	Root   string // the folder
	Path   string // the path that the caller gave
	Link   string // the link that leads out, as a slash path in the folder; "" if the path itself leads out
	Target string // target of the link
}

// Error returns the message with the remedy.
func (e *OutsideError) Error() string {
	switch e.Link {
	case "":
		return fmt.Sprintf("%s leads out of %s, where it is to stay", e.Path, e.Root)
	case filepath.ToSlash(e.Path):
		return fmt.Sprintf("%s is a link to %s, out of %s: replace the link by its target", e.Path, e.Target, e.Root)
	}
	return fmt.Sprintf("%s is out of %s, as %s is a link to %s: replace the link by its target", e.Path, e.Root,
		e.Link, e.Target)
}

// ErrIrregular means that the path leads to a special file, such as a pipe.
var ErrIrregular = errors.New("neither a regular file nor a folder")

// Place is the location that a path leads to. The file may be missing.
type Place struct {
	Path  string   // path below the root, without links after the root
	Links []string // paths of the links on the way
	// stamp of the file while Resolve ran; zero if the file is missing or unreadable
	Stamp stat.Stamp
}

// Resolve follows the links in name, a path relative to the folder root, and returns the resulting location. If a link
// leads out of root, the error is an *OutsideError. If root is the root of the file system, no link can lead out.
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

// inside returns the target of a link that is depth folders below root. An absolute target becomes relative to root. ok
// tells whether the target stays in root.
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

// FS returns the folder root as a file system that rejects links out of the folder. It opens only regular files and
// folders, because opening a pipe would block.
func FS(root string) fs.FS { return folder{root, "."} }

// folder is the file system below dir, a slash path in root.
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

// Sub implements fs.SubFS. A link may lead out of the subfolder dir, but not out of the root folder.
func (f folder) Sub(dir string) (fs.FS, error) {
	if !fs.ValidPath(dir) {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: fs.ErrInvalid}
	}
	return folder{f.root, path.Join(f.dir, dir)}, nil
}
