package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// writable adds what to do to the error of a cache folder that cannot be written to.
func (a *app) writable(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return engine(fmt.Errorf("%w: make the cache %s writable, or choose another folder with HEXMAGE_CACHE", err, a.cache))
	}
	return err
}
