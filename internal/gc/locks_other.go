//go:build !unix

package gc

import "errors"

// unsupported reports whether the file system has no locks.
func unsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

func free(string) bool { return false }
