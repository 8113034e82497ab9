//go:build !linux

package front

import "syscall"

// AskedToEnd is not used here.
const AskedToEnd = syscall.SIGTERM

// Limited does nothing here: what it does is only known for Linux.
func Limited([]string, *Env) (code int, ok bool) { return 0, false }

// InChild does nothing here.
func InChild(args []string, _ *Env) ([]string, bool) { return args, false }

func lowLimits() bool { return false }

func memory() int64 { return 0 }
