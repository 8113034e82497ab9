//go:build !unix

package ssh

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
