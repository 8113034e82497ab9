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

// Link implements store.Local. It checks only the mode and the modification time of the blob's file, not the content.
// If the mode or time is wrong, the error wraps store.ErrNotFound and store.ErrCorrupt.
func (s *Blobs) Link(ctx context.Context, d digest.Digest, path string, executable bool) error {
	perm := fs.FileMode(0o444)
	if executable {
		perm = 0o555
	}
	if !s.noClone.Load() {
		src, err := s.sound(ctx, d)
		if err != nil {
			return err
		}
		clone := func() error { return s.clone(src, d, path, perm) }
		if executable {
			err = atomicfile.WriteProgram(clone)
		} else {
			err = clone()
		}
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
	// The link failed: another file system, too many links, or a blob of another user.
	if !executable {
		return s.copyTo(ctx, d, path, perm)
	}
	return atomicfile.WriteProgram(func() error { return s.copyTo(ctx, d, path, perm) })
}

// link makes a hard link. It retries if another process replaces the blob by an equal file meanwhile: the kernel cannot
// link to a file that has just lost its last name.
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

// forked returns when every process that this process was starting has called exec. Until then, that process holds the
// files that were open for writing, and the kernel refuses to run such a file.
func forked() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// clone makes path a reflink of src, or fails with errors.ErrUnsupported and leaves nothing.
func (s *Blobs) clone(src *os.File, d digest.Digest, path string, perm fs.FileMode) error {
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
	return finish(dst, src, d, perm)
}

// finish gives a copy of src its mode and time, and closes it. After an error, the copy is removed. If a program writes
// to src, the error is errors.ErrUnsupported.
func finish(f, src *os.File, d digest.Digest, perm fs.FileMode) error {
	info, err := src.Stat()
	if err == nil && !trusted(d, layout.Blobs, stat.Of(info)) {
		err = errors.ErrUnsupported
	}
	if err == nil {
		err = atomicfile.SetFile(f, perm, store.LinkTime())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return err
}

// copyTo makes path a copy of the blob. It does not hash the copy: on Linux, the kernel copies.
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
		return fmt.Errorf("copy blob %s to %s: failed after %d bytes: %w", d, path, n,
			errors.Join(err, context.Cause(ctx)))
	}
	return finish(dst, src, d, perm)
}
