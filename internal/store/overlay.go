package store

import (
	"bytes"
	"context"
	"io"
	"maps"
	"sync"

	"github.com/hexmage/hexmage/internal/digest"
)

// Overlay returns Blobs that contain the given messages and all blobs of next. Each message must match its digest and
// must not change. Put stores blobs in memory and never writes to next. The returned Blobs do not implement Local, so
// hexmage cannot create exec roots from them.
func Overlay(next Blobs, messages map[digest.Digest][]byte) Blobs {
	o := &overlay{next: next, blobs: map[digest.Digest][]byte{}}
	maps.Copy(o.blobs, messages)
	return o
}

type overlay struct {
	next Blobs

	mu    sync.Mutex
	blobs map[digest.Digest][]byte
}

func (o *overlay) own(d digest.Digest) ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	b, ok := o.blobs[d]
	return b, ok
}

func (o *overlay) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	if b, ok := o.own(d); ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	return o.next.Open(ctx, d)
}

func (o *overlay) Put(ctx context.Context, d digest.Digest, r io.Reader) error {
	var b bytes.Buffer
	if err := Copy(ctx, &b, r, d); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.blobs[d] = b.Bytes()
	return nil
}

func (o *overlay) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	var ask []digest.Digest
	for _, d := range ds {
		if _, ok := o.own(d); !ok {
			ask = append(ask, d)
		}
	}
	return o.next.Missing(ctx, ask)
}
