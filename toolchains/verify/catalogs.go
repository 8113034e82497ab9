package verify

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/qnn/catalogfile"
)

// catalogs compares libraries with the catalogs beside them, in which their maker has signed them for Windows: a skel's has its digest, for every system. (Of a DLL a
// catalog has another digest than that of the whole file.)
func (t *tree) catalogs() {
	for _, name := range t.glob("**/*.cat") {
		c, err := t.catalog(name)
		if errors.Is(err, catalogfile.ErrOther) || c == nil && err == nil {
			continue
		}
		if err != nil {
			t.add(name, err.Error(), "a catalog of files", again)
			continue
		}
		beside := t.glob(literal(path.Dir(name)) + "/*.so")
		for _, m := range c.Members {
			for _, file := range beside {
				if m.SHA256 == "" || !strings.EqualFold(path.Base(file), m.Name) {
					continue
				}
				t.report.Checked.Signed++
				if got, err := hexOf(filepath.Join(t.root, filepath.FromSlash(file))); err != nil || got != m.SHA256 {
					t.add(file, "another file", "the one that its maker has signed in "+name, "it was changed, or is of another release: get the SDK again; Windows does not load it")
				}
			}
		}
	}
}

// catalog reads one; nil for a file that is none.
func (t *tree) catalog(name string) (*catalogfile.Catalog, error) {
	f, err := openFile(filepath.Join(t.root, filepath.FromSlash(name)))
	if err != nil || f == nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, 16)
	if _, err := f.ReadAt(head, 0); err != nil || !catalogfile.Is(head) {
		return nil, nil
	}
	return catalogfile.Read(f, info.Size())
}

func hexOf(name string) (string, error) {
	f, err := openFile(name)
	if err == nil && f == nil {
		err = errNoFile
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}
