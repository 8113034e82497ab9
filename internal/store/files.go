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

// LinkTime returns the modification time of all files that Link makes. The time is constant, so actions do not see the
// age of inputs, and tools never consider an input newer than an output. Writing to a file changes the time.
func LinkTime() time.Time { return time.Unix(1_000_000_000, 0) }

// MayBeLink reports whether a stamp has the mode and time of a file that Link made.
func MayBeLink(st stat.Stamp) bool {
	return st.IsRegular() && st.Mode&0o222 == 0 && st.MTime == LinkTime().UnixNano()
}

// Link creates a read-only file at path with the content of the blob. The path must not exist. Link calls Local.Link if
// possible. Otherwise it writes a verified copy.
func Link(ctx context.Context, blobs Blobs, d digest.Digest, path string, executable bool) error {
	if l, ok := blobs.(Local); ok {
		if err := l.Link(ctx, d, path, executable); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	perm := fs.FileMode(0o444)
	if executable {
		perm = 0o555
	}
	return CopyFile(ctx, blobs, d, path, perm)
}

// CopyFile writes a verified copy of the blob to path. The path must not exist. The copy shares no content with the
// store. A read-only copy has the modification time LinkTime. For a large writable file, CopyFile makes a link and
// copies from the link, so it need not hash the content.
func CopyFile(ctx context.Context, blobs Blobs, d digest.Digest, path string, perm fs.FileMode) error {
	write := func(to func() error) error { return to() }
	if perm&0o111 != 0 {
		write = atomicfile.WriteProgram
	}
	if l, ok := blobs.(Local); ok && d.Size() >= MinRef && perm&0o222 != 0 {
		err := write(func() error { return copyLink(ctx, l, d, path, perm) })
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	r, err := blobs.Open(ctx, d) // may start a program that gives the login to a server
	if err != nil {
		return err
	}
	defer r.Close()
	return write(func() error {
		return newFile(path, func(f *os.File) error { return fill(ctx, f, r, d, perm) })
	})
}

// copyLink is CopyFile by Link. If a program writes to the blob meanwhile, the error is errors.ErrUnsupported.
func copyLink(ctx context.Context, l Local, d digest.Digest, path string, perm fs.FileMode) error {
	if err := l.Link(ctx, d, path, false); err != nil {
		return err
	}
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err == nil && atomicfile.Links(info) == 1 { // a reflink or a copy
		now := time.Now()
		return errors.Join(os.Chtimes(path, now, now), os.Chmod(path, perm))
	}
	if err = errors.Join(err, os.Remove(path)); err != nil {
		return err
	}
	return newFile(path, func(f *os.File) error {
		for n := int64(0); n < d.Size(); {
			k, err := io.CopyN(f, src, min(copyPart, d.Size()-n)) // by copy_file_range, on Linux
			if n += k; err == io.EOF {
				return fmt.Errorf("%d bytes: %w", n, errors.ErrUnsupported)
			}
			if err = errors.Join(err, context.Cause(ctx)); err != nil {
				return err
			}
		}
		if info, err := src.Stat(); err != nil || info.Size() != d.Size() || !MayBeLink(stat.Of(info)) {
			return errors.Join(err, errors.ErrUnsupported)
		}
		return f.Chmod(perm)
	})
}

// copyPart is the number of bytes that copyLink copies before it looks whether the copy is still wanted.
const copyPart = 32 << 20

// fill writes the content of r, which must match d, to an empty file.
func fill(ctx context.Context, f *os.File, r io.Reader, d digest.Digest, perm fs.FileMode) error {
	if err := Copy(ctx, f, r, d); err != nil {
		return err
	}
	if perm&0o222 == 0 {
		return atomicfile.SetFile(f, perm, LinkTime())
	}
	return f.Chmod(perm)
}

// newFile makes a file and calls fill to write it. After an error it removes the file.
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

// Adopt stores the regular file at path. It calls Local.Adopt if possible, otherwise PutFile. Local.Adopt may remove
// the file from path. After the call, no program may write to the file.
func Adopt(ctx context.Context, blobs Blobs, fn digest.Function, path string) (digest.Digest, error) {
	if l, ok := blobs.(Local); ok {
		if d, err := l.Adopt(ctx, fn, path); !errors.Is(err, errors.ErrUnsupported) {
			return d, err
		}
	}
	return PutFile(ctx, blobs, fn, path)
}

// PutFile copies the regular file at path into the store.
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
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return digest.Digest{}, err
	}
	if err := blobs.Put(ctx, d, f); err != nil {
		return digest.Digest{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return d, nil
}
