//go:build unix

package atomicfile

import (
	"io/fs"
	"syscall"
)

// Links returns the number of hard links to the file.
func Links(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Nlink)
	}
	return 0
}
