package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Link implements store.Local. It trusts a blob by its mode and time. If the blob is corrupt, the error is both
// store.ErrNotFound and store.ErrCorrupt.
func (s *Blobs) Link(ctx context.Context, d digest.Digest, path string, perm fs.FileMode) error {
	if perm&0o222 != 0 {
		return s.copyOut(ctx, d, path, perm)
	}
	executable := perm&0o111 != 0
	if !s.noClone.Load() {
		src, err := s.sound(ctx, d)
		if err != nil {
			return err
		}
		err = atomicfile.WriteProgram(func() error { return s.clone(src, path, perm) })
		src.Close()
		if err == nil || !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	from, err := s.source(ctx, d, executable)
	if err != nil {
		return err
	}
	if err = s.link(from, path); err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("link %s: %w", d, err)
	}
	// Another file system, too many links, or a blob that another user owns.
	if !executable {
		return s.copyTo(ctx, d, path, perm)
	}
	return atomicfile.WriteProgram(func() error { return s.copyTo(ctx, d, path, perm) })
}

// link is a hard link that bears with another goroutine or process putting the same blob in place meanwhile: that
// replaces the file by one with the same content, and the kernel will not link to a file that has just lost its last
// name.
func (s *Blobs) link(from, path string) error {
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

// source returns the path of the file to hard-link from.
func (s *Blobs) source(ctx context.Context, d digest.Digest, executable bool) (string, error) {
	if err := s.check(ctx, d); err != nil || !executable {
		return s.Path(d), err
	}
	file := s.file(layout.Executables, d)
	if st, err := stat.Lstat(file); err == nil && trusted(d, layout.Executables, st) {
		return file, nil
	}
	f, err := s.sound(ctx, d)
	if err != nil {
		return "", err
	}
	defer f.Close()
	err = s.write(ctx, d, f, layout.Executables)
	if errors.Is(err, store.ErrCorrupt) {
		err = s.corrupt(d, f)
	}
	if err == nil {
		forked()
	}
	return file, err
}

// forked returns when every process that this one was starting has its own program. Until then it holds the files
// that were open for writing, and the kernel runs no program whose file is.
func forked() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// clone makes path a reflink of src, or fails with errors.ErrUnsupported and leaves nothing.
func (s *Blobs) clone(src *os.File, path string, perm fs.FileMode) error {
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
	err := atomicfile.SetFile(f, perm, store.LinkTime())
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return err
}

// copyTo makes path a copy of the blob. The copy is not hashed: on Linux the kernel makes it.
func (s *Blobs) copyTo(ctx context.Context, d digest.Digest, path string, perm fs.FileMode) error {
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

// copyOut is Link for a file that the user may write to. It copies without hashing only what this process has hashed.
func (s *Blobs) copyOut(ctx context.Context, d digest.Digest, path string, perm fs.FileMode) error {
	src, err := s.sound(ctx, d)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if st, serr := dst.Stat(); serr != nil || !st.Mode().IsRegular() || st.Size() > 0 {
		err = errors.Join(serr, fs.ErrExist) // it is not what the caller has made
	} else {
		err = s.contents(ctx, dst, src, d)
	}
	info, serr := src.Stat()
	if err == nil && (serr != nil || !trusted(d, layout.Blobs, stat.Of(info))) { // a program writes to it
		err = errors.ErrUnsupported
	}
	if err == nil {
		err = dst.Chmod(perm)
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return fmt.Errorf("copy %s to %s: %w", d, path, err)
	}
	return nil
}

// copyPart is how many bytes are copied before it is looked whether the copy is still wanted.
const copyPart = 32 << 20

// contents gives dst, which is empty, the content of src: by reflink, else by a copy that the kernel makes.
func (s *Blobs) contents(ctx context.Context, dst, src *os.File, d digest.Digest) error {
	if !s.noClone.Load() {
		forever, err := cloneFile(dst, src)
		if err == nil {
			return nil
		}
		if forever {
			s.noClone.Store(true)
		}
	}
	for n := int64(0); n < d.Size(); {
		k, err := io.CopyN(dst, src, min(copyPart, d.Size()-n)) // by copy_file_range, on Linux
		if n += k; err == io.EOF {
			return fmt.Errorf("%d bytes of it: %w", n, errors.ErrUnsupported)
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
	}
	return nil
}
