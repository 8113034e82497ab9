package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncTree syncs a folder with all its content, so that everything survives a crash. It syncs the whole file system in
// one call, because this is much faster.
func SyncTree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
