// Package adb is a client of the adb server: the program that owns the USB and TCP links to Android devices.
//
// It speaks the server's own protocol over a socket (requests framed by four hexadecimal digits, then shell v2), and can
// run a private server so that nobody else's server is touched. Whatever a server or a device answers is bounded: a
// reply that breaks the protocol ends the operation with an error that wraps ErrProtocol.
//
// It does not know what is pushed or run, nor which device is meant; it does not speak the link protocol between server and device,
// and it holds no keys: the server does both.
package adb
