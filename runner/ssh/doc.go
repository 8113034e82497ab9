// Package ssh reaches boards: computers with Linux that take commands over ssh.
//
// The way in is Dial, a Board. It is believed to be the board when its host key is among those that the user knows, and it is asked with the user's keys, of
// files or of an agent; passwords are not known here. Whatever a board answers is bounded by who reads it. The package knows ssh; it does not know what is run.
package ssh
