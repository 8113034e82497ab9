package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// TestNoDownloads: without a folder for downloads a checkout leaves nothing behind.
func TestNoDownloads(t *testing.T) {
	dir, commit := project(t)
	at, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	t.Chdir(at)
	o := git.Options{Spec: git.Spec{URL: serve(t, dir, "") + "/main", Commit: commit}, Machine: fetch.Machine{}}
	if err := git.Checkout(t.Context(), o, out); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(at); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
