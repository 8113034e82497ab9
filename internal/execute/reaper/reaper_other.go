//go:build !linux

package reaper

import (
	"io"
	"os"
)

// Reaper does nothing: other systems do not tell what a process was started by.
type Reaper struct{}

// New starts nothing.
func New([]string, string, *os.File) (*Reaper, error) { return &Reaper{}, nil }

// Pid is no process's.
func (*Reaper) Pid() int { return 0 }

// Stop does nothing.
func (*Reaper) Stop() {}

// Wait does nothing.
func (*Reaper) Wait() {}

// Main does nothing.
func Main(io.Reader, string) {}

// End does nothing.
func End(...string) {}
