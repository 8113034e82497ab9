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

// presence is the kind of entry that was at a path.
type presence uint8

const (
	absent presence = 1 + iota
	file
	folder
)

// Note records that planning depends on a path. Planning may depend on the content of a file, on the names in a folder,
// or on the absence of the path. The path must be absolute or relative to the workspace; Note ignores all other paths.
// If the path is a symbolic link, Note records the link and its target. So lstat of the recorded paths detects every
// change.
func (f *Files) Note(name string) {
	_, host, err := f.place(name)
	if err != nil {
		return
	}
	f.noteHost(host)
	f.Follow(name)
}

// Follow records the target if the path is a symbolic link. Otherwise it records nothing.
func (f *Files) Follow(name string) {
	if _, host, err := f.place(name); err == nil {
		for _, to := range hops(host) {
			f.noteHost(to)
		}
	}
}

// noteHost records the result of lstat for a path of this machine.
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

// spell returns the path relative to the workspace, if it is inside.
func (f *Files) spell(host string) string {
	if rel, err := filepath.Rel(f.root, host); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(host)
}

// hops returns the targets of a chain of symbolic links.
func hops(host string) []string {
	var out []string
	for len(out) < 40 { // Linux follows at most 40
		to, err := os.Readlink(host)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			dir := filepath.Dir(host)
			if real, err := filepath.EvalSymlinks(dir); err == nil { // ".." in a link's target starts there
				dir = real
			}
			to = filepath.Join(dir, to)
		}
		host = filepath.Clean(to)
		out = append(out, host)
	}
	return out
}

// Reads returns all recorded paths.
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

// Forget removes all recorded paths.
func (f *Files) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.seen)
	clear(f.globs)
}

func globKey(g plan.Glob) string { return g.Dir + "\x00" + strings.Join(g.Patterns, "\x00") }

// Fileset lists the folder dir again, in the same way as the function fileset() of the pipeline language.
func Fileset(workspace, dir string, patterns ...string) (plan.Glob, error) {
	f := NewFiles(workspace)
	if _, err := f.List(dir, patterns); err != nil {
		return plan.Glob{}, err
	}
	return f.Reads().Globs[0], nil
}

// watchedFS records the folders that are listed, and those in which a name is looked up.
type watchedFS struct {
	fs.FS
	files       *Files
	host, slash string
	dirs        map[string]bool
}

// ReadDir lists a folder and records it.
func (w *watchedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	w.note(name)
	return fs.ReadDir(w.FS, name)
}

// Stat looks up a path for a pattern without wildcards, and records the folder of the path.
func (w *watchedFS) Stat(name string) (fs.FileInfo, error) {
	w.note(path.Dir(name))
	for _, to := range hops(filepath.Join(w.host, filepath.FromSlash(name))) {
		w.dirs[w.files.spell(to)] = true
	}
	return fs.Stat(w.FS, name)
}

// note records the folder, or its nearest existing parent.
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
