package local

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// entries returns the names in an open folder, whose descriptor is fd.
func entries(dir *os.File, fd int) ([]string, error) {
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
		return nil, &os.PathError{Op: "seek", Path: dir.Name(), Err: err}
	}
	var names []string
	var buf [4096]byte
	for {
		n, err := unix.Getdents(fd, buf[:])
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: dir.Name(), Err: err}
		}
		if n == 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names) // not all, however much room is left: a signal makes the kernel return early
	}
}

// setTime sets the modification time of an open folder, whose descriptor is fd.
func setTime(_ *os.File, fd int, t time.Time) error {
	ts := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(t.UnixNano())}
	return unix.UtimesNanoAt(fd, ".", ts[:], 0)
}
