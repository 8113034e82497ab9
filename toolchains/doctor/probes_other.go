//go:build !linux

package doctor

import (
	"errors"
	"runtime"
)

var errNotHere = errors.New("not checked on this system")

// System returns the probes of this machine, which find no devices.
func System() Probes {
	return Probes{OS: runtime.GOOS, Arch: runtime.GOARCH, Root: "/", Processors: runtime.NumCPU(),
		Sandbox: func() (Sandbox, error) { return Sandbox{}, errNotHere }, Namespaces: func() error { return errNotHere },
		Free: func(string) (int64, error) { return 0, errNotHere }}
}
