package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// copyOut is Link for who wants to write to the file: by reflink, else by a copy that the kernel makes.
func (s *Blobs) copyOut(d digest.Digest, path string, perm fs.FileMode) error {
	if !s.proofs.own(d) {
		return fmt.Errorf("copy %s without a look at it: %w", d, errors.ErrUnsupported)
	}
	src, err := os.Open(s.Path(d))
	if err != nil {
		return fmt.Errorf("copy %s: %w: %w", d, err, errors.ErrUnsupported)
	}
	defer src.Close()
	if !s.unmodified(d, src) {
		return fmt.Errorf("copy %s without a look at it: %w", d, errors.ErrUnsupported)
	}
	dst, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = s.contents(dst, src, d)
	if err == nil && !s.unmodified(d, src) { // something wrote to it meanwhile
		err = errors.ErrUnsupported
	}
	if err == nil {
		err = dst.Chmod(perm)
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("copy %s to %s: %w", d, path, err)
	}
	return nil
}

// contents gives dst the content of src.
func (s *Blobs) contents(dst, src *os.File, d digest.Digest) error {
	if !s.noClone.Load() {
		forever, err := cloneFile(dst, src)
		if err == nil {
			return nil
		}
		if forever {
			s.noClone.Store(true)
		}
	}
	n, err := io.Copy(dst, src) // by copy_file_range, on Linux
	if err == nil && n != d.Size() {
		err = fmt.Errorf("%d bytes of it: %w", n, errors.ErrUnsupported)
	}
	return err
}

// unmodified tells whether nothing wrote to the blob's file, open as f, since it was hashed.
func (s *Blobs) unmodified(d digest.Digest, f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st := stat.Of(info)
	return st.IsRegular() && st.Size == d.Size() && s.trusted(layout.Name(layout.Blobs, d), st)
}
