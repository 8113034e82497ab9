//go:build !linux || !(amd64 || arm64 || riscv64)

package stat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// folder is what relative paths start from.
type folder struct{ root string }

func openRoot(root string) (folder, error) { return folder{root}, nil }

func (f folder) close() {}

func (f folder) prober() *prober { return &prober{root: f.root} }

// prober asks for one file after another.
type prober struct{ root string }

func (l *prober) lstat(path string, s *Stamp) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.root, path)
	}
	st, err := Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	*s = st
	return err
}

// Lstat returns the Stamp of what is at path; of nothing, the zero Stamp and an error that is fs.ErrNotExist.
func Lstat(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	return Of(info), nil
}
