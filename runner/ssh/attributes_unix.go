//go:build unix

package ssh

import "syscall"

// attributes keep a terminal's Ctrl-C from the client: what a run leaves on a board is removed through it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
