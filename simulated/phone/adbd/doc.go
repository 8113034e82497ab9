// Package adbd is the device side of adb: the daemon that a phone runs, serving shells, file transfers (both versions, with zstd; questions
// about files in the second alone, which it announces) and forwarded sockets over TCP links.
//
// It serves the file system that its process sees as "/", so it is to be run inside the simulated device. It knows nothing of namespaces,
// images or emulation; it asks for no authentication and offers no reverse forwarding and no interactive terminal.
package adbd
