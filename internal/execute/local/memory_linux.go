package local

import "golang.org/x/sys/unix"

// inMemory tells whether files in the folder are never written to a disk, but for swapping.
func inMemory(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Type == unix.TMPFS_MAGIC
}
