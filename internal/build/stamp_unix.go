//go:build unix

package build

import (
	"os"
	"syscall"
)

func stamp(path string) (fileStamp, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return fileStamp{}, err
	}
	s := fileStamp{Size: st.Size(), MTime: st.ModTime().UnixNano()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s.Inode, s.CTime = sys.Ino, ctime(sys)
	}
	return s, nil
}
