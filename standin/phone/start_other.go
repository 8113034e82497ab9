//go:build !linux

package phone

import (
	"context"
	"io"
	"os"
	"runtime"
)

// Start says that there is no emulator here.
func Start(context.Context, Options) (*Emulator, error) { return nil, unsupported() }

// Init says that there is no emulator here.
func Init(io.Reader, io.Writer, *os.File) error { return unsupported() }

func unsupported() error {
	return &UnsupportedError{
		What:   "the emulated phone needs Linux namespaces, this is " + runtime.GOOS,
		Remedy: "use a phone (--serial), or run this step on Linux",
	}
}
