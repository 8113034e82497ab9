package merkle

import (
	"io/fs"
	"syscall"
)

// identify returns which file info is of, and its stamp.
func identify(info fs.FileInfo) (fileID, stamp, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}, false
	}
	return fileID{uint64(st.Dev), st.Ino}, stamp{st.Size, st.Mtimespec.Nano(), st.Ctimespec.Nano()}, true
}
