package atomicfile

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Package unix puts each name that it gives to the system into memory of its own, and a cold action takes some twenty such calls. Here most names have room on the
// stack of who calls, as in package stat.

const shortName = 256 // bytes, with the zero at the end

// cName is the name as the system takes it, in room if it is short.
func cName(room *[shortName]byte, name string) (*byte, error) {
	if len(name) >= shortName || strings.IndexByte(name, 0) >= 0 {
		return unix.BytePtrFromString(name)
	}
	room[copy(room[:], name)] = 0
	return &room[0], nil
}

// openat is unix.Openat until it is not interrupted.
func openat(dir int, name string, flags int, perm uint32) (int, error) {
	var room [shortName]byte
	p, err := cName(&room, name)
	if err != nil {
		return -1, err
	}
	for {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags|unix.O_LARGEFILE), uintptr(perm), 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR:
		default:
			return -1, errno
		}
	}
}

// unlinkat is unix.Unlinkat until it is not interrupted.
func unlinkat(dir int, name string, flags int) error {
	var room [shortName]byte
	p, err := cName(&room, name)
	if err != nil {
		return err
	}
	for {
		_, _, errno := unix.Syscall(unix.SYS_UNLINKAT, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags))
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}
