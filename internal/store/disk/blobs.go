// Package disk keeps blobs and results as files, in the layout of Bazel's disk cache: <root>/blake3/cas/ab/<hash> and
// <root>/blake3/ac/ab/<hash>. For SHA-256, the paths do not contain blake3/. Start with NewBlobs and NewResults.
//
// Blobs are read-only files. hexmage writes a blob to <root>/new and renames it, so any number of processes may share a
// root. A blob is complete or missing, with two exceptions. First, a power cut may leave a name without content;
// sync.go handles this. Second, a program that runs as root may write into a blob through a hard link. The mode and
// modification time of the file then reveal the write (see trusted).
//
// All blobs have the modification time store.LinkTime. So tools that compare the times of inputs do not depend on when
// hexmage cached something. The inode's change time is the time of the last link, for garbage collection.
//
// Open hashes the content, but Link does not. If the disk corrupts a bit, no time changes, so Link does not detect the
// error and the action gets the corrupt file. `hexmage cache verify` detects such errors. hexmage moves a corrupt blob
// to <root>/damaged and treats the blob as missing. Then the action that produced the blob runs again.
//
// A hard link has the mode of the blob. So an executable blob has a second file with mode 0555 at
// <root>/blake3/exec/ab/<hash> (<root>/exec/… for SHA-256). The second file is a copy, and only Link reads it.
//
// The file of a result is an ActionResult message with two additional fields, which other programs skip. One field
// contains a checksum. The other field contains the messages that explain the key: the Action, its Command and
// Directories.
//
// The package does not know the meaning or origin of blobs, or whether the blobs in a result exist. It deletes only
// corrupt files.
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

// Blobs keeps blobs in a folder. It implements store.Blobs and store.Local. Many processes may use the folder at once.
type Blobs struct {
	root    string
	noClone atomic.Bool // the file system does not support reflinks

	mu   sync.Mutex
	safe bool // blobs are intact since the last power cut: see recovered
}

// NewBlobs returns the store in the folder root, and creates the folder if needed. It removes temporary files of dead
// processes.
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

// Path returns the path of the blob, even if the blob is missing. Callers must not write to the path.
func (s *Blobs) Path(d digest.Digest) string { return s.file(layout.Blobs, d) }

func (s *Blobs) file(kind layout.Kind, d digest.Digest) string {
	return layout.Root(s.root).File(kind, d)
}

// Missing implements store.Blobs. It treats a blob as missing if the size or time shows that the file is corrupt.
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

// Open implements store.Blobs. It quarantines a corrupt blob.
func (s *Blobs) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	return store.Verify(f, d, func() error { return s.quarantine(d, f) }), nil
}

// open returns the blob's file after checking its size.
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
	// The digest may be wrong, not the blob: it may come from an untrusted source, and must not cost a good blob.
	if is, err := d.Function().Reader(f); err == nil && is.Hex() == d.Hex() {
		return nil, fmt.Errorf("blob %s: the actual size is %d bytes: %w", d, st.Size(), store.ErrNotFound)
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

// write creates the blob's file of a kind. It fails unless the content of r matches d.
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
