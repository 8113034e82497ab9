package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// unsynced is the modification time of blobs until they are synced.
func unsynced() time.Time { return store.LinkTime().Add(store.UnsyncedAfter) }

// placed notes that the blob's file of a kind, cas or exec, is right, and has it synced later, which its time then tells.
func (s *Blobs) placed(d digest.Digest, kind layout.Kind) {
	file := layout.Name(kind, d)
	s.proofs.add(d, kind)
	s.mu.Lock()
	s.fresh[file] = true
	s.mu.Unlock()
	s.sync.Later(s.dir.Path(file), func() {
		// If something wrote to it meanwhile, its time tells that, and stays. Setting it fails for a blob that is gone, or that
		// another user owns: such a one is hashed again by each process.
		if st, err := s.dir.Stat(file); err == nil && st.MTime == unsynced().UnixNano() {
			_ = s.dir.SetTime(file, store.LinkTime())
		}
		s.mu.Lock()
		delete(s.fresh, file)
		s.mu.Unlock()
	})
}

// permOf is the mode of the blobs' files of a kind.
func permOf(kind layout.Kind) fs.FileMode {
	if kind == layout.Executables {
		return 0o555
	}
	return 0o444
}

// trusted tells whether the blob's file of a kind, which has the stamp, is as it was written. Who changed its mode may have changed more, and
// set the time back; and every link has that mode.
func (s *Blobs) trusted(d digest.Digest, kind layout.Kind, st stat.Stamp) bool {
	if fs.FileMode(st.Mode&0o7777) != permOf(kind) {
		return false
	}
	if st.MTime == store.LinkTime().UnixNano() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh[layout.Name(kind, d)] && st.MTime == unsynced().UnixNano()
}

// check tells whether the blob is there: nil, or ErrNotFound, wrapped, or what kept it from finding out.
func (s *Blobs) check(ctx context.Context, d digest.Digest) error {
	file := layout.Name(layout.Blobs, d)
	st, err := s.dir.Stat(file)
	if err == nil && st.IsRegular() && st.Size == d.Size() && s.trusted(d, layout.Blobs, st) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob %s: %w", d, store.ErrNotFound)
	}
	f, err := s.sound(ctx, d, false)
	if err != nil {
		return err
	}
	return f.Close()
}

// sound returns the blob's file at its start, after hashing it when its time says that it was not safely written, or that
// something wrote to it since, or that another program, such as Bazel, put it there; or, to prove it, because nobody did lately.
func (s *Blobs) sound(ctx context.Context, d digest.Digest, prove bool) (*os.File, error) {
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	if err := s.verify(ctx, d, f, prove); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (s *Blobs) verify(ctx context.Context, d digest.Digest, f *os.File, prove bool) error {
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	trusted := s.trusted(d, layout.Blobs, stat.Of(st))
	if trusted && (!prove || s.proofs.has(d, layout.Blobs)) {
		return nil
	}
	err = store.Copy(ctx, io.Discard, f, d)
	if errors.Is(err, store.ErrCorrupt) {
		if err = s.damaged(d, f); err == nil {
			err = lost(d)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	s.proofs.add(d, layout.Blobs)
	// It is right, but perhaps only in memory, or not in its mode.
	if now, err := f.Stat(); !trusted && err == nil && now.ModTime().Equal(st.ModTime()) && atomicfile.SetFile(f, permOf(layout.Blobs), unsynced()) == nil {
		s.placed(d, layout.Blobs)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}
