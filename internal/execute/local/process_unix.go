//go:build unix && !linux

package local

import "syscall"

// processAttributes puts a command into a process group of its own. Outside Linux it outlives a hexmage that was killed.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
