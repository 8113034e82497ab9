//go:build !unix

package gc

import "errors"

// unsupported tells whether the error says that the file system has no locks.
func unsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

func free(string) bool { return false }
