package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/durable"
)

// Link implements cas.Linker. A blob whose file is damaged, by its size or, where something wrote to it, by its content,
// is moved away and not found.
func (s *Store) Link(ctx context.Context, d digest.Digest, path string, executable bool) error {
	perm := fs.FileMode(0o444)
	if executable {
		perm = 0o555
	}
	if !s.noClone.Load() {
		src, err := s.sound(ctx, d)
		if err != nil {
			return err
		}
		err = durable.WriteProgram(func() error { return s.clone(src, path, perm) })
		src.Close()
		if err == nil || !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	from, err := s.source(ctx, d, executable)
	if err != nil {
		return err
	}
	if err = link(from, path); err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("link %s: %w", d, err)
	}
	// Another file system, too many links, or a blob that another user owns.
	if !executable {
		return s.copyTo(ctx, d, path, perm)
	}
	return durable.WriteProgram(func() error { return s.copyTo(ctx, d, path, perm) })
}

// link is os.Link that bears with another goroutine or process putting the same blob in place meanwhile: that replaces the
// file by one with the same content, and the kernel will not link to a file that has just lost its last name.
func link(from, path string) error {
	var err error
	for range 100 {
		if err = os.Link(from, path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, gone := os.Lstat(from); gone != nil {
			return err
		}
		if _, gone := os.Lstat(filepath.Dir(path)); gone != nil {
			return err
		}
	}
	return err
}

// source returns the file to hard-link from.
func (s *Store) source(ctx context.Context, d digest.Digest, executable bool) (string, error) {
	blob := s.Path(d)
	if !executable {
		return blob, s.check(ctx, d)
	}
	path := s.path(d, "exec")
	if st, err := os.Lstat(path); err == nil && st.Mode() == 0o555 && st.Size() == d.Size() && s.trusted(path, st) {
		return path, s.check(ctx, d)
	}
	f, err := s.sound(ctx, d)
	if err != nil {
		return "", err
	}
	defer f.Close()
	err = durable.WriteProgram(func() error { return s.write(ctx, d, f, path, 0o555) })
	if errors.Is(err, cas.ErrCorrupt) {
		if err = s.damaged(d, f); err == nil {
			err = fmt.Errorf("blob %s: its file was damaged and is removed: %w", d, cas.ErrNotFound)
		}
	}
	return path, err
}

// clone makes path a reflink of src, or fails with errors.ErrUnsupported and leaves nothing.
func (s *Store) clone(src *os.File, path string, perm fs.FileMode) error {
	dst, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	forever, err := cloneFile(dst, src)
	if err != nil {
		if forever {
			s.noClone.Store(true)
		}
		dst.Close()
		os.Remove(path)
		return err
	}
	return finish(dst, perm)
}

// finish gives a file that was just written its mode and time, and closes it; on failure it is removed.
func finish(f *os.File, perm fs.FileMode) error {
	err := f.Chmod(perm)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chtimes(f.Name(), time.Time{}, Mtime())
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// copyTo makes path a copy of the blob. The copy is not hashed: on Linux the kernel makes it.
func (s *Store) copyTo(ctx context.Context, d digest.Digest, path string, perm fs.FileMode) error {
	src, err := s.sound(ctx, d)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("copy %s: %w", d, err)
	}
	if n, err := io.Copy(dst, src); err != nil || n != d.Size() {
		dst.Close()
		os.Remove(path)
		return fmt.Errorf("copy %s to %s: %d bytes: %w", d, path, n, errors.Join(err, context.Cause(ctx)))
	}
	return finish(dst, perm)
}

// Adopt implements cas.Adopter: the file becomes the blob by a hard link, without copying. It is copied instead when it
// already has several names (one of them may be written to later) or is on another file system.
func (s *Store) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	d, err := s.adopt(ctx, fn, path)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("take %s into the store: %w", path, err)
	}
	return d, nil
}

func (s *Store) adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return digest.Digest{}, err
	}
	if !st.Mode().IsRegular() {
		return digest.Digest{}, fmt.Errorf("not a regular file but %s", st.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(st, opened) {
		return digest.Digest{}, errors.Join(err, errors.New("it was replaced while being read"))
	}
	d, err := fn.Reader(f)
	if err != nil {
		return digest.Digest{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return digest.Digest{}, err
	}
	if err := s.check(ctx, d); !errors.Is(err, cas.ErrNotFound) {
		return d, err
	}
	if links(st) == 1 {
		if err := s.linkIn(d, f); err == nil {
			return d, nil
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return digest.Digest{}, err
	}
	return d, s.write(ctx, d, f, s.Path(d), 0o444)
}

// linkIn makes the open file f the blob d.
func (s *Store) linkIn(d digest.Digest, f *os.File) error {
	if err := f.Chmod(0o444); err != nil {
		return err
	}
	if err := os.Chtimes(f.Name(), time.Time{}, unsynced()); err != nil {
		return err
	}
	// Linked under a temporary name first: a link cannot replace a damaged blob of that name, a rename can.
	tmp := filepath.Join(s.tmp(), durable.TempName("adopt")+d.Hex())
	if err := os.Link(f.Name(), tmp); err != nil {
		return err
	}
	if err := durable.Rename(tmp, s.Path(d)); err != nil {
		os.Remove(tmp)
		return err
	}
	s.placed(s.Path(d))
	return nil
}
