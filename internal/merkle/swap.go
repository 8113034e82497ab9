package merkle

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Swap is a file that takes the place of another.
type Swap struct{ Was, Is File }

// ErrNoSwap says that in a folder there is another thing than a file that was to be swapped, or more than files.
var ErrNoSwap = errors.New("the folder is not what it was taken for")

// Swapped returns the folder root with other files, by name, in the place of some. Its message is not decoded, as
// most often one file of thousands is another: what it returns is a Ref, which Encode returns the message of.
func Swapped(ctx context.Context, blobs store.Blobs, root digest.Digest, swaps map[string]Swap) (*Dir, error) {
	b, err := store.ReadBlob(ctx, blobs, root, maxDirectory)
	if err != nil {
		return nil, err
	}
	entries := make(map[string][]byte, len(swaps)) // by what is there
	for name, s := range swaps {
		entries[string(appendFile(nil, name, s.Was))] = appendFile(nil, name, s.Is)
	}
	message := make([]byte, 0, len(b)+16*len(swaps))
	err = eachField(b, func(num protowire.Number, m []byte) error {
		if num != 1 {
			return ErrNoSwap
		}
		if is, ok := entries[string(m)]; ok {
			delete(entries, string(m))
			m = is
		}
		message = appendBytes(message, 1, m)
		return nil
	})
	if err == nil && len(entries) > 0 {
		err = ErrNoSwap
	}
	if err != nil {
		return nil, fmt.Errorf("swap files of %s: %w", root, err)
	}
	return &Dir{ref: root.Function().Bytes(message), message: message}, nil
}
