// Package fetchtest keeps what tests download from run to run, in the user's cache folder.
//
// It knows neither what is downloaded nor from where. Folder is the way in.
package fetchtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Dir returns the folder for what tests keep.
func Dir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil { // no home folder, as for some users of build machines
		base = filepath.Join(os.TempDir(), fmt.Sprintf("hexmage-%d", os.Getuid()))
	}
	dir := filepath.Join(base, "hexmage-test")
	return dir, os.MkdirAll(dir, 0o755)
}

// Folder returns one of the folders there. The first process that asks for it fills it: fill gets the folder, which
// is not there yet, and has it appear whole, by a rename.
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

// Fill is Folder for a folder anywhere, with the file through which processes agree who fills it.
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
