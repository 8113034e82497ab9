package adb

import (
	"fmt"
	"os"
	"path/filepath"
)

// shortPath returns a path of the socket that fits into an address, however long its folder's is, and a function to call when it has
// been used.
func shortPath(socket string) (string, func(), error) {
	if len(socket) <= maxSocketPath {
		return socket, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)), func() { dir.Close() }, nil
}
