package verify

import (
	"errors"
	"os"

	"github.com/hexmage/hexmage/internal/elffile"
)

var errNoFile = errors.New("not a regular file")

// openFile opens a regular file. What is none is not opened: a pipe would never end. A folder is no error: the file is nil.
func openFile(name string) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, nil
	case !info.Mode().IsRegular():
		return nil, errNoFile
	}
	return os.Open(name)
}

// openELF opens an ELF file; the caller calls done.
func openELF(name string) (e *elffile.File, done func(), err error) {
	f, err := openFile(name)
	if err != nil {
		return nil, nil, err
	}
	if f == nil {
		return nil, nil, errNoFile
	}
	info, err := f.Stat()
	if err == nil {
		e, err = elffile.Open(f, info.Size())
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return e, func() { _ = f.Close() }, nil
}
