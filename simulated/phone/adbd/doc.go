// Package adbd is a phone's adb daemon, the device side of adb. Over TCP links it serves shells (version 2), file
// transfers (version 1; stat and list in version 2) and forwarded sockets.
//
// The daemon serves the root file system of its process, so it must run inside the simulated device. It does not know
// namespaces, images or emulation. It does not support authentication, reverse forwarding, compression or interactive
// terminals.
package adbd
