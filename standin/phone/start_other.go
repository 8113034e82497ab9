//go:build !linux

package phone

import (
	"context"
	"io"
	"os"
	"runtime"
	"time"
)

// Emulator is a device that runs, on Linux.
type Emulator struct{}

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

// Addr returns "".
func (e *Emulator) Addr() string { return "" }

// Serialno returns "".
func (e *Emulator) Serialno() string { return "" }

// Done returns nil.
func (e *Emulator) Done() <-chan struct{} { return nil }

// Unplug says that there is no emulator here.
func (e *Emulator) Unplug(time.Duration) error { return unsupported() }

// Reboot says that there is no emulator here.
func (e *Emulator) Reboot() error { return unsupported() }

// Close does nothing.
func (e *Emulator) Close() error { return nil }
