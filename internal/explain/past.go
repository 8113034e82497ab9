package explain

import (
	"context"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// maxMessage is how large an Action or a Command may be, in bytes.
const maxMessage = 16 << 20

// Load finds an action that was executed once, and the store that has its messages: the results are asked first, if they are
// not nil, then the store. The error is store.ErrNotFound when the action is not known any more.
func Load(ctx context.Context, blobs store.Blobs, results store.Results, key digest.Digest) (*action.Action, store.Blobs, error) {
	if results != nil {
		if m, err := results.Messages(ctx, key); err == nil {
			blobs = store.Overlay(blobs, m)
		}
	}
	b, err := store.ReadBlob(ctx, blobs, key, maxMessage)
	if err != nil {
		return nil, nil, err
	}
	a, command, err := action.DecodeAction(b, key.Function())
	if err != nil {
		return nil, nil, err
	}
	if b, err = store.ReadBlob(ctx, blobs, command, maxMessage); err != nil {
		return nil, nil, err
	}
	a.Command, err = action.DecodeCommand(b)
	return a, blobs, err
}
