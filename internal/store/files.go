package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// LinkTime is the modification time of what Link makes. It is the same for all blobs: an action must not see when its
// inputs were laid out, nor tools take them for newer than what they made. And as any write sets another, it tells of
// writes.
func LinkTime() time.Time { return time.Unix(1_000_000_000, 0) }

// MayBeLink tells whether a file with that stamp may be one that Link made: it has the mode and time of such files.
func MayBeLink(st stat.Stamp) bool {
	return st.IsRegular() && st.Mode&0o222 == 0 && st.MTime == LinkTime().UnixNano()
}

// Link makes path, which must not exist, hold the blob, read-only for its owner: as a Local does it, else as a
// verified copy.
func Link(ctx context.Context, blobs Blobs, d digest.Digest, path string, executable bool) error {
	perm := fs.FileMode(0o444)
	if executable {
		perm = 0o555
	}
	if l, ok := blobs.(Local); ok {
		if err := l.Link(ctx, d, path, perm); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return CopyFile(ctx, blobs, d, path, perm)
}

// CopyFile makes path, which must not exist, a verified copy of the blob that shares nothing with the store. A
// read-only one has the LinkTime. A large writable file is copied by the Local, which need not hash it again.
func CopyFile(ctx context.Context, blobs Blobs, d digest.Digest, path string, perm fs.FileMode) error {
	write := func() error { return copyFile(ctx, blobs, d, path, perm) }
	if perm&0o111 != 0 {
		return atomicfile.WriteProgram(write)
	}
	return write()
}

func copyFile(ctx context.Context, blobs Blobs, d digest.Digest, path string, perm fs.FileMode) error {
	return newFile(path, func(f *os.File) error {
		if l, ok := blobs.(Local); ok && d.Size() >= MinRef && perm&0o222 != 0 {
			if err := l.Link(ctx, d, path, perm); !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
			if err := f.Truncate(0); err != nil {
				return err
			}
		}
		r, err := blobs.Open(ctx, d)
		if err != nil {
			return err
		}
		defer r.Close()
		return fill(ctx, f, r, d, perm)
	})
}

// writeFile makes path a file with the content of r, which must be what d says.
func writeFile(ctx context.Context, r io.Reader, d digest.Digest, path string, perm fs.FileMode) error {
	return newFile(path, func(f *os.File) error { return fill(ctx, f, r, d, perm) })
}

// fill gives an empty file the content of r, which must be what d says.
func fill(ctx context.Context, f *os.File, r io.Reader, d digest.Digest, perm fs.FileMode) error {
	if err := Copy(ctx, f, r, d); err != nil {
		return err
	}
	if perm&0o222 == 0 {
		return atomicfile.SetFile(f, perm, LinkTime())
	}
	return f.Chmod(perm)
}

// newFile makes a file that fill fills. When that fails there is none.
func newFile(path string, fill func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(fill(f), f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// Adopt brings the regular file at path into the store, as a Local does it, else by PutFile. Nobody may write to the
// file afterwards, or look for it there.
func Adopt(ctx context.Context, blobs Blobs, fn digest.Function, path string) (digest.Digest, error) {
	if l, ok := blobs.(Local); ok {
		if d, err := l.Adopt(ctx, fn, path); !errors.Is(err, errors.ErrUnsupported) {
			return d, err
		}
	}
	return PutFile(ctx, blobs, fn, path)
}

// PutFile stores a copy of the regular file at path.
func PutFile(ctx context.Context, blobs Blobs, fn digest.Function, path string) (digest.Digest, error) {
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return digest.Digest{}, err
	}
	defer f.Close()
	d, err := fn.Reader(f)
	if err != nil {
		return digest.Digest{}, err
	}
	if missing, err := blobs.Missing(ctx, []digest.Digest{d}); err != nil || len(missing) == 0 {
		return d, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return digest.Digest{}, err
	}
	if err := blobs.Put(ctx, d, f); err != nil {
		return digest.Digest{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return d, nil
}
