package gc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Tidy removes the scratch folders that killed builds left in the cache folder, which may be large, unless another build
// runs. A build calls it before Use; what cannot be removed does no harm. end is called with the folders before: it ends processes that are
// still at work in them.
func Tidy(ctx context.Context, root string, end func(dirs ...string)) {
	tmp := filepath.Join(root, "tmp")
	var left []string
	entries, _ := readDir(tmp)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "run-") {
			left = append(left, filepath.Join(tmp, e.Name()))
		}
	}
	if len(left) == 0 {
		return
	}
	if pids, err := running(root); err != nil || len(pids) > 0 {
		return // without asking for the lock, which would take a while
	}
	done, err := Alone(ctx, root)
	if err != nil {
		return
	}
	defer done()
	end(left...)
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
}
