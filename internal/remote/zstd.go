package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/status"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Limits of compression, in bytes.
const (
	leastPacked = 1 << 10   // a smaller blob is sent and requested plain
	sampleSize  = 256 << 10 // of a large blob, to decide: weights and archives do not shrink
	maxWindow   = 32 << 20  // largest memory for decoding one blob
)

// packer compresses and decompresses blobs of one message. Its methods are safe for concurrent use.
type packer struct {
	to   *zstd.Encoder
	from *zstd.Decoder
}

func newPacker() (*packer, error) {
	to, err := zstd.NewWriter(nil, packing()...)
	if err != nil {
		return nil, err
	}
	from, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(maxWindow))
	return &packer{to: to, from: from}, err
}

func packing() []zstd.EOption {
	return []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)}
}

// pack returns b compressed, and whether that saves at least a tenth.
func (p *packer) pack(b []byte) ([]byte, bool) {
	if len(b) < leastPacked {
		return b, false
	}
	packed := p.to.EncodeAll(b, nil)
	return packed, len(packed) < len(b)-len(b)/10
}

// unpack returns the content of the blob. It allocates at most the blob's size.
func (p *packer) unpack(b []byte, d digest.Digest) ([]byte, error) {
	content, err := p.from.DecodeAll(b, make([]byte, 0, d.Size()))
	if err != nil {
		return nil, corrupt(d, err)
	}
	return content, nil
}

func corrupt(d digest.Digest, err error) error {
	return fmt.Errorf("blob %s: invalid compressed data: %w: %w", d, err, store.ErrCorrupt)
}

// inBatch returns b for a batch, compressed if that pays.
func (is *capabilities) inBatch(b []byte) ([]byte, repb.Compressor_Value) {
	if is.packsSmall {
		if packed, pays := is.packer.pack(b); pays {
			return packed, repb.Compressor_ZSTD
		}
	}
	return bytes.Clone(b), repb.Compressor_IDENTITY
}

// packable reports whether compression pays, by a sample at the start of r.
func (p *packer) packable(r io.Reader) (bool, error) {
	start := make([]byte, sampleSize)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	_, pays := p.pack(start[:n])
	return pays, nil
}

// packWriter returns a compressing writer to w.
func packWriter(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, packing()...) }

// unpacked decompresses a stream. It returns the server's own errors unchanged.
type unpacked struct {
	*zstd.Decoder
	of digest.Digest
}

func unpack(r io.Reader, of digest.Digest) (*unpacked, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	return &unpacked{z, of}, err
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.Decoder.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	if _, ok := status.FromError(err); ok {
		return n, err
	}
	return n, corrupt(u.of, err)
}
