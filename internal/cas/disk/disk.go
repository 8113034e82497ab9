// Package disk keeps blobs as files, in the layout of Bazel's disk cache: <root>/blake3/cas/ab/<hash>, and
// <root>/cas/ab/<hash> for SHA-256.
//
// Blobs are read-only files. They are written to <root>/new and renamed, so any number of processes may share a root, and
// a blob is there either whole or not at all, but for two dangers. A crash of the machine may leave a file whose content
// was not yet on the disk. And where links are hard links (the file system has no reflinks), a program that runs as root,
// whom modes do not stop, may write into a blob through one. Both are noticed by the file's modification time: it is
// Mtime only once the content was synced, which happens to many blobs at a time, within a second or on Flush; and any
// write gives it another time. A blob with another time is hashed before it counts as there. (A fixed time also keeps
// tools that look at times of inputs from making outputs that depend on when something was cached.) The inode's change
// time is then the time of the last link: what collecting garbage by age can go by.
//
// What no time tells, a bit that flipped on the disk, is found by reading: always where content goes through Open, and before
// a file is linked, once by each process that did not write it; files of more than 1 MiB, once in seven days.
//
// A hard link shares the blob's mode too. So a blob that is wanted executable has, from then on, a second file at
// <root>/blake3/exec/ab/<hash> (<root>/exec/… for SHA-256) with mode 0555, which is derived: it may be deleted at any
// time, and nothing but Link reads it.
//
// What is found damaged is moved to <root>/damaged, and stays on record for as long as something may rest on it (Damages).
//
// The package does not know what blobs mean, nor what was made from which, and deletes none but damaged ones.
package disk

import (
	"bytes"
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
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
)

// staleAge is how old a temporary file of a dead process must be before New removes it.
const staleAge = time.Hour

// smallSize is the size in bytes up to which a blob is read at once, hashed and written at once.
const smallSize = 64 << 10

// Store is a cas.Store, cas.Linker, cas.Adopter, cas.CopierOut and cas.Flusher on a folder.
type Store struct {
	root    string
	dir     *atomicfile.Dir
	noClone atomic.Bool // the file system has no reflinks: do not ask again
	sync    *atomicfile.Syncer
	proofs  *proofs

	buffers sync.Pool // of *[]byte, for small blobs

	mu    sync.Mutex
	fresh map[string]bool // names of files that are right, as this process wrote or hashed them, but not synced yet
}

// New returns the store in the folder root, which it creates if needed, and removes temporary files that dead processes
// left there.
func New(root string) (*Store, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	s := &Store{root: root, sync: atomicfile.NewSyncer(root), proofs: newProofs(root), fresh: map[string]bool{}}
	if err := atomicfile.Scratch(root, staleAge); err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	if s.dir, err = atomicfile.OpenDir(root); err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	s.buffers.New = func() any { b := make([]byte, smallSize+1); return &b }
	return s, nil
}

// Root returns the store's folder, as an absolute path.
func (s *Store) Root() string { return s.root }

// Path returns where the blob is, or would be. Nobody may write there.
func (s *Store) Path(d digest.Digest) string { return s.dir.Path(name(d, "cas")) }

// name returns the slash path below the root of the blob's file of a kind: cas or exec.
func name(d digest.Digest, kind string) string {
	var b [96]byte
	p := b[:0]
	if d.Function() != digest.SHA256 {
		p = append(append(p, d.Function().String()...), '/')
	}
	var hash [64]byte
	h := d.AppendHex(hash[:0])
	p = append(append(p, kind...), '/')
	p = append(append(p, h[:2]...), '/')
	return string(append(p, h...))
}

// Missing implements cas.Store. A blob whose file is damaged, as far as its size and time tell, is missing.
func (s *Store) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	var missing []digest.Digest
	for _, d := range ds {
		switch err := s.check(ctx, d); {
		case errors.Is(err, cas.ErrNotFound):
			missing = append(missing, d)
		case err != nil:
			return nil, err
		}
	}
	return missing, context.Cause(ctx)
}

// Open implements cas.Store. A blob that turns out to be damaged is moved away, so that it is missing from then on.
func (s *Store) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	if d.Size() <= smallSize { // whole and checked at once; what is wrong is looked at below
		b, _, err := s.dir.Read(name(d, "cas"), int(d.Size()), d.Size())
		if err == nil && d.Function().Bytes(b) == d {
			return io.NopCloser(bytes.NewReader(b)), nil
		}
	}
	f, err := s.open(d)
	if err != nil {
		return nil, err
	}
	return cas.Verify(f, d, func() error { return s.damaged(d, f) }), nil
}

// open returns the blob's file, whose size is right.
func (s *Store) open(d digest.Digest) (*os.File, error) {
	f, err := os.Open(s.Path(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", d, cas.ErrNotFound)
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
		return nil, fmt.Errorf("blob %s: the store has it with %d bytes: %w", d, st.Size(), cas.ErrNotFound)
	}
	if err := s.damaged(d, f); err != nil {
		return nil, err
	}
	return nil, lost(d)
}

// damaged moves the blob's file, open as f, to <root>/damaged, where it is on record and a person can look at it, and drops the
// executable copy. Another process may have put a good file in its place since f was opened: that one stays.
func (s *Store) damaged(d digest.Digest, f *os.File) error {
	path := s.Path(d)
	mine, err := f.Stat()
	if err != nil {
		return fmt.Errorf("blob %s: %w", d, err)
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(mine, now) {
		return nil
	}
	_ = s.dir.Remove(name(d, "exec"))
	s.proofs.drop(d)
	if err := atomicfile.Rename(path, damagePath(s.root, InStore, d)); err != nil {
		return fmt.Errorf("blob %s: %w, and it cannot be moved away: %w", d, cas.ErrCorrupt, err)
	}
	return nil
}

// Put implements cas.Store.
func (s *Store) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	if err := s.check(ctx, d); !errors.Is(err, cas.ErrNotFound) {
		return err
	}
	return s.write(ctx, d, r, "cas", 0o444)
}

// write makes the blob's file of a kind, with the content of r, which must be d.
func (s *Store) write(ctx context.Context, d digest.Digest, r io.Reader, kind string, perm fs.FileMode) error {
	to := name(d, kind)
	tmp, err := s.writeTemp(ctx, d, r, perm)
	if err == nil {
		if err = s.dir.Rename(tmp, to); err != nil {
			_ = s.dir.Remove(tmp)
		}
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", d, err)
	}
	s.placed(d, kind)
	return nil
}

// writeTemp makes a file in tmp with the content of r, which must be d, and returns its name.
func (s *Store) writeTemp(ctx context.Context, d digest.Digest, r io.Reader, perm fs.FileMode) (string, error) {
	tmp := s.dir.TempName(atomicfile.NewFiles, "put")
	if d.Size() <= smallSize {
		b := s.buffers.Get().(*[]byte)
		defer s.buffers.Put(b)
		content, err := readSmall(ctx, d, r, *b)
		if err != nil {
			return "", err
		}
		return tmp, s.dir.Create(tmp, content, perm, unsynced())
	}
	f, err := os.OpenFile(s.dir.Path(tmp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = cas.Copy(ctx, f, r, d)
	if err == nil {
		err = atomicfile.SetFile(f, perm, unsynced())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = s.dir.Remove(tmp)
	}
	return tmp, err
}

// readSmall returns the content of r, which must be d, in buf, which has room for one byte more.
func readSmall(ctx context.Context, d digest.Digest, r io.Reader, buf []byte) ([]byte, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	n, err := io.ReadFull(r, buf[:d.Size()+1])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if d.Function().Bytes(buf[:n]) != d {
		return nil, fmt.Errorf("blob %s: %w", d, cas.ErrCorrupt)
	}
	return buf[:n], nil
}

// Flush implements cas.Flusher.
func (s *Store) Flush(ctx context.Context) error {
	s.proofs.save()
	if err := s.sync.Flush(); err != nil {
		return fmt.Errorf("blob store: %w", err)
	}
	return nil
}
