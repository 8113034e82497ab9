package explain

import (
	"bytes"
	"context"
	"io"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
)

// Messages finds the messages that are kept beside an action's result, by its key: actioncache.Keeper's Messages.
type Messages func(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error)

// maxMessage is how large an Action or a Command may be, in bytes.
const maxMessage = 16 << 20

// Load finds an action that was executed once, and the store that has its messages: beside is asked first, if it is not
// nil, then the store. The error is cas.ErrNotFound when the action is not known any more.
func Load(ctx context.Context, store cas.Store, beside Messages, key digest.Digest) (*action.Action, cas.Store, error) {
	if beside != nil {
		if m, err := beside(ctx, key); err == nil {
			store = &withMessages{Store: store, messages: m}
		}
	}
	b, err := cas.ReadBlob(ctx, store, key, maxMessage)
	if err != nil {
		return nil, nil, err
	}
	a, command, err := action.DecodeAction(b, key.Function())
	if err != nil {
		return nil, nil, err
	}
	if b, err = cas.ReadBlob(ctx, store, command, maxMessage); err != nil {
		return nil, nil, err
	}
	a.Command, err = action.DecodeCommand(b)
	return a, store, err
}

// withMessages is a store that has some messages beside what it has.
type withMessages struct {
	cas.Store
	messages map[digest.Digest][]byte
}

// Open implements cas.Store.
func (s *withMessages) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	if b, ok := s.messages[d]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return s.Store.Open(ctx, d)
}
