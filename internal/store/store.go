// Package store keeps what actions read and write: blobs under their digests, and results of actions under their
// keys.
//
// Blobs and Results are the seams; disk and memory implement them, storetest has the suites that all implementations
// and decorators pass. Local is what only a store on this machine can do. HostFiles and Overlay are the decorators;
// Link, CopyFile and Adopt are for who has files and does not care what the store can do.
//
// The package knows bytes and digests; it does not know what blobs mean (trees, models), whether the blobs that a
// result names still exist, or how an action runs.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// ErrNotFound is the error, wrapped, for a blob or a result that the store does not have. A corrupt result counts as
// missing.
var ErrNotFound = errors.New("not in the store")

// ErrCorrupt is what a reader returns, wrapped, at the point where content turns out not to be what its digest says.
var ErrCorrupt = errors.New("content does not match its digest")

// Blobs keeps blobs. All methods may be called from many goroutines at once. The caller owns every slice, both those
// it passes in and those it gets back. Under a context that has ended, a method returns the context's
// cause, or the answer where it has one at hand. What is only read says errors.ErrUnsupported to Put.
//
// A decorator passes on what it does not answer itself, with the context, and returns errors as they come. It is a
// Local over a Local, with the same answers, unless it says that it is none on purpose.
type Blobs interface {
	// Open returns the blob's content. Reading to the end fails with ErrCorrupt instead of io.EOF when the content is
	// not what d says. The caller closes the reader.
	Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error)
	// Put stores the content of r, which must be what d says: else it stores nothing and returns ErrCorrupt. When it
	// returns nil, all processes find the blob, and it survives the death of this one. It survives a power cut once
	// the store is synced; a blob that did not is missing, never corrupt. If the blob is there already, Put may read
	// a part of r.
	Put(ctx context.Context, d digest.Digest, r io.Reader) error
	// Missing returns those of ds that the store does not have, in their order.
	Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error)
}

// Results maps an action's key to its result. What holds of Blobs holds of it: many goroutines, contexts, decorators;
// and what is passed in or returned, a result and messages with all that they point to, stays or becomes the
// caller's.
type Results interface {
	// Get returns the result for the key. Whether the blobs that it names still exist is another question.
	Get(ctx context.Context, key digest.Digest) (*action.Result, error)
	// Put remembers r, and beside it the messages that tell what the key was made of (the Action, its Command,
	// Directories of its inputs), by their digests: so they need no blob each. When it returns nil, all processes
	// find the result, and it survives the death of this one. It survives a power cut once the store is synced; one
	// that did not is not found.
	Put(ctx context.Context, key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) error
	// Messages returns what was put beside the result for the key, checked.
	Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error)
}

// Local is what Blobs can do that keeps blobs as files of this machine. What it cannot do, such as a decorator over a
// store that is not Local, it answers with errors.ErrUnsupported; then the functions Link, CopyFile and Adopt do it
// by Open and Put.
type Local interface {
	// Link makes path (which must not exist, in a folder that does) hold the blob. With the permissions 0444 or 0555
	// it shares what it can with the store, by reflink, else by a hard link, else it is a copy; and it is Unmodified
	// until something writes to it. With permissions to write, path is an empty file of the caller's that Link fills
	// with a copy; after an error it may hold a part.
	Link(ctx context.Context, d digest.Digest, path string, perm fs.FileMode) error
	// Adopt hashes the regular file at path with fn, takes it into the store and returns its digest. The caller
	// promises that nobody writes to the file any more, and looks for it at path no longer: it may have been moved.
	Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error)
	// Ref returns a file outside the store that has the content, for those who can read it where it is without
	// changing it. It reads nothing: who uses it asks the Ref whether the file is still what it was, before and
	// after.
	Ref(d digest.Digest) (Ref, bool)
}

// Fetcher is what Blobs can do that have content elsewhere.
type Fetcher interface {
	// Fetch has those of ds be on this machine that are not, as far as it can: for callers about to open all of them,
	// one round trip each.
	Fetch(ctx context.Context, ds iter.Seq[digest.Digest])
}

// Fetch has the blobs be on this machine, if they may be elsewhere. What it could not get is known when it is opened.
func Fetch(ctx context.Context, blobs Blobs, ds iter.Seq[digest.Digest]) {
	if f, ok := blobs.(Fetcher); ok {
		f.Fetch(ctx, ds)
	}
}

// Shared is what Results can do that others share.
type Shared interface {
	// Here returns those of this machine alone, for what is nobody else's.
	Here() Results
}

// ReadBlob reads a blob that must not be larger than the limit.
func ReadBlob(ctx context.Context, blobs Blobs, d digest.Digest, limit int64) ([]byte, error) {
	if d.Size() > limit {
		return nil, fmt.Errorf("blob %s: larger than the limit of %d bytes", d, limit)
	}
	r, err := blobs.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// Grown as bytes come: what a store says it has may be a lie. The reader fails where more comes than the size.
	b := bytes.NewBuffer(make([]byte, 0, min(d.Size(), 1<<20)+bytes.MinRead))
	if _, err := b.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	return b.Bytes(), nil
}

// MinRef is the size in bytes from which on a file of the host is read where it is rather than copied. Copying as
// much takes longer than all that it takes to show a file at another place, and to look afterwards whether it is as
// it was.
const MinRef = 8 << 20

// Ref is a file of the host that has the content of a blob for as long as it has the Stamp.
type Ref struct {
	Path   string // absolute, without symlinks
	Digest digest.Digest
	Stamp  stat.Stamp // of when the digest was taken
}

// Check returns a *ChangedError unless the file is as it was when its digest was taken.
func (r *Ref) Check() error {
	now, err := stat.Lstat(r.Path)
	if err != nil || now != r.Stamp {
		return &ChangedError{Path: r.Path, Err: err}
	}
	return nil
}

// resolved is the Ref without symlinks in its path. One that leads nowhere stays: Check says that it is gone.
func (r Ref) resolved() Ref {
	if real, err := filepath.EvalSymlinks(r.Path); err == nil {
		r.Path = real
	}
	return r
}
