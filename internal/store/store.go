// Package store keeps blobs under their digests, and results of actions under their cache keys.
//
// The main interfaces are Blobs and Results. Packages disk and memory implement both. HostFiles and Overlay wrap other
// Blobs. Package storetest tests all implementations. Local has the additional methods of a store on this machine. The
// functions Link, CopyFile and Adopt work with every store.
//
// The package knows bytes and digests. It does not know the meaning of blobs, whether the blobs in a result still
// exist, or how an action runs.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// ErrNotFound means that the blob or result is missing or corrupt. Stores return it wrapped.
var ErrNotFound = errors.New("not in the store")

// ErrCorrupt means that content does not match the digest. Stores return it wrapped.
var ErrCorrupt = errors.New("content does not match its digest")

// Blobs keeps blobs. The methods are safe for concurrent use. The caller owns every slice that it passes or receives.
// If the context has ended, a method returns the context's cause, or a result that is available without waiting. If the
// store is read-only, Put fails with errors.ErrUnsupported.
//
// A store that wraps another store passes on the context, and returns the other store's errors unchanged. If the other
// store is a Local, the wrapping store must also be a Local, unless the comment on that store says otherwise.
type Blobs interface {
	// Open returns the content of the blob d. If the content does not match d, the last Read returns ErrCorrupt instead
	// of io.EOF. The caller must close the reader.
	Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error)
	// Put reads r and stores the content. If the content does not match d, Put stores nothing and returns ErrCorrupt.
	// If the store already has the blob, Put may read only a part of r.
	//
	// After Put, all processes can read the blob, even after this process has ended. After the next sync, the blob
	// survives a power cut. A power cut before the sync may remove the blob, but cannot corrupt it.
	Put(ctx context.Context, d digest.Digest, r io.Reader) error
	// Missing returns the digests in ds whose blobs are not in the store, in the order of ds.
	Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error)
}

// Results maps cache keys to results of actions. The rules of Blobs for concurrent use, contexts, slices and wrapping
// stores also apply to Results.
type Results interface {
	// Get returns the result for the key. The blobs in the result may be missing.
	Get(ctx context.Context, key digest.Digest) (*action.Result, error)
	// Put stores the result r under the key. It also stores the messages that determine the key (the Action, its
	// Command, the Directories of its inputs), by digest. So the messages need not be blobs. A result survives a power
	// cut under the same conditions as a blob.
	Put(ctx context.Context, key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) error
	// Messages returns the messages that Put stored with the result for the key, after checking their digests.
	Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error)
}

// Local contains the additional methods of a Blobs that keeps blobs as files on this machine. A method may fail with
// errors.ErrUnsupported, for example if a wrapping store has the method but the other store does not. Then the
// functions Link, CopyFile and Adopt use Open and Put instead.
type Local interface {
	// Link makes a read-only file with the content of the blob at path. The file must not exist, but the parent folder
	// must. The file is a reflink if possible, otherwise a hard link, otherwise a copy.
	Link(ctx context.Context, d digest.Digest, path string, executable bool) error
	// Adopt computes the digest of the regular file at path with the function fn, stores the file, and returns the
	// digest. Adopt may move the file. After the call, no program may write to the file.
	Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error)
	// Ref returns a host file with the content of the blob, so that the caller can read the file in place. Ref does not
	// read the file. The caller must call Ref.Check before and after reading.
	Ref(d digest.Digest) (Ref, bool)
}

// Fetcher contains the additional method of a store that downloads blobs from another machine.
type Fetcher interface {
	// Fetch downloads missing blobs in few round trips. Call it before opening all of these blobs.
	Fetch(ctx context.Context, ds iter.Seq[digest.Digest])
}

// Fetch calls blobs.Fetch if blobs is a Fetcher. It ignores download errors, because Open fails later for a blob that
// is still missing.
func Fetch(ctx context.Context, blobs Blobs, ds iter.Seq[digest.Digest]) {
	if f, ok := blobs.(Fetcher); ok {
		f.Fetch(ctx, ds)
	}
}

// Shared contains the additional method of a Results that several machines share.
type Shared interface {
	// Here returns the Results of only this machine, for results that must stay on this machine.
	Here() Results
}

// ReadBlob returns the content of a blob. It fails if the blob is larger than limit, in bytes.
func ReadBlob(ctx context.Context, blobs Blobs, d digest.Digest, limit int64) ([]byte, error) {
	if d.Size() > limit {
		return nil, fmt.Errorf("blob %s: larger than the limit of %d bytes", d, limit)
	}
	r, err := blobs.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// The buffer grows with the content, since the size in a digest may be false. The reader fails beyond that size.
	b := bytes.NewBuffer(make([]byte, 0, min(d.Size(), 1<<20)+bytes.MinRead))
	if _, err := b.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	return b.Bytes(), nil
}

// MinRef is the minimum size in bytes of a host file that actions read in place. For smaller files, a copy is cheaper
// than mounting the file and checking it afterwards.
const MinRef = 8 << 20

// Ref is a host file with the content of a blob. If the stamp of the file still equals Stamp, the file is unchanged.
type Ref struct {
	Path   string // absolute, without symlinks
	Digest digest.Digest
	Stamp  stat.Stamp // when the digest was computed
}

// Check returns a *ChangedError if the file has changed since hexmage computed the digest.
func (r *Ref) Check() error {
	now, err := stat.Lstat(r.Path)
	if err != nil || now != r.Stamp {
		return &ChangedError{Path: r.Path, Err: err}
	}
	return nil
}

// resolved returns the Ref without symlinks in its path. It keeps a path that leads nowhere, since Check reports it.
func (r Ref) resolved() Ref {
	if real, err := filepath.EvalSymlinks(r.Path); err == nil {
		r.Path = real
	}
	return r
}
