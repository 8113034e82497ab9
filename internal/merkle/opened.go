package merkle

import (
	"context"

	"github.com/hexmage/hexmage/internal/digest"
)

type openedKey struct{}

type opened struct {
	root digest.Digest
	dir  *Dir
}

// WithOpened returns a context in which Opened finds the folder d, of which root is the digest: whoever has put a tree together
// saves the next one reading it. Nobody may change it from now on.
func WithOpened(ctx context.Context, root digest.Digest, d *Dir) context.Context {
	return context.WithValue(ctx, openedKey{}, opened{root, d})
}

// Opened returns the folder with that digest: the one of WithOpened, or a Ref.
func Opened(ctx context.Context, root digest.Digest) *Dir {
	if o, ok := ctx.Value(openedKey{}).(opened); ok && o.root == root {
		return o.dir
	}
	return Ref(root)
}
