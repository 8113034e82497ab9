package atomicfile

import (
	"errors"
	"io/fs"
)

// unfit is the error of OpenRegular for what it does not open.
func unfit(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
}
