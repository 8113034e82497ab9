package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The two folders of a store's root for what is not done yet.
const (
	NewFiles   = "new" // files that are being written: they keep to themselves, see Spread
	NewFolders = "tmp" // exec roots, trees
)

// Scratch makes the folder root, if it is not there, with its folders for what is not done yet, and removes from them what
// dead processes left there more than age ago. In a store that cannot be written to, whose folders are there, it does nothing.
func Scratch(root string, age time.Duration) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	for _, name := range []string{NewFiles, NewFolders} {
		dir := filepath.Join(root, name)
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			Spread(root) // so that dir has a place of its own
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("create %s: %w", dir, err)
			}
			Spread(dir)
		}
		if err := Sweep(dir, age); err != nil {
			return &fs.PathError{Op: "clean", Path: dir, Err: err}
		}
	}
	return nil
}
