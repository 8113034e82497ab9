package store

import (
	"context"
	"fmt"
	"hash"
	"io"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
)

// maxBuffer is the number of bytes of one read of a blob. It is so large that system calls cost little beside hashing
// at 2 GB/s.
const maxBuffer = 1 << 20

// Verify returns a reader that reads rc and checks the content against the digest d. If the content does not match, the
// reader fails with ErrCorrupt, at the end of rc or earlier. Before the reader fails, it calls the function corrupt
// once, if not nil, to remove the content. The function may return an error to use instead of ErrCorrupt.
func Verify(rc io.ReadCloser, d digest.Digest, corrupt func() error) io.ReadCloser {
	return &verifier{ReadCloser: rc, want: d, h: d.Function().New(), corrupt: corrupt}
}

type verifier struct {
	io.ReadCloser
	want    digest.Digest
	h       hash.Hash
	n       int64
	corrupt func() error
	err     error // sticky
}

// Unverified returns the unchecked source of a reader that Verify returned. It is for a caller that reads parts of the
// content and checks them in another way. Unverified returns false if the source cannot seek. The caller must not read
// from rc, but must close it.
func Unverified(rc io.ReadCloser) (io.ReadSeeker, bool) {
	if v, ok := rc.(*verifier); ok {
		rc = v.ReadCloser
	}
	s, ok := rc.(io.ReadSeeker)
	return s, ok
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.ReadCloser.Read(p)
	v.h.Write(p[:n])
	v.n += int64(n)
	if v.n > v.want.Size() || err == io.EOF && v.want.Function().Sum(v.h, v.n) != v.want {
		err = nil
		if v.corrupt != nil {
			err = v.corrupt()
		}
		if err == nil {
			err = fmt.Errorf("blob %s: %w", v.want, ErrCorrupt)
		}
	}
	v.err = err
	return n, err
}

// WriteTo implements io.WriterTo with large reads.
func (v *verifier) WriteTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(w, struct{ io.Reader }{v}, make([]byte, bufferSize(v.want)))
}

// Copy copies r to w. If the content does not match the digest d, Copy fails with ErrCorrupt. Copy stops when ctx ends.
func Copy(ctx context.Context, w io.Writer, r io.Reader, d digest.Digest) error {
	if v, ok := r.(*verifier); !ok || v.want != d || v.n > 0 {
		r = Verify(io.NopCloser(r), d, nil)
	}
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, boundedfile.Until(ctx, r), make([]byte, bufferSize(d)))
	return err
}

// bufferSize returns a size that holds the blob and one more byte, to notice content that is too long.
func bufferSize(d digest.Digest) int64 { return min(d.Size()+1, maxBuffer) }
