package sources

import (
	"io"
	"os"
	"path/filepath"
)

// copyFile makes out a copy of name; out appears when it is whole.
func copyFile(name, out string, mode os.FileMode) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := os.CreateTemp(filepath.Dir(out), ".copy-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, in)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(f.Name(), mode)
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), out)
}
