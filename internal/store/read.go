package store

import (
	"bytes"
	"context"
	"fmt"

	"github.com/hexmage/hexmage/internal/digest"
)

// ReadBlob reads a blob that must not be larger than the limit.
func ReadBlob(ctx context.Context, blobs Blobs, d digest.Digest, limit int64) ([]byte, error) {
	if d.Size() > limit {
		return nil, fmt.Errorf("blob %s: larger than the limit of %d bytes", d, limit)
	}
	r, err := blobs.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// Grown as bytes come: what a store says it has may be a lie. The reader fails where more comes than the size.
	b := bytes.NewBuffer(make([]byte, 0, min(d.Size(), 1<<20)+bytes.MinRead))
	if _, err := b.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	return b.Bytes(), nil
}
