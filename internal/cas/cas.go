// Package cas stores blobs under their digests.
//
// It knows bytes and digests; it does not know what blobs mean (trees, results, models) or who asks for them.
package cas

import (
	"context"
	"errors"
	"io"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// ErrNotFound is what Open and Link return, wrapped, for a blob the store does not have.
var ErrNotFound = errors.New("not in the store")

// ErrCorrupt is what a reader returns, wrapped, at the point where content turns out not to be what its digest says.
var ErrCorrupt = errors.New("content does not match its digest")

// Store keeps blobs. All methods may be called from many goroutines at once. Tiers, verification, read-only access and
// counting are decorators.
type Store interface {
	// Open returns the blob's content. Reading to the end fails with ErrCorrupt instead of io.EOF when the content is
	// not what d says. The caller closes the reader.
	Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error)
	// Put stores the content of r, which must be what d says: else it stores nothing and returns ErrCorrupt. When it
	// returns nil, all processes find the blob, and it survives the death of this one; it survives a crash of the machine
	// after a second or so, or a Flush. A blob that did not is missing, never damaged. Putting what is there already reads
	// no more of r than it likes.
	Put(ctx context.Context, d digest.Digest, r io.Reader) error
	// Missing returns those of ds that the store does not have, in their order.
	Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error)
}

// Linker is what a Store can do when it keeps blobs as files: give one to a path without copying it where possible.
type Linker interface {
	// Link makes path (which must not exist, in a folder that does) hold the blob, executable or not, read-only for its
	// owner, by reflink, else hard link, else copy. A decorator over a store that is no Linker returns an error that is
	// errors.ErrUnsupported.
	Link(ctx context.Context, d digest.Digest, path string, executable bool) error
}

// Prover is what a Linker can do whose links tell whether something wrote to them.
type Prover interface {
	// Untouched tells whether a file that Link made of the blob, and of which s is the Stamp now, is as it was made. False
	// may also mean that this is not known.
	Untouched(d digest.Digest, s stat.Stamp) bool
}

// Adopter is what a Store can do when it keeps blobs as files on the file system of path: take a file in by renaming it.
type Adopter interface {
	// Adopt hashes the regular file at path with fn, takes it into the store and returns its digest. The caller promises that
	// nobody writes to the file any more, and looks for it at path no longer: it may have been moved. A decorator over a
	// store that is no Adopter returns an error that is errors.ErrUnsupported.
	Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error)
}

// Holder is what a Store can do when it can serve blobs from memory for a while: the messages of an action that is being
// executed, which need no file each.
type Holder interface {
	// Hold has Open know the blobs, which must be what their digests say and not change, until release is called. They still
	// count as missing: who needs them for longer puts them.
	Hold(blobs map[digest.Digest][]byte) (release func())
}

// Flusher is what a Store can do when it keeps blobs on disk.
type Flusher interface {
	// Flush returns when every blob stored so far survives a crash of the machine. A build calls it before it reports that
	// it is done.
	Flush(ctx context.Context) error
}
