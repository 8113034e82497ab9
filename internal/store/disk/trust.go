package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// permOf returns the mode of the blobs' files of a kind.
func permOf(kind layout.Kind) fs.FileMode {
	if kind == layout.Executables {
		return 0o555
	}
	return 0o444
}

// trusted reports whether hexmage may link a blob's file with this stamp without hashing it. The file must have the
// size, mode and time that the store set. A program that writes to the file, even through a hard link, has to make it
// writable first and changes the time. To hide the write, it would have to restore time and mode. In the strict sandbox
// an action cannot: before it changes the mode or time of a linked input, it gets a copy (sandbox.Access.Shared). If
// the kernel cannot supervise system calls, actions get copies of all inputs.
func trusted(d digest.Digest, kind layout.Kind, st stat.Stamp) bool {
	perm := fs.FileMode(st.Mode & 0o7777)
	return st.IsRegular() && st.Size == d.Size() && perm == permOf(kind) && st.MTime == store.LinkTime().UnixNano()
}

// check returns nil if the blob is in the store, and ErrNotFound if it is missing or corrupt.
func (s *Blobs) check(ctx context.Context, d digest.Digest) error {
	if err := s.recovered(ctx); err != nil {
		return err
	}
	st, err := stat.Lstat(s.Path(d))
	if err == nil && trusted(d, layout.Blobs, st) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", d, store.ErrNotFound)
	}
	f, err := s.sound(ctx, d)
	if err != nil {
		return err
	}
	return f.Close()
}

// sound returns the blob's file at its start. It hashes a file that is not trusted: something wrote to it, or another
// program, such as Bazel, put it there.
func (s *Blobs) sound(ctx context.Context, d digest.Digest) (*os.File, error) {
	if err := s.recovered(ctx); err != nil {
		return nil, err
	}
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	if err := s.verify(ctx, d, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (s *Blobs) verify(ctx context.Context, d digest.Digest, f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	if trusted(d, layout.Blobs, stat.Of(st)) {
		return nil
	}
	if err := s.hashed(ctx, d, f); err != nil {
		return err
	}
	// Trust the file next time. This fails for a file of another user, so hexmage hashes such a file each time.
	if now, err := f.Stat(); err == nil && now.ModTime().Equal(st.ModTime()) {
		_ = atomicfile.SetFile(f, permOf(layout.Blobs), store.LinkTime())
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// hashed reads the blob's file, and quarantines it if it is corrupt.
func (s *Blobs) hashed(ctx context.Context, d digest.Digest, f *os.File) error {
	err := store.Copy(ctx, io.Discard, f, d)
	if errors.Is(err, store.ErrCorrupt) {
		return s.corrupt(d, f)
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	return nil
}

// corrupt quarantines the blob's file, open as f, and returns an error that is both store.ErrNotFound and
// store.ErrCorrupt.
func (s *Blobs) corrupt(d digest.Digest, f *os.File) error {
	if err := s.quarantine(d, f); err != nil {
		return err
	}
	return fmt.Errorf("blob %s: %w; hexmage moved it to damaged/, so it is %w", d, store.ErrCorrupt, store.ErrNotFound)
}

// quarantine moves the blob's file, open as f, to damaged/, and removes the executable copy. If another process has
// put a good file in its place since f was opened, the good one stays.
func (s *Blobs) quarantine(d digest.Digest, f *os.File) error {
	path := s.Path(d)
	mine, err := f.Stat()
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(mine, now) {
		return nil
	}
	_ = os.Remove(s.file(layout.Executables, d))
	to := layout.Root(s.root).Quarantine("", d)
	err = atomicfile.Rename(path, to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have moved it
		return fmt.Errorf("blob %s: %w, and hexmage cannot move the blob to damaged/: %w", d, store.ErrCorrupt, err)
	}
	return nil
}
