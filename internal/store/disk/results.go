package disk

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/layout"
	"github.com/hexmage/hexmage/internal/store/pack"
)

// messageField is the field of a result in which there is a message. No ActionResult has it.
const messageField = 64999

// Results is a store.Results on a folder, which many processes may use at once.
type Results struct {
	path string
	pack *pack.Pack
	sync *atomicfile.Syncer
	room sync.Pool // of *[]byte: what a result was encoded in
}

// NewResults returns the cache in the folder root, usually the blob store's, which it creates if needed.
func NewResults(root string) (*Results, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("action cache: %w", err)
	}
	if err := layout.Root(root).Prepare(staleAge); err != nil {
		return nil, fmt.Errorf("action cache: %w", err)
	}
	return &Results{path: layout.Root(root).Results(), pack: OpenPack(root), sync: atomicfile.NewSyncer(root)}, nil
}

// OpenPack returns what the results in the folder root are kept in, for who looks after it.
func OpenPack(root string) *pack.Pack {
	r := layout.Root(root)
	return pack.Open(r.Results(), r.New())
}

// Get implements store.Results.
func (c *Results) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	b, err := c.read(key)
	if err != nil {
		return nil, err
	}
	r, err := Decode(key, b)
	if err != nil {
		return nil, fmt.Errorf("action %s: %w: %w", key, err, store.ErrNotFound)
	}
	return r, nil
}

func (c *Results) read(key digest.Digest) ([]byte, error) {
	b, ok, err := c.pack.Get(key)
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", key, err)
	}
	if !ok {
		return nil, &missing{key}
	}
	return b, nil
}

// missing is store.ErrNotFound of a result. Nobody reads what it says where an action is new, as most are that are looked up in vain.
type missing struct{ key digest.Digest }

func (e *missing) Error() string { return fmt.Sprintf("action %s: %v", e.key, store.ErrNotFound) }

func (e *missing) Unwrap() error { return store.ErrNotFound }

// Messages implements store.Results.
func (c *Results) Messages(ctx context.Context, key digest.Digest) (map[digest.Digest][]byte, error) {
	b, err := c.read(key)
	if err != nil {
		return nil, err
	}
	return Messages(key.Function(), b), nil
}

// Put implements store.Results.
func (c *Results) Put(ctx context.Context, key digest.Digest, r *action.Result, messages map[digest.Digest][]byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	room, _ := c.room.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	defer c.room.Put(room)
	*room = encode((*room)[:0], r, messages)
	if err := c.pack.Put(ctx, key, *room); err != nil {
		return fmt.Errorf("action %s: remember its result: %w", key, err)
	}
	c.sync.Later(c.path, nil)
	return nil
}

// Flush returns when every result put so far survives a crash of the machine. A build calls it, after that of the blobs,
// before it reports that it is done.
func (c *Results) Flush(ctx context.Context) error {
	err := c.sync.Flush()
	if err == nil {
		err = c.pack.WriteIndex()
	}
	if err != nil {
		return fmt.Errorf("action cache: %w", err)
	}
	return nil
}

// encode appends the result and the messages.
func encode(b []byte, r *action.Result, messages map[digest.Digest][]byte) []byte {
	b = r.AppendTo(b)
	keys := slices.AppendSeq(make([]digest.Digest, 0, len(messages)), maps.Keys(messages))
	slices.SortFunc(keys, digest.Digest.CompareHash)
	for _, d := range keys {
		b = protowire.AppendBytes(protowire.AppendTag(b, messageField, protowire.BytesType), messages[d])
	}
	return b
}

// Decode returns the result in what the pack of results has under the key. Looking after the cache takes it; Get is what everyone else wants.
func Decode(key digest.Digest, b []byte) (*action.Result, error) {
	return action.DecodeResult(b, key.Function())
}

// Messages returns the messages in what the pack of results has.
func Messages(fn digest.Function, b []byte) map[digest.Digest][]byte {
	found := map[digest.Digest][]byte{}
	_ = action.EachField(b, func(num protowire.Number, _ uint64, m []byte) error {
		if num == messageField {
			found[fn.Bytes(m)] = m
		}
		return nil
	})
	return found
}
