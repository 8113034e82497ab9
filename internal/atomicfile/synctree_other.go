//go:build !linux

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// SyncTree syncs a folder with all its content, so that everything survives a crash.
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
		return syncFile(p)
	})
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
