// Package adb is a client of the adb server, the program that owns the USB and TCP links to Android devices. It speaks
// the server's socket protocol, limits the size of every answer, and can run a private server beside the user's. It
// does not interpret files or commands. The server handles the device's link protocol and keys.
package adb
