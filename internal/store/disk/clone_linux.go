package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile makes dst share src's extents. It fails with errors.ErrUnsupported if that is impossible; forever reports
// that the file system never supports it.
func cloneFile(dst, src *os.File) (forever bool, err error) {
	for {
		switch err = unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())); {
		case err == nil:
			return false, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EXDEV), errors.Is(err, unix.ETXTBSY), errors.Is(err, unix.EPERM):
			return false, fmt.Errorf("reflink: %w: %w", err, errors.ErrUnsupported)
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EINVAL),
			errors.Is(err, unix.ENOSYS):
			return true, fmt.Errorf("reflink: %w: %w", err, errors.ErrUnsupported)
		default:
			return false, fmt.Errorf("reflink: %w", err)
		}
	}
}
