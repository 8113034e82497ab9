//go:build !unix

package atomicfile

import "os"

// SyncDir makes the names in dir survive a crash, as far as the system can: elsewhere than on Unix a folder has no
// sync.
func SyncDir(dir string) error { return nil }

// Alive tells whether a process of that id runs on this machine, as far as this process can see.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
