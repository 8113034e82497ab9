package atomicfile

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime sets the modification time of an open file, whose name may be another file's by now.
func setTime(f *os.File, mtime time.Time) error {
	ts := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(mtime.UnixNano())}
	if _, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, f.Fd(), 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0); errno != 0 {
		return os.NewSyscallError("utimensat", errno)
	}
	return nil
}
