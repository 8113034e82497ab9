package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hexmage/hexmage/internal/plan"
)

// presence is what was there when a path was looked at.
type presence uint8

const (
	absent presence = 1 + iota
	file
	folder
)

// Note remembers that planning depends on what is at a path: a file's content, a folder's list of names, or that
// there is nothing. The path is absolute or relative to the workspace; any other is not remembered. A symbolic link
// counts as a file, and what it leads to is remembered too, so that lstat of each tells whether anything changed.
func (f *Files) Note(name string) {
	_, host, err := f.place(name)
	if err != nil {
		return
	}
	f.noteHost(host)
	f.Follow(name)
}

// Follow remembers what a path leads to, if it is a symbolic link, and nothing otherwise.
func (f *Files) Follow(name string) {
	if _, host, err := f.place(name); err == nil {
		for _, to := range hops(host) {
			f.noteHost(to)
		}
	}
}

// noteHost remembers what lstat says of a path of this machine.
func (f *Files) noteHost(host string) {
	is := file
	if info, err := os.Lstat(host); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		is = absent
	} else if err == nil && info.IsDir() {
		is = folder
	}
	f.mu.Lock()
	f.seen[f.spell(host)] = is
	f.mu.Unlock()
}

// spell is the path relative to the workspace, if it is in there.
func (f *Files) spell(host string) string {
	if rel, err := filepath.Rel(f.root, host); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(host)
}

// hops are the paths that a symbolic link leads to, one link after the other.
func hops(host string) []string {
	var out []string
	for len(out) < 40 { // as many as Linux follows
		to, err := os.Readlink(host)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(realDir(host), to)
		}
		host = filepath.Clean(to)
		out = append(out, host)
	}
	return out
}

// realDir is the folder that a path is in, without links: ".." of a link's target starts there.
func realDir(host string) string {
	dir := filepath.Dir(host)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Reads returns what was looked at so far.
func (f *Files) Reads() plan.Reads {
	f.mu.Lock()
	defer f.mu.Unlock()
	var r plan.Reads
	for name, is := range f.seen {
		switch is {
		case absent:
			r.Absent = append(r.Absent, name)
		case file:
			r.Files = append(r.Files, name)
		case folder:
			r.Dirs = append(r.Dirs, name)
		}
	}
	slices.Sort(r.Absent)
	slices.Sort(r.Files)
	slices.Sort(r.Dirs)
	for _, g := range f.globs {
		r.Globs = append(r.Globs, g)
	}
	slices.SortFunc(r.Globs, func(a, b plan.Glob) int { return strings.Compare(globKey(a), globKey(b)) })
	return r
}

func globKey(g plan.Glob) string { return g.Dir + "\x00" + strings.Join(g.Patterns, "\x00") }

// Fileset lists a folder anew, as the function fileset does.
func Fileset(workspace, dir string, patterns ...string) (plan.Glob, error) {
	f := NewFiles(workspace)
	if _, err := f.List(dir, patterns); err != nil {
		return plan.Glob{}, err
	}
	return f.Reads().Globs[0], nil
}

// watchedFS notes the folders that are listed, and those in which a name is looked for.
type watchedFS struct {
	fs.FS
	files       *Files
	host, slash string
	dirs        map[string]bool
}

// ReadDir lists a folder.
func (w *watchedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	w.note(name)
	return fs.ReadDir(w.FS, name)
}

// Stat looks for a name, which a pattern without wildcards does.
func (w *watchedFS) Stat(name string) (fs.FileInfo, error) {
	w.note(path.Dir(name))
	for _, to := range hops(filepath.Join(w.host, filepath.FromSlash(name))) {
		w.dirs[w.files.spell(to)] = true
	}
	return fs.Stat(w.FS, name)
}

// note takes a folder, or the nearest above it that is there.
func (w *watchedFS) note(name string) {
	for name != "." {
		if info, err := os.Stat(filepath.Join(w.host, filepath.FromSlash(name))); err == nil && info.IsDir() {
			break
		}
		name = path.Dir(name)
	}
	w.dirs[path.Join(w.slash, name)] = true
	for _, to := range hops(filepath.Join(w.host, filepath.FromSlash(name))) {
		w.dirs[w.files.spell(to)] = true
	}
}
