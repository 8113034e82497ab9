package executetest_test

import (
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
)

func open(t *testing.T) executetest.Setup {
	t.Helper()
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	x := local.New(local.Options{Dir: filepath.Join(root, "tmp"), Store: blobs, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3})
	return executetest.Setup{Executor: x, Store: blobs, Fn: digest.BLAKE3, Alive: executetest.ProcessAlive}
}

func TestLocal(t *testing.T) { executetest.Run(t, open) }

func TestCachedLocal(t *testing.T) {
	executetest.Run(t, func(t *testing.T) executetest.Setup {
		s := open(t)
		s.Executor = execute.Cached(s.Executor, memory.NewResults(), s.Store, s.Fn, nil)
		return s
	})
}
