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
	// Put remembers r. When it returns nil the entry survives a crash.
	Put(ctx context.Context, key digest.Digest, r *action.Result) error
}
