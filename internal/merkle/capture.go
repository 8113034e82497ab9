package merkle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// captureFiles is the number of files that Capture stores at once. They wait for the disk more than for a processor.
const captureFiles = 16

// Capture stores the outputs at the given slash paths relative to the folder execRoot. It returns the outputs in the
// order of paths, and omits missing paths. For a folder, Capture also stores the Directory and Tree messages. If the
// store is Local, Capture moves the files into the store, so the caller must no longer use the files in execRoot. If an
// output is itself a symlink, Capture stores the target, which must be in execRoot. Symlinks inside an output folder
// stay symlinks, and must not lead out of that folder.
func Capture(ctx context.Context, blobs store.Blobs, fn digest.Function, execRoot string,
	paths []string) ([]action.OutputFile, []action.OutputDir, error) {
	c := &capturer{blobs: blobs, fn: fn, root: execRoot}
	all := make([]found, len(paths))
	taken := map[string]*found{} // by resolved path
	var folders []*found
	for i, p := range paths {
		f := &all[i]
		var err error
		if f.full, f.stamp, err = c.resolve(p); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue // the command may have replaced a folder by a file
		} else if err != nil {
			return nil, nil, fmt.Errorf("output %s: %w", p, err)
		}
		f.there = true
		if f.same = taken[f.full]; f.same != nil {
			continue
		}
		taken[f.full] = f
		if f.stamp.IsDir() {
			folders = append(folders, f)
		}
	}
	// Resolve all paths before moving the first file. Then copy outputs inside an output folder before moving the
	// folder's files.
	for _, f := range taken {
		f.inside = slices.ContainsFunc(folders, func(dir *found) bool {
			return strings.HasPrefix(f.full, dir.full+string(filepath.Separator))
		})
	}
	for _, inside := range []bool{true, false} {
		for i, p := range paths {
			if f := &all[i]; f.there && f.same == nil && f.inside == inside {
				if err := c.take(ctx, f); err != nil {
					return nil, nil, fmt.Errorf("output %s: %w", p, err)
				}
			}
		}
	}
	var files []action.OutputFile
	var dirs []action.OutputDir
	for i, p := range paths {
		f := &all[i]
		if !f.there {
			continue
		}
		if f.same != nil {
			f = f.same
		}
		if f.stamp.IsDir() {
			dirs = append(dirs, action.OutputDir{Path: p, Root: f.dir.Root, Tree: f.dir.Tree})
		} else {
			files = append(files, action.OutputFile{Path: p, Digest: f.file, Executable: f.stamp.Executable()})
		}
	}
	return files, dirs, nil
}

// found is the file or folder at an output's path.
type found struct {
	there  bool
	full   string // without symlinks
	stamp  stat.Stamp
	same   *found // an earlier output with the same resolved path
	inside bool   // inside another output, a folder
	file   digest.Digest
	dir    action.OutputDir
}

type capturer struct {
	blobs store.Blobs
	fn    digest.Function
	root  string
}

// take stores it.
func (c *capturer) take(ctx context.Context, f *found) (err error) {
	switch {
	case f.stamp.IsDir():
		f.dir, err = captureDir(ctx, c.blobs, c.fn, f.full, f.inside)
	case !f.stamp.IsRegular():
		err = &UnfitError{"",
			fmt.Errorf("output is neither a file nor a folder (type %#o); make the command write a file "+
				"or a folder", f.stamp.Mode&^0o7777)}
	case f.inside:
		f.file, err = store.PutFile(ctx, c.blobs, c.fn, f.full)
	default:
		f.file, err = store.Adopt(ctx, c.blobs, c.fn, f.full)
	}
	return err
}

// resolve resolves symlinks on the way to p and at p. It rejects paths outside the exec root.
func (c *capturer) resolve(p string) (full string, st stat.Stamp, err error) {
	names, err := split(p)
	if err != nil || len(names) == 0 {
		return "", stat.Stamp{}, errors.Join(err, errors.New("the output path must be inside the exec root"))
	}
	full = c.root
	for _, name := range names {
		full += string(filepath.Separator) + name
		if st, err = stat.Lstat(full); err != nil {
			break
		}
		if st.IsSymlink() {
			full, st, err = c.follow(names)
			break
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return full, st, err
	}
	return "", stat.Stamp{}, &UnfitError{"", err} // a loop of links, or a folder that its owner may not read
}

// follow resolves the path of the names, which has a symlink.
func (c *capturer) follow(names []string) (string, stat.Stamp, error) {
	root, err := filepath.EvalSymlinks(c.root)
	if err != nil {
		return "", stat.Stamp{}, err
	}
	full, err := filepath.EvalSymlinks(filepath.Join(append([]string{root}, names...)...))
	if err != nil {
		return "", stat.Stamp{}, err
	}
	rel, ok := strings.CutPrefix(full, root+string(filepath.Separator))
	if !ok {
		return "", stat.Stamp{}, fmt.Errorf("the symlink leaves the exec root and points to %s", full)
	}
	full = filepath.Join(c.root, rel) // one spelling for one place
	st, err := stat.Lstat(full)
	return full, st, err
}

func captureDir(ctx context.Context, blobs store.Blobs, fn digest.Function, dir string,
	copied bool) (action.OutputDir, error) {
	d, err := Scan(ctx, func(p string, _ stat.Stamp) (digest.Digest, error) {
		if copied {
			return store.PutFile(ctx, blobs, fn, p)
		}
		return store.Adopt(ctx, blobs, fn, p)
	}, dir, ScanOptions{Parallel: captureFiles})
	if err != nil {
		return action.OutputDir{}, err
	}
	message, err := d.EncodeTree(fn)
	if err != nil {
		return action.OutputDir{}, err
	}
	tree := fn.Bytes(message)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return blobs.Put(gctx, tree, bytes.NewReader(message)) })
	root, err := d.Put(ctx, blobs, fn)
	return action.OutputDir{Tree: tree, Root: root}, errors.Join(err, g.Wait())
}
