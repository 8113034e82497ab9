package stat

import "syscall"

func fromSys(sys any) (Stamp, bool) {
	st, ok := sys.(*syscall.Stat_t)
	if !ok {
		return Stamp{}, false
	}
	return Stamp{Dev: uint64(st.Dev), Inode: st.Ino, Size: st.Size, MTime: st.Mtimespec.Nano(),
		CTime: st.Ctimespec.Nano(), Mode: uint32(st.Mode)}, true
}
