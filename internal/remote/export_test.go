package remote

import (
	"context"
	"io"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Write has the server have the blobs.
func Write(ctx context.Context, c *Client, blobs store.Blobs, ds []digest.Digest) error {
	return c.write(ctx, blobs, ds)
}

// Read writes to w what the server gives for the blob.
func Read(ctx context.Context, c *Client, d digest.Digest, w io.Writer) error {
	return c.read(ctx, d, w)
}

// Packed is b packed, as it is sent.
func Packed(b []byte) ([]byte, error) {
	p, err := newPacker()
	if err != nil {
		return nil, err
	}
	packed, _ := p.pack(b)
	return packed, nil
}
