// Package actioncache remembers the results of actions under their keys.
//
// It knows results; it does not know whether the blobs they name still exist (execute.Cached asks the store) or how an
// action runs.
package actioncache

import (
	"context"
	"errors"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
)

// ErrNotFound is what Get returns, wrapped, for a key without a result. A damaged entry is ErrNotFound too.
var ErrNotFound = errors.New("no result under this key")

// Cache maps an action's key to its result. Methods may be called from many goroutines at once.
type Cache interface {
	Get(ctx context.Context, key digest.Digest) (*action.Result, error)
	// Put remembers r. When it returns nil, all processes find the entry, and it survives the death of this one; it
	// survives a crash of the machine after a second or so, or a Flush. An entry that did not is not found.
	Put(ctx context.Context, key digest.Digest, r *action.Result) error
}

// Keeper is what a Cache can do beside a result: keep the messages that tell what the key was made of (the Action, its
// Command, Directories of its inputs), so that they need no file each.
type Keeper interface {
	// PutWith is Put with messages.
	PutWith(ctx context.Context, key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) error
	// Messages returns what was kept with the result for the key, checked, or an error that is ErrNotFound.
	Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error)
}

// Flusher is what a Cache can do when it keeps results on disk.
type Flusher interface {
	// Flush returns when every result put so far survives a crash of the machine. A build calls it, after that of the
	// store, before it reports that it is done.
	Flush(ctx context.Context) error
}
