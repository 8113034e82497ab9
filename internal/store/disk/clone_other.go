//go:build !linux

package disk

import (
	"errors"
	"os"
)

func cloneFile(dst, src *os.File) (forever bool, err error) { return true, errors.ErrUnsupported }
