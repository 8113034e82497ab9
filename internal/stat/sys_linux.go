package stat

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func fromSys(sys any) (Stamp, bool) {
	st, ok := sys.(*syscall.Stat_t)
	if !ok {
		return Stamp{}, false
	}
	return Stamp{Dev: uint64(st.Dev), Inode: st.Ino, Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(),
		Mode: st.Mode}, true
}

// FromUnix converts the result of the system call stat or lstat to a Stamp.
func FromUnix(st *unix.Stat_t) Stamp {
	return Stamp{Dev: uint64(st.Dev), Inode: st.Ino, Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(),
		Mode: st.Mode}
}
