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

// Usable always returns false, because workers need Linux.
func (*Worker) Usable() bool { return false }

// Close does nothing, because workers need Linux.
func (*Worker) Close() {}

// Run always returns an error, because workers need Linux.
func (*Worker) Run(context.Context, <-chan struct{}, *Command, *os.File, func([]byte), func([]byte)) (*Ended, error) {
	return nil, errors.ErrUnsupported
}

// Main does nothing, because workers need Linux.
func Main(string, func(stat.Stamp) bool) {}

// End does nothing, because workers need Linux.
func End(...string) {}
