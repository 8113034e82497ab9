//go:build !linux

package cli

import "syscall"

// askedToEnd is not used here.
const askedToEnd = syscall.SIGTERM

// limited does nothing here: what it does is only known for Linux.
func limited([]string, *Env) (code int, ok bool) { return 0, false }

func inChild(args []string, _ *Env) ([]string, bool) { return args, false }
