// Package adbd is the device side of adb: the daemon that a phone runs. It serves shells (version 2), file transfers
// (version 1; questions about files in version 2) and forwarded sockets over TCP links.
//
// It serves the file system that its process sees as "/", so it is to be run inside the simulated device. It knows nothing of namespaces,
// images or emulation; it asks for no authentication and offers no reverse forwarding, compression or interactive terminal.
package adbd
