package store

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/hexmage/hexmage/internal/digest"
)

// Overlay returns Blobs that have the messages, which must be what their digests say and not change, beside what next
// has. What is put stays in memory: next is only read. So it is no Local: nothing is laid out from it.
func Overlay(next Blobs, messages map[digest.Digest][]byte) Blobs {
	return &overlay{next: next, messages: messages}
}

type overlay struct {
	next     Blobs
	messages map[digest.Digest][]byte

	mu  sync.Mutex
	put map[digest.Digest][]byte // nil until something is put
}

func (o *overlay) own(d digest.Digest) ([]byte, bool) {
	if b, ok := o.messages[d]; ok {
		return b, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b, ok := o.put[d]
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
	if o.put == nil {
		o.put = map[digest.Digest][]byte{}
	}
	o.put[d] = b.Bytes()
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
