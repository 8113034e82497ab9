//go:build !linux

package atomicfile

import (
	"os"
	"time"
)

// setTime sets the modification time of an open file.
func setTime(f *os.File, mtime time.Time) error { return os.Chtimes(f.Name(), time.Time{}, mtime) }
