package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Securebits of capabilities(7): root's user id brings no capabilities, at execve or when it is set, permanently.
const secureBits = 1<<0 | 1<<1 | 1<<2 | 1<<3

// dropPrivileges drops all capabilities of the thread but CAP_CHOWN. Then modes of files hold for root too: the inputs
// of an action are read-only files of the store. As root, tar fails to unpack without CAP_CHOWN.
func dropPrivileges() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have, want [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return err
	}
	if have[0].Permitted|have[1].Permitted == 0 {
		return nil
	}
	if have[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0); err != nil {
			return err
		}
	}
	keep := have[0].Permitted & (1 << unix.CAP_CHOWN)
	want[0] = unix.CapUserData{Effective: keep, Permitted: keep, Inheritable: keep}
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)),
		uintptr(unsafe.Pointer(&want[0])), 0); errno != 0 {
		return errno
	}
	if keep == 0 {
		return nil
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_CHOWN, 0, 0)
}
