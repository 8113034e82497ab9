package store

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/digest"
)

// maxBuffer is the size in bytes of the pieces in which blobs are read: large enough that system calls do not count
// against hashing at 2 GB/s.
const maxBuffer = 1 << 20

// Verify returns a reader of rc that fails with ErrCorrupt, at the latest where rc ends, unless the content is d.
// corrupt, if not nil, is called once, before the failure is returned, to throw the content out; it may return a
// better error than the plain ErrCorrupt, or nil.
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

// Unverified returns what a reader of Verify reads, to read parts of it: what that gives is not checked, and has to
// be by other means. It returns false for what cannot seek. The reader is to be closed as before, and not to be read
// beside it.
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

// WriteTo is Read in large pieces; io.Copy uses it.
func (v *verifier) WriteTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(w, struct{ io.Reader }{v}, make([]byte, bufferSize(v.want)))
}

// Copy writes what r holds to w, and fails with ErrCorrupt unless that is exactly d. It stops when ctx ends.
func Copy(ctx context.Context, w io.Writer, r io.Reader, d digest.Digest) error {
	if d.Size() <= smallBlob {
		return copySmall(ctx, w, r, d)
	}
	v := &verifier{ReadCloser: io.NopCloser(boundedfile.Until(ctx, r)), want: d, h: d.Function().New()}
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{v}, make([]byte, bufferSize(d)))
	return err
}

// smallBlob is the size in bytes up to which a blob is copied in one piece: a hasher takes more memory.
const smallBlob = 8 << 10

func copySmall(ctx context.Context, w io.Writer, r io.Reader, d digest.Digest) error {
	b := make([]byte, d.Size()+1)
	n, err := io.ReadFull(boundedfile.Until(ctx, r), b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return err
	}
	if d.Function().Bytes(b[:n]) != d {
		return fmt.Errorf("blob %s: %w", d, ErrCorrupt)
	}
	_, err = w.Write(b[:n])
	return err
}

// bufferSize is enough to read d and see that it ends there.
func bufferSize(d digest.Digest) int64 { return min(d.Size()+1, maxBuffer) }
