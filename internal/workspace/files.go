// Package workspace finds the pipelines of a workspace, reads its files while one of them is planned, and remembers
// what was looked at.
//
// It knows where things are in a workspace, and what may be read. It does not know the language that is written
// there.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/rooted"
)

// Limits of what may be read while planning.
const (
	maxFile    = 4 << 20 // bytes of one file
	maxFileset = 200_000 // files of one fileset
)

// Files reads files for the functions file and fileset, and remembers what was looked at. It is safe for concurrent
// use.
type Files struct {
	root  string
	roots []string // of folders elsewhere whose files are read like the workspace's: those of modules

	mu    sync.Mutex
	seen  map[string]presence
	globs map[string]plan.Glob
}

// NewFiles returns a reader whose relative paths start in the workspace, an absolute path. Below the other folders,
// absolute paths too, it reads files that are named by absolute paths.
func NewFiles(workspace string, others ...string) *Files {
	return &Files{root: workspace, roots: others, seen: make(map[string]presence), globs: make(map[string]plan.Glob)}
}

// place returns the cleaned slash name and the path on this machine; names that leave the workspace must be absolute.
func (f *Files) place(name string) (slash, host string, err error) {
	if name == "" {
		return "", "", errors.New("the path is empty: the workspace itself is \".\"")
	}
	slash = path.Clean(filepath.ToSlash(name))
	if filepath.IsAbs(name) {
		return slash, filepath.Clean(name), nil
	}
	if slash == ".." || strings.HasPrefix(slash, "../") {
		return "", "", fmt.Errorf("%q leaves the workspace: use an absolute path for files that are elsewhere", name)
	}
	return slash, filepath.Join(f.root, filepath.FromSlash(slash)), nil
}

// real is the place of a name without links. None of them may lead out of the workspace, unless the name is absolute.
func (f *Files) real(name string) (slash, host string, err error) {
	if slash, host, err = f.place(name); err != nil || filepath.IsAbs(name) {
		return slash, host, err
	}
	p, err := rooted.Resolve(f.root, filepath.FromSlash(slash))
	if err != nil && !errors.As(err, new(*rooted.OutsideError)) {
		err = cannotRead(slash, err)
	}
	return slash, p.Path, err
}

// below returns the folder, of those whose files are read, that an absolute path is in, and the rest of the path.
func (f *Files) below(name string) (root, rest string, ok bool) {
	for _, root := range append([]string{f.root}, f.roots...) {
		if rest, err := filepath.Rel(root, filepath.Clean(name)); err == nil && filepath.IsLocal(rest) {
			return root, rest, true
		}
	}
	return "", "", false
}

// Read returns the text of a file of the workspace, or of a folder beside it whose files are read.
func (f *Files) Read(name string) (string, error) {
	f.Note(name) // also what cannot be read: try() goes on without it
	slash, _, err := f.place(name)
	if err != nil {
		return "", err
	}
	root, inside := f.root, filepath.FromSlash(slash)
	if filepath.IsAbs(name) { // what a plan says goes into commands, keys and logs
		var ok bool
		if root, inside, ok = f.below(name); !ok {
			return "", fmt.Errorf("%s is not in the workspace: give a file that is elsewhere to a step as an input",
				slash)
		}
	}
	host, err := rooted.Resolve(root, inside)
	if errors.As(err, new(*rooted.OutsideError)) {
		return "", err
	}
	if err != nil {
		return "", cannotRead(slash, err)
	}
	in, err := os.OpenFile(host.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return "", cannotRead(slash, err)
	}
	defer in.Close()
	switch info, err := in.Stat(); {
	case err != nil:
		return "", cannotRead(slash, err)
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder: fileset lists folders", slash)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file: pipes, sockets and the like are not read", slash)
	}
	b, err := boundedfile.ReadAll(in, slash, maxFile)
	var large *boundedfile.LargeError
	switch {
	case errors.As(err, &large):
		return "", fmt.Errorf("%s has more than %d MiB: give it to a step as an input instead", slash, maxFile>>20)
	case err != nil:
		return "", cannotRead(slash, err)
	case !utf8.Valid(b):
		return "", fmt.Errorf("%s is not text in UTF-8: give it to a step as an input instead", slash)
	}
	return string(b), nil
}

// Open opens a file or folder for a kind of step; that planning depends on it is for the kind to say. Anything else,
// such as a pipe, which would be waited for, is not opened. Errors have the name as it is given.
func (f *Files) Open(name string) (fs.File, error) {
	_, host, err := f.real(name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(host); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("neither a file nor a folder")}
	}
	in, err := os.Open(host)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return nil, &fs.PathError{Op: pe.Op, Path: name, Err: pe.Err}
	}
	return in, nil
}

func cannotRead(slash string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: correct the path, which starts in the workspace if it is relative", slash)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s cannot be read: %w", slash, err)
}

// List returns the files below dir that match, as slash paths that start with dir, sorted.
func (f *Files) List(dir string, patterns []string) ([]string, error) {
	slash, host, err := f.place(dir)
	if err != nil {
		return nil, err
	}
	var take, leave []string
	for _, p := range patterns {
		body := strings.TrimPrefix(p, "!")
		if !doublestar.ValidatePattern(body) || strings.HasPrefix(body, "/") ||
			slices.Contains(strings.Split(body, "/"), "..") {
			return nil, fmt.Errorf("%q is not a pattern: write patterns such as \"**/*.cpp\", relative to the folder",
				p)
		}
		if body != p {
			leave = append(leave, body)
		} else {
			take = append(take, body)
		}
	}
	if len(take) == 0 {
		take = []string{"**"}
	}
	_, real, err := f.real(dir)
	if err != nil {
		f.Note(dir)
		return nil, err
	}
	info, err := os.Stat(real)
	if err != nil {
		f.Note(dir)
		return nil, cannotRead(slash, err)
	}
	if !info.IsDir() {
		f.Note(dir)
		return nil, fmt.Errorf("%s is not a folder: file reads files", slash)
	}
	seen := make(map[string]bool)
	from := os.DirFS(host)
	if !filepath.IsAbs(dir) {
		if from, err = fs.Sub(rooted.FS(f.root), slash); err != nil {
			return nil, err
		}
	}
	watched := &watchedFS{FS: from, files: f, host: host, slash: slash, dirs: make(map[string]bool)}
	watched.note(".")
	for _, p := range take {
		err := doublestar.GlobWalk(watched, p, func(name string, _ fs.DirEntry) error {
			for _, l := range leave {
				if ok, _ := doublestar.Match(l, name); ok { // the pattern was validated
					return nil
				}
			}
			seen[path.Join(slash, name)] = true
			if len(seen) > maxFileset {
				return fmt.Errorf("more than %d files match", maxFileset)
			}
			return nil
		}, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			return nil, fmt.Errorf("%s cannot be listed: %w", slash, err)
		}
	}
	found := slices.Sorted(maps.Keys(seen))
	g := plan.Glob{Dir: slash, Patterns: patterns, Found: found, Dirs: slices.Sorted(maps.Keys(watched.dirs))}
	f.mu.Lock()
	f.globs[globKey(g)] = g
	f.mu.Unlock()
	return found, nil
}
