package relock

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

const maxLicence = 16 << 20 // bytes of a text

// licences names the texts in a tree that say under which licence it is.
func licences(dir string) ([]toolchains.Licence, error) {
	var out []toolchains.Licence
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !pypi.IsLicence(filepath.ToSlash(name)) {
			return err
		}
		if len(out) == pypi.MaxLicences {
			return fs.SkipAll
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		h := sha256.New()
		n, err := io.Copy(h, io.LimitReader(f, maxLicence+1))
		if err = errors.Join(err, f.Close()); err != nil || n > maxLicence {
			return err
		}
		out = append(out, toolchains.Licence{Path: filepath.ToSlash(name), SHA256: fmt.Sprintf("%x", h.Sum(nil))})
		return nil
	})
	return out, err
}
