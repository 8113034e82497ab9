//go:build unix && !linux

package atomicfile

import (
	"io/fs"
	"syscall"
)

// links returns how many names the file has.
func links(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Nlink)
	}
	return 0
}
