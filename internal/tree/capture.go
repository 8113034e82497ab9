package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
)

// captureFiles is how many files are brought into the store at once. They wait for the disk more than for a processor.
const captureFiles = 16

// Capture brings the outputs at the slash paths under the folder execRoot into the store, with their Directory and Tree
// messages, and returns them in the order of paths. A path where nothing is, is left out. Files are moved into the store
// where it is a cas.Adopter: afterwards nobody may write to them. A symlink counts as what it leads to if that is in
// execRoot, else it is an error; inside a folder, symlinks are kept, and must not lead out of that folder.
func Capture(ctx context.Context, store cas.Store, fn digest.Function, execRoot string, paths []string) ([]action.OutputFile, []action.OutputDir, error) {
	root, err := filepath.EvalSymlinks(execRoot)
	if err != nil {
		return nil, nil, err
	}
	var files []action.OutputFile
	var dirs []action.OutputDir
	for _, p := range paths {
		full, st, err := resolve(root, p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("output %s: %w", p, err)
		}
		switch {
		case st.IsDir():
			d, err := captureDir(ctx, store, fn, full)
			if err != nil {
				return nil, nil, fmt.Errorf("output %s: %w", p, err)
			}
			d.Path = p
			dirs = append(dirs, d)
		case st.Mode().IsRegular():
			dg, err := adopt(ctx, store, fn, full)
			if err != nil {
				return nil, nil, fmt.Errorf("output %s: %w", p, err)
			}
			files = append(files, action.OutputFile{Path: p, Digest: dg, Executable: st.Mode()&0o111 != 0})
		default:
			return nil, nil, fmt.Errorf("output %s is neither file nor folder but %s", p, st.Mode().Type())
		}
	}
	return files, dirs, nil
}

// resolve follows symlinks on the way to p and at p, and refuses what is outside root.
func resolve(root, p string) (string, fs.FileInfo, error) {
	names, err := split(p)
	if err != nil || len(names) == 0 {
		return "", nil, errors.Join(err, errors.New("it must be a path inside the exec root"))
	}
	full, err := filepath.EvalSymlinks(filepath.Join(append([]string{root}, names...)...))
	if err != nil {
		return "", nil, err
	}
	if !strings.HasPrefix(full, root+string(filepath.Separator)) {
		return "", nil, fmt.Errorf("a symlink leads out of the exec root to %s", full)
	}
	st, err := os.Lstat(full)
	return full, st, err
}

func captureDir(ctx context.Context, store cas.Store, fn digest.Function, dir string) (action.OutputDir, error) {
	d, err := Scan(ctx, hasher(func(p string, _ fs.FileInfo) (digest.Digest, error) {
		return adopt(ctx, store, fn, p)
	}), dir, ScanOptions{Parallel: captureFiles})
	if err != nil {
		return action.OutputDir{}, err
	}
	message, err := d.EncodeTree(fn)
	if err != nil {
		return action.OutputDir{}, err
	}
	tree := fn.Bytes(message)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return store.Put(gctx, tree, bytes.NewReader(message)) })
	root, err := d.Put(ctx, store, fn)
	return action.OutputDir{Tree: tree, Root: root}, errors.Join(err, g.Wait())
}

// adopt brings one regular file into the store.
func adopt(ctx context.Context, store cas.Store, fn digest.Function, file string) (digest.Digest, error) {
	if a, ok := store.(cas.Adopter); ok {
		d, err := a.Adopt(ctx, fn, file)
		if !errors.Is(err, errors.ErrUnsupported) {
			return d, err
		}
	}
	f, err := os.Open(file)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	d, err := fn.Reader(f)
	if err != nil {
		return digest.Digest{}, err
	}
	if missing, err := store.Missing(ctx, []digest.Digest{d}); err != nil || len(missing) == 0 {
		return d, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return digest.Digest{}, err
	}
	if err := store.Put(ctx, d, f); err != nil {
		return digest.Digest{}, fmt.Errorf("%s: %w", path.Base(file), err)
	}
	return d, nil
}
