package gc

import (
	"context"
	"os"

	"github.com/hexmage/hexmage/internal/store/layout"
)

// Tidy removes from the cache folder the scratch folders that killed builds left, which may be large, and what earlier versions of
// hexmage remembered, unless another build runs. It tells whether there was any of the latter. A build calls it before Use; what cannot
// be removed does no harm. end is called with the scratch folders before: it ends processes that are still at work in them.
func Tidy(ctx context.Context, root string, end func(dirs ...string)) (obsolete bool) {
	r := layout.Root(root)
	runs, _ := r.Runs()
	if obsolete, _ = r.HasObsolete(); len(runs) == 0 && !obsolete {
		return false
	}
	if pids, err := running(root); err != nil || len(pids) > 0 {
		return false // without asking for the lock, which would take a while
	}
	done, err := UseAlone(ctx, root)
	if err != nil {
		return false
	}
	defer done()
	var left []string
	for _, run := range runs {
		left = append(left, run.Path)
	}
	if len(left) > 0 {
		end(left...)
	}
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
	return obsolete && r.RemoveObsolete() == nil
}
