//go:build !linux

package durable

import (
	"io/fs"
	"os"
	"path/filepath"
)

// SyncTree makes a folder and all in it survive a crash.
func SyncTree(dir string) error {
	return filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return SyncDir(p)
		case !e.Type().IsRegular():
			return nil
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	})
}
