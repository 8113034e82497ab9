//go:build !linux

package doctor

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
)

var errNotHere = errors.New("not looked at on this system")

// System returns the probes of this machine; those of devices and the network are for the caller to add.
func System() Probes {
	return Probes{OS: runtime.GOOS, Arch: runtime.GOARCH, Root: "/", Processors: runtime.NumCPU(),
		Sandbox: func() (Sandbox, error) { return Sandbox{}, errNotHere }, Namespaces: func() error { return errNotHere },
		Free: func(dir string) (int64, string, error) { return 0, dir, errNotHere },
		Output: func(ctx context.Context, program string, args ...string) (string, error) {
			b, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
			return string(b), err
		}}
}
