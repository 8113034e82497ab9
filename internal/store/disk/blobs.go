// Package disk keeps blobs and results as files, in the layout of Bazel's disk cache: <root>/blake3/cas/ab/<hash> and
// <root>/blake3/ac/ab/<hash>, for SHA-256 without blake3/. Start with NewBlobs and NewResults.
//
// Blobs are read-only files. A blob is written to <root>/new and renamed, so any number of processes may share a
// root, and a blob is there whole or not at all, but for two dangers. A power cut may leave a name without content:
// sync.go handles it. And a program that runs as root may write into a blob through a hard link: the file's mode and
// modification time tell (see trusted). The time is store.LinkTime for all blobs. It is fixed, so tools that look at
// times of inputs do not make outputs that depend on when something was cached. The inode's change time is then the
// time of the last link, for garbage collection.
//
// Open hashes what it reads. Link does not: a bit that flips on the disk under an unchanged time reaches the action
// that the blob is linked for. `cache verify` finds it. A corrupt blob is moved to <root>/damaged, is missing from
// then on, and its action runs again.
//
// A hard link shares the blob's mode. So a blob that is wanted executable has a second file at
// <root>/blake3/exec/ab/<hash> (<root>/exec/… for SHA-256) with mode 0555. It is derived, and only Link reads it.
//
// A result's file is an ActionResult message. In fields that other programs skip as unknown it also holds the
// messages that were stored with it (the Action, its Command and Directories of its inputs, for explaining the key
// later) and a checksum.
//
// The package does not know what blobs mean, which were made from which, nor whether the blobs that results name
// exist. It deletes corrupt files alone.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// staleAge is how old a temporary file of a dead process must be before NewBlobs removes it.
const staleAge = time.Hour

// Blobs is a store.Blobs and store.Local on a folder, which many processes may use at once.
type Blobs struct {
	root    string
	noClone atomic.Bool // the file system has no reflinks: do not ask again

	mu   sync.Mutex
	safe bool // no power cut has damaged a blob since the last sync: see recovered
}

// NewBlobs returns the store in the folder root, which it creates if needed, and removes temporary files that dead
// processes left there.
func NewBlobs(root string) (*Blobs, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	s := &Blobs{root: root}
	if err := layout.Root(root).Prepare(staleAge); err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	return s, nil
}

// Root returns the store's folder, as an absolute path.
func (s *Blobs) Root() string { return s.root }

// Path returns where the blob is, or would be. Nobody may write there.
func (s *Blobs) Path(d digest.Digest) string { return s.file(layout.Blobs, d) }

func (s *Blobs) file(kind layout.Kind, d digest.Digest) string {
	return layout.Root(s.root).File(kind, d)
}

// Missing implements store.Blobs. A blob whose file is damaged, as far as its size and time tell, is missing.
func (s *Blobs) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	var missing []digest.Digest
	for _, d := range ds {
		switch err := s.check(ctx, d); {
		case errors.Is(err, store.ErrNotFound):
			missing = append(missing, d)
		case err != nil:
			return nil, err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return missing, nil
}

// Open implements store.Blobs. It quarantines a blob that turns out to be corrupt.
func (s *Blobs) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	return store.Verify(f, d, func() error { return s.quarantine(d, f) }), nil
}

// open returns the blob's file, whose size is right.
func (s *Blobs) open(d digest.Digest) (*os.File, error) {
	f, err := os.OpenFile(s.Path(d), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", d, store.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	if st.Mode().IsRegular() && st.Size() == d.Size() {
		return f, nil
	}
	defer f.Close()
	// The digest may be what is wrong: it can come from anywhere, and must not cost us a good blob.
	if is, err := d.Function().Reader(f); err == nil && is.Hex() == d.Hex() {
		return nil, fmt.Errorf("blob %s: the store has it with %d bytes: %w", d, st.Size(), store.ErrNotFound)
	}
	return nil, s.corrupt(d, f)
}

// Put implements store.Blobs.
func (s *Blobs) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	if err := s.check(ctx, d); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return s.write(ctx, d, r, layout.Blobs)
}

// write makes the blob's file of a kind, with the content of r, which must be d.
func (s *Blobs) write(ctx context.Context, d digest.Digest, r io.Reader, kind layout.Kind) error {
	f, err := atomicfile.Temp(layout.Root(s.root).New(), "put")
	if err == nil {
		err = store.Copy(ctx, f, r, d)
		if err == nil {
			err = atomicfile.SetFile(f, permOf(kind), store.LinkTime())
		}
		if err = errors.Join(err, f.Close()); err == nil {
			err = atomicfile.Rename(f.Name(), s.file(kind, d))
		}
		if err != nil {
			os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", d, err)
	}
	return nil
}
