//go:build !unix

package atomicfile

import "os"

// SyncDir does nothing, because only Unix can sync a folder.
func SyncDir(dir string) error { return nil }

// Alive reports whether a process with this ID runs on this machine, as far as the current process can see.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
