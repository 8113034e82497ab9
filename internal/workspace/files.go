// Package workspace finds the pipelines in a workspace and reads files during planning. It records all files and
// folders that planning depends on.
//
// The package knows the folder layout of a workspace, and which files planning may read. It does not know the pipeline
// language.
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
	"github.com/hexmage/hexmage/internal/safepath"
)

// Limits for files that planning reads.
const (
	maxFile    = 4 << 20 // bytes per file
	maxFileset = 200_000 // files per fileset
)

// Files reads files for the functions file() and fileset() of the pipeline language, and records the paths. Any
// goroutine may use it.
type Files struct {
	root  string
	roots []string // folders of modules outside the workspace, whose files it may read

	mu    sync.Mutex
	seen  map[string]presence
	globs map[string]plan.Glob
}

// NewFiles returns Files for the workspace at the given absolute path. Relative paths refer to the workspace. Absolute
// paths may also lead into the other given folders.
func NewFiles(workspace string, others ...string) *Files {
	return &Files{root: workspace, roots: others, seen: make(map[string]presence), globs: make(map[string]plan.Glob)}
}

// place returns the cleaned slash name and the path on this machine. Names that leave the workspace must be absolute.
func (f *Files) place(name string) (slash, host string, err error) {
	if name == "" {
		return "", "", errors.New("empty path; write \".\" for the workspace")
	}
	slash = path.Clean(filepath.ToSlash(name))
	if filepath.IsAbs(name) {
		return slash, filepath.Clean(name), nil
	}
	if slash == ".." || strings.HasPrefix(slash, "../") {
		return "", "", fmt.Errorf("%q leaves the workspace; use an absolute path for files outside the workspace",
			name)
	}
	return slash, filepath.Join(f.root, filepath.FromSlash(slash)), nil
}

// real returns the place of a name after resolving links. No link may lead out of the workspace, unless the name is
// absolute.
func (f *Files) real(name string) (string, error) {
	slash, host, err := f.place(name)
	if err != nil || filepath.IsAbs(name) {
		return host, err
	}
	p, err := safepath.Resolve(f.root, filepath.FromSlash(slash))
	if err != nil && !errors.As(err, new(*safepath.OutsideError)) {
		err = cannotRead(slash, err)
	}
	return p.Path, err
}

// below returns the readable folder that contains an absolute path, and the rest of the path.
func (f *Files) below(name string) (root, rest string, ok bool) {
	for _, root := range append([]string{f.root}, f.roots...) {
		if rest, err := filepath.Rel(root, filepath.Clean(name)); err == nil && filepath.IsLocal(rest) {
			return root, rest, true
		}
	}
	return "", "", false
}

// Read returns the content of a text file. The file must be in the workspace or in one of the other folders of
// NewFiles.
func (f *Files) Read(name string) (string, error) {
	f.Note(name) // also unreadable files, because try() continues without them
	slash, _, err := f.place(name)
	if err != nil {
		return "", err
	}
	root, inside := f.root, filepath.FromSlash(slash)
	if filepath.IsAbs(name) { // plans put the text into commands, keys and logs
		var ok bool
		if root, inside, ok = f.below(name); !ok {
			return "", fmt.Errorf("%s is outside the workspace; declare the file as an input of a step",
				slash)
		}
	}
	host, err := safepath.Resolve(root, inside)
	if errors.As(err, new(*safepath.OutsideError)) {
		return "", err
	}
	if err != nil {
		return "", cannotRead(slash, err)
	}
	in, err := os.OpenFile(host.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for a pipe
	if err != nil {
		return "", cannotRead(slash, err)
	}
	defer in.Close()
	switch info, err := in.Stat(); {
	case err != nil:
		return "", cannotRead(slash, err)
	case info.IsDir():
		return "", fmt.Errorf("%s is a folder; use the function fileset to list its files", slash)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", slash)
	}
	b, err := boundedfile.ReadAll(in, slash, maxFile)
	var large *boundedfile.LargeError
	switch {
	case errors.As(err, &large):
		return "", fmt.Errorf("%s is larger than %d MiB; declare the file as an input of a step", slash, maxFile>>20)
	case err != nil:
		return "", cannotRead(slash, err)
	case !utf8.Valid(b):
		return "", fmt.Errorf("%s is not UTF-8 text; declare the file as an input of a step", slash)
	}
	return string(b), nil
}

// Open opens a file or folder for a kind of step. The kind must also call Note. Open rejects special files such as
// pipes, because opening them would block. Errors contain the name as the caller wrote it.
func (f *Files) Open(name string) (fs.File, error) {
	host, err := f.real(name)
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
		return fmt.Errorf("%s does not exist; correct the path (relative paths start in the workspace)", slash)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("cannot read %s: %w", slash, err)
}

// List returns the files below dir that match the patterns. The result is sorted, and each path is a slash path that
// starts with dir.
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
			return nil, fmt.Errorf("invalid pattern %q; use a pattern such as \"**/*.cpp\", relative to the folder",
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
	real, err := f.real(dir)
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
		return nil, fmt.Errorf("%s is a file, not a folder; use the function file to read the file", slash)
	}
	seen := make(map[string]bool)
	from := os.DirFS(host)
	if !filepath.IsAbs(dir) {
		if from, err = fs.Sub(safepath.FS(f.root), slash); err != nil {
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
				return fmt.Errorf("more than %d files match; use a narrower pattern", maxFileset)
			}
			return nil
		}, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", slash, err)
		}
	}
	found := slices.Sorted(maps.Keys(seen))
	g := plan.Glob{Dir: slash, Patterns: patterns, Found: found, Dirs: slices.Sorted(maps.Keys(watched.dirs))}
	f.mu.Lock()
	f.globs[globKey(g)] = g
	f.mu.Unlock()
	return found, nil
}
