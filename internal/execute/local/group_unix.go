//go:build unix

package local

import "syscall"

// endGroup tells all processes of the group to end, or ends them at once: then also the one that made it, which may
// be in another by now and has not been waited for. That none is left is not an error. Numbers are used as what as
// makes of them.
func endGroup(pgid int, atOnce bool, as func(int) int) {
	sig := syscall.SIGTERM
	if atOnce {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(as(-pgid), sig)
	if atOnce {
		_ = syscall.Kill(as(pgid), sig)
	}
}
