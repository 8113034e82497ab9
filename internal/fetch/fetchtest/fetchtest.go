// Package fetchtest caches files that tests download, in the user's cache folder.
//
// Tests call Folder. The package does not know the content or the source of a download.
package fetchtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Dir returns the folder in which tests cache downloads.
func Dir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil { // no home folder: normal for some users of build machines
		base = filepath.Join(os.TempDir(), fmt.Sprintf("hexmage-%d", os.Getuid()))
	}
	dir := filepath.Join(base, "hexmage-test")
	return dir, os.MkdirAll(dir, 0o755)
}

// Folder returns the path of the named folder in the test cache. If the folder is missing, Folder calls fill with the
// path, and fill must create the complete folder with a single rename. If several processes need the folder, only the
// first process calls fill.
func Folder(t testing.TB, name string, fill func(folder string) error) string {
	t.Helper()
	dir, err := Dir()
	at := filepath.Join(dir, name)
	if err == nil {
		err = Fill(at, filepath.Join(dir, name+".lock"), fill)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return at
}

// Fill is like Folder, for a folder outside the test cache. The parameter lock is the path of a lock file. This file
// ensures that only one process at a time calls fill.
func Fill(folder, lock string, fill func(folder string) error) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	unlock, err := lockedfile.MutexAt(lock).Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(folder); err == nil { // another process was first
		return nil
	}
	return fill(folder)
}
