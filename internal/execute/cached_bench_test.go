package execute_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/disk"
)

// What a build without work spends on lookups: sixty actions, of which two made toolchains of 10,000 files.
func BenchmarkLookup60(b *testing.B) {
	root := b.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		b.Fatal(err)
	}
	results, err := disk.NewResults(root)
	if err != nil {
		b.Fatal(err)
	}
	trees := merkle.NewTrees(root)
	actions := make([]*action.Action, 60)
	for i := range actions {
		work := filepath.Join(b.TempDir(), "root")
		files := 3
		if i < 2 {
			files = 10_000
		}
		for f := range files {
			p := filepath.Join(work, "out", fmt.Sprintf("d%02d", f%100), fmt.Sprint(f))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(p, fmt.Appendf(nil, "%d %d", i, f), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		_, dirs, err := merkle.Capture(b.Context(), blobs, fn, work, []string{"out"})
		if err != nil {
			b.Fatal(err)
		}
		if i < 2 {
			if _, err := trees.Path(b.Context(), blobs, dirs[0].Root); err != nil {
				b.Fatal(err)
			}
		}
		actions[i] = &action.Action{Command: action.Command{Args: []string{"cc", fmt.Sprint(i)},
			Outputs: []string{"out"}}, InputRoot: fn.Bytes(nil)}
		if err := results.Put(b.Context(), actions[i].Key(fn), &action.Result{Dirs: dirs}, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := blobs.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x := execute.Cached(nil, execute.CacheOptions{Results: results, Blobs: blobs, Fn: fn, Installed: trees.Has})
		for _, a := range actions {
			if _, ok, err := execute.Lookup(b.Context(), x, &execute.Request{Action: a}); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
	}
}
