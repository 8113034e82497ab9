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
	st := &store{dev: s.Device, id: id, wait: s.Wait, progress: report}
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

// folders returns the folders of files.
func folders(files map[string]File) map[string]bool {
	all := map[string]bool{}
	for p := range files {
		all[path.Dir(p)] = true
	}
	return all
}
