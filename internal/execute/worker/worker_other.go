//go:build !linux

package worker

import (
	"context"
	"errors"
	"os"

	"github.com/hexmage/hexmage/internal/stat"
)

// Worker runs nothing.
type Worker struct{}

// Start fails.
func Start(string, string, *os.File) (*Worker, error) {
	return nil, errors.New("actions run on Linux only; on Windows use WSL")
}

// Usable is false.
func (*Worker) Usable() bool { return false }

// Close does nothing.
func (*Worker) Close() {}

// Run fails.
func (*Worker) Run(context.Context, <-chan struct{}, *Command, *os.File, func([]byte), func([]byte)) (*Ended, error) {
	return nil, errors.ErrUnsupported
}

// Main does nothing.
func Main(string, func(stat.Stamp) bool) {}

// End does nothing.
func End(...string) {}
