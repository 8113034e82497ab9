//go:build unix

package local

import "syscall"

// endGroup tells all processes of the group to end, or ends them at once. That none is left is not an error.
func endGroup(pgid int, atOnce bool) {
	sig := syscall.SIGTERM
	if atOnce {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-pgid, sig)
}
