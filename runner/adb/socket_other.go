//go:build !linux

package adb

import "fmt"

// shortPath refuses what does not fit into an address: there is no way around it here.
func shortPath(socket string) (string, func(), error) {
	if len(socket) > maxSocketPath {
		return "", nil, fmt.Errorf("the socket's path %s is %d bytes long, %d are possible: give a folder with a shorter path", socket, len(socket), maxSocketPath)
	}
	return socket, func() {}, nil
}
