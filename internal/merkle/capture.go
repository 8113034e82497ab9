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

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// captureFiles is how many files are brought into the store at once. They wait for the disk more than for a
// processor.
const captureFiles = 16

// Capture brings the outputs at the slash paths under the folder execRoot into the store, with their Directory and
// Tree messages, and returns them in the order of paths. A path where nothing is, is left out. Files are moved into
// the store where it is store.Local: afterwards nobody may write to them or look for them. A symlink counts as what
// it leads to if that is in execRoot, else it is an error; inside a folder, symlinks are kept, and must not lead out
// of that folder.
func Capture(ctx context.Context, blobs store.Blobs, fn digest.Function, execRoot string,
	paths []string) ([]action.OutputFile, []action.OutputDir, error) {
	c := &capturer{blobs: blobs, fn: fn, root: execRoot, folders: map[string]bool{}}
	all := make([]found, len(paths))
	taken := map[string]*found{} // by place
	var folders []*found
	for i, p := range paths {
		f := &all[i]
		var err error
		if f.full, f.stamp, err = c.resolve(p); errors.Is(err, fs.ErrNotExist) {
			continue
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
	// All places are known before the first file is moved away; and what is also part of an output folder is copied
	// before the folder's files are.
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

// found is what is at an output's path.
type found struct {
	there  bool
	full   string // without symlinks
	stamp  stat.Stamp
	same   *found // an earlier output at the same place
	inside bool   // another output, a folder
	file   digest.Digest
	dir    action.OutputDir
}

type capturer struct {
	blobs   store.Blobs
	fn      digest.Function
	root    string
	real    string          // root without symlinks, when it was needed
	folders map[string]bool // slash paths below root that are folders and no symlinks
}

// take brings it into the store.
func (c *capturer) take(ctx context.Context, f *found) (err error) {
	switch {
	case f.stamp.IsDir():
		f.dir, err = captureDir(ctx, c.blobs, c.fn, f.full, f.inside)
	case !f.stamp.IsRegular():
		err = &UnfitError{"", fmt.Errorf("it is neither file nor folder (its type is %#o): let the command write a "+
			"file or a folder", f.stamp.Mode&^0o7777)}
	case f.inside:
		f.file, err = store.PutFile(ctx, c.blobs, c.fn, f.full)
	default:
		f.file, err = store.Adopt(ctx, c.blobs, c.fn, f.full)
	}
	return err
}

// resolve follows symlinks on the way to p and at p, and refuses what is outside the exec root.
func (c *capturer) resolve(p string) (string, stat.Stamp, error) {
	names, err := split(p)
	if err != nil || len(names) == 0 {
		return "", stat.Stamp{}, errors.Join(err, errors.New("it must be a path inside the exec root"))
	}
	// As a rule there are no symlinks: then one look at each new folder on the way is enough.
	at, plain := c.root, true
	for i, name := range names[:len(names)-1] {
		at += string(filepath.Separator) + name
		if key := strings.Join(names[:i+1], "/"); !c.folders[key] {
			st, err := stat.Lstat(at)
			if err != nil {
				return "", stat.Stamp{}, err
			}
			if plain = st.IsDir(); !plain {
				break
			}
			c.folders[key] = true
		}
	}
	if plain {
		full := at + string(filepath.Separator) + names[len(names)-1]
		if st, err := stat.Lstat(full); err != nil || !st.IsSymlink() {
			return full, st, err
		}
	}
	if c.real == "" {
		if c.real, err = filepath.EvalSymlinks(c.root); err != nil {
			return "", stat.Stamp{}, err
		}
	}
	full, err := filepath.EvalSymlinks(filepath.Join(append([]string{c.real}, names...)...))
	if err != nil {
		return "", stat.Stamp{}, err
	}
	rel, ok := strings.CutPrefix(full, c.real+string(filepath.Separator))
	if !ok {
		return "", stat.Stamp{}, &UnfitError{"", fmt.Errorf("a symlink leads out of the exec root to %s", full)}
	}
	full = filepath.Join(c.root, rel) // one name for one place
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
