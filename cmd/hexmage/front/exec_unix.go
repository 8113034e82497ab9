//go:build unix

package front

import (
	"os"
	"syscall"
)

// Become becomes the engine, with the same arguments. It returns only what went wrong.
func (e Env) Become(args []string) (int, error) {
	return 0, &os.PathError{Op: "run", Path: e.Self, Err: syscall.Exec(e.Self, args, e.Vars)}
}
