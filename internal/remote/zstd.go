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

// Compressing pays or not by these, in bytes.
const (
	leastPacked = 1 << 10   // a smaller blob is sent and asked for as it is
	sampleSize  = 256 << 10 // of a large blob, by which it is decided: weights and archives do not shrink
	maxWindow   = 32 << 20  // memory that a server may have us take for one blob
)

// packer packs and unpacks blobs of one message. Its methods may be called from many goroutines.
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

// pack returns b packed, and whether that is less by a tenth at least.
func (p *packer) pack(b []byte) ([]byte, bool) {
	if len(b) < leastPacked {
		return b, false
	}
	packed := p.to.EncodeAll(b, nil)
	return packed, len(packed) < len(b)-len(b)/10
}

// unpack returns the content of the blob. It takes no more memory than the blob has.
func (p *packer) unpack(b []byte, d digest.Digest) ([]byte, error) {
	content, err := p.from.DecodeAll(b, make([]byte, 0, d.Size()))
	if err != nil {
		return nil, corrupt(d, err)
	}
	return content, nil
}

func corrupt(d digest.Digest, err error) error {
	return fmt.Errorf("blob %s: what comes packed: %w: %w", d, err, store.ErrCorrupt)
}

// inBatch is what of b goes into a message with others, and how.
func (is *capabilities) inBatch(b []byte) ([]byte, repb.Compressor_Value) {
	if is.packsSmall {
		if packed, pays := is.packer.pack(b); pays {
			return packed, repb.Compressor_ZSTD
		}
	}
	return bytes.Clone(b), repb.Compressor_IDENTITY
}

// packable tells whether packing pays, by what r begins with.
func (p *packer) packable(r io.Reader) (bool, error) {
	start := make([]byte, sampleSize)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	_, pays := p.pack(start[:n])
	return pays, nil
}

// packWriter writes to w what is written to it, packed.
func packWriter(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, packing()...) }

// unpacked reads what is packed. What the server says that went wrong it returns as that.
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
