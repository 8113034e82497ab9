//go:build !linux

package worker

import (
	"context"
	"errors"
	"os"

	"github.com/hexmage/hexmage/internal/stat"
)

// Worker cannot run commands, because this system is not Linux.
type Worker struct{}

// Start always returns an error, because workers need Linux.
func Start(string, string, *os.File) (*Worker, error) {
	return nil, errors.New("actions run only on Linux; on Windows, use WSL")
}

// Usable returns false.
func (*Worker) Usable() bool { return false }

// Close does nothing.
func (*Worker) Close() {}

// Run returns an error.
func (*Worker) Run(context.Context, <-chan struct{}, *Command, *os.File, func([]byte), func([]byte)) (*Ended, error) {
	return nil, errors.ErrUnsupported
}

// Main does nothing.
func Main(string, func(stat.Stamp) bool) {}

// End does nothing.
func End(...string) {}
