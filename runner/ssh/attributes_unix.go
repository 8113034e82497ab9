//go:build unix

package ssh

import "syscall"

// attributes keep a terminal's Ctrl-C from the client, which hexmage needs to clean up on the board.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
