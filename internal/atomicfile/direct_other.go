//go:build !linux

package atomicfile

import (
	"context"
	"errors"
	"os"
)

// CopyDirect copies what it can directly of src to dst: nothing on this system.
func CopyDirect(context.Context, *os.File, *os.File, int64) (int64, error) { return 0, nil }

// Unnamed makes a file that has no name yet: on this system there are none.
func Unnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// GiveName gives an Unnamed file a name.
func GiveName(*os.File, string) error { return errors.ErrUnsupported }

// StartWrite has the kernel begin to write to the disk what it has in memory of the file. It does nothing on this system.
func StartWrite(*os.File) {}

// Free returns how many bytes the file system that the file is on has for this user: it is not known.
func Free(*os.File) (int64, error) { return 0, errors.ErrUnsupported }
