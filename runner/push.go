package runner

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Push puts files into a folder of the device, which is an absolute path; what is there under the same names is replaced. Contents that
// the device has are not sent. The files are the store's own, as far as the folder is on its file system: a program that writes to one
// has its content sent again. report, if not nil, is told of bytes that moved.
func (s *Session) Push(ctx context.Context, dir string, files map[string]File, report func(done, total int64)) (Pushed, error) {
	if !path.IsAbs(dir) || strings.ContainsAny(dir, "\n\r\\") || strings.TrimSpace(dir) != dir {
		return Pushed{}, fmt.Errorf("%q is no folder for a device: want an absolute path", dir)
	}
	q := RunRequest{Files: files, Args: []string{"true"}}
	if err := q.check(); err != nil {
		return Pushed{}, err
	}
	id, err := newID()
	if err != nil {
		return Pushed{}, err
	}
	st := s.store(id, report)
	sums, err := s.ensure(ctx, st, files)
	if err != nil {
		return st.pushed, err
	}
	var list strings.Builder
	for _, d := range slices.Sorted(maps.Keys(folders(files))) {
		fmt.Fprintf(&list, "d - %s\n", d)
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		// As for a program: a link into the store would break when the store is cleared.
		fmt.Fprintf(&list, "x %s %s\n", sums[p], p)
	}
	return st.pushed, st.place(ctx, dir, list.String())
}

// store is the device's, for one session with that name.
func (s *Session) store(id string, progress func(done, total int64)) *store {
	return &store{dev: s.Device, held: s.Held, sums: s.Sums, id: id, wait: s.Wait, progress: progress}
}

// ensure has the device have the files' contents.
func (s *Session) ensure(ctx context.Context, st *store, files map[string]File) (sums map[string]string, err error) {
	blobs, sums, err := s.hash(ctx, files)
	if err != nil {
		return nil, err
	}
	if err := st.ensure(ctx, blobs); err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	return sums, nil
}

// hash finds the SHA-256 of every file, and the distinct contents. Each is read once at most.
func (s *Session) hash(ctx context.Context, files map[string]File) (blobs map[string]blob, sums map[string]string, err error) {
	blobs, sums = map[string]blob{}, map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f := files[p]
		sum, r, err := s.Sums.read(ctx, f)
		if err != nil {
			return nil, nil, fmt.Errorf("push %s: %w", p, err)
		}
		sums[p] = sum
		if have, ok := blobs[sum]; ok && have.recipe != nil {
			continue
		}
		blobs[sum] = blob{sum: sum, size: f.Size, open: f.Open, recipe: r}
	}
	return blobs, sums, nil
}

// folders returns the folders of files.
func folders(files map[string]File) map[string]bool {
	all := map[string]bool{}
	for p := range files {
		all[path.Dir(p)] = true
	}
	return all
}
