//go:build !linux

package local

import (
	"os"
	"time"
)

// entries returns the names in an open folder.
func entries(dir *os.File, _ int) ([]string, error) {
	again, err := os.Open(dir.Name())
	if err != nil {
		return nil, err
	}
	defer again.Close()
	return again.Readdirnames(-1)
}

// setTime sets the modification time of an open folder.
func setTime(dir *os.File, _ int, t time.Time) error {
	return os.Chtimes(dir.Name(), time.Time{}, t)
}
