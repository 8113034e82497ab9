//go:build !linux

package phone

import (
	"context"
	"io"
	"os"
	"runtime"
)

// Start always returns an UnsupportedError, because the simulated phone needs Linux.
func Start(context.Context, Options) (*Device, error) { return nil, unsupported() }

// Init always returns an UnsupportedError, because the simulated phone needs Linux.
func Init(io.Reader, io.Writer, *os.File) error { return unsupported() }

func unsupported() error {
	return &UnsupportedError{
		What:   "the simulated phone needs Linux namespaces, this is " + runtime.GOOS,
		Remedy: "use a phone (--serial), or run this step on Linux",
	}
}
