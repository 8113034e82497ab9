package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"

	bspb "google.golang.org/genproto/googleapis/bytestream"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// resource returns the name of a blob in ByteStream, compressed or plain.
func (c *Client) resource(before string, packed bool, d digest.Digest) string {
	name := before + "blobs/"
	if packed {
		name = before + "compressed-blobs/zstd/"
	}
	if c.o.Instance != "" {
		name = c.o.Instance + "/" + name
	}
	if d.Function() != digest.SHA256 {
		name += d.Function().String() + "/"
	}
	return name + d.Hex() + "/" + strconv.FormatInt(d.Size(), 10)
}

// readLarge writes the blob to w. It resumes a broken stream.
func (c *Client) readLarge(ctx context.Context, is *capabilities, d digest.Digest, w io.Writer) error {
	offset := int64(0)
	return c.calls(ctx, "read "+d.Short(), func(ctx context.Context) error {
		ctx, progress, stop := c.patient(ctx)
		defer stop()
		stream, err := bspb.NewByteStreamClient(c.conn).Read(ctx,
			&bspb.ReadRequest{ResourceName: c.resource("", is.packsLarge, d), ReadOffset: offset})
		if err != nil {
			return slow(ctx, err)
		}
		var from io.Reader = &responses{stream: stream}
		if is.packsLarge {
			u, err := unpack(from, d)
			if err != nil {
				return err
			}
			defer u.Close()
			from = u
		}
		n, err := io.CopyBuffer(w, io.LimitReader(&counted{r: from, progress: progress}, d.Size()-offset+1),
			make([]byte, 4*chunk))
		if offset += n; offset > d.Size() {
			return fmt.Errorf("blob %s: the server sent too many bytes: %w", d, store.ErrCorrupt)
		}
		return slow(ctx, err)
	})
}

// responses is an io.Reader of the data of one Read call.
type responses struct {
	stream bspb.ByteStream_ReadClient
	part   []byte // not read yet
}

func (r *responses) Read(p []byte) (int, error) {
	for len(r.part) == 0 {
		m, err := r.stream.Recv()
		if err != nil {
			return 0, err
		}
		r.part = m.GetData()
	}
	n := copy(p, r.part)
	r.part = r.part[n:]
	return n, nil
}

// counted reports each number of read bytes to progress.
type counted struct {
	r        io.Reader
	progress func(int)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.progress(n)
	return n, err
}

// writeLarge uploads the blob. It resumes a broken stream at the offset that the server reports, or restarts it.
func (c *Client) writeLarge(ctx context.Context, is *capabilities, blobs store.Blobs, d digest.Digest) error {
	packed := false
	if is.packsLarge {
		r, err := blobs.Open(ctx, d)
		if err == nil {
			packed, err = is.packer.packable(r)
			r.Close()
		}
		if err != nil {
			return &ownError{err}
		}
	}
	name := ""
	return c.calls(ctx, "write "+d.Short(), func(ctx context.Context) error {
		if name != "" { // an earlier attempt exists
			offset, whole := c.committed(ctx, name, d)
			if whole {
				return nil
			}
			if offset > 0 {
				err := c.writeFrom(ctx, blobs, d, name, packed, offset)
				if ours := (*ownError)(nil); err == nil || !answer(err) || errors.As(err, &ours) {
					return err
				} // the server no longer accepts compressed data
			}
		}
		name = c.resource(upload(), packed, d)
		return c.writeFrom(ctx, blobs, d, name, packed, 0)
	}, denied)
}

// upload returns a unique prefix of a write's resource name.
func upload() string {
	var id [16]byte
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a UUID of random numbers
	return fmt.Sprintf("uploads/%x-%x-%x-%x-%x/", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// committed returns how many bytes of a plain blob the server has. It returns 0 or less if the server does not know or
// reports an impossible number.
func (c *Client) committed(ctx context.Context, name string, d digest.Digest) (offset int64, whole bool) {
	ctx, cancel := context.WithTimeout(ctx, c.o.IdleTimeout)
	defer cancel()
	got, err := bspb.NewByteStreamClient(c.conn).QueryWriteStatus(ctx,
		&bspb.QueryWriteStatusRequest{ResourceName: name})
	if n := got.GetCommittedSize(); err == nil && n < d.Size() {
		offset = n
	}
	return offset, got.GetComplete()
}

// writeFrom sends the blob from offset on.
func (c *Client) writeFrom(ctx context.Context, blobs store.Blobs, d digest.Digest, name string, packed bool,
	offset int64) error {
	r, err := blobs.Open(ctx, d)
	if err != nil {
		return &ownError{err}
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		return &ownError{err}
	}
	ctx, progress, stop := c.patient(ctx)
	defer stop()
	stream, err := bspb.NewByteStreamClient(c.conn).Write(ctx)
	if err != nil {
		return slow(ctx, err)
	}
	to := &requests{stream: stream, name: name, offset: offset}
	err = to.send(&counted{r: r, progress: progress}, packed, d.Size()-offset)
	if err != nil && !errors.Is(err, errEnded) {
		return slow(ctx, err)
	}
	done, err := stream.CloseAndRecv()
	if err != nil {
		return slow(ctx, err)
	}
	if n := done.GetCommittedSize(); n != d.Size() && n != -1 && n != to.offset { // to.offset counts compressed bytes
		return fmt.Errorf("blob %s: the server confirmed a wrong size of %d bytes", d, n)
	}
	return nil
}

// chunk is the size in bytes of a large blob's part in one message.
const chunk = 64 << 10

// requests is an io.Writer that sends the messages of one Write call.
type requests struct {
	stream bspb.ByteStream_WriteClient
	name   string // only in the first message
	offset int64
	part   []byte // not sent yet
}

// errEnded reports that a server ended a Write early. It is not a failure if the server has the blob: CloseAndRecv
// returns the reason.
var errEnded = errors.New("the server ended the upload")

// Write implements io.Writer. It sends full chunks and buffers the last chunk for flush.
func (q *requests) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(q.part) == chunk {
			if err := q.flush(false); err != nil {
				return n, err
			}
		}
		k := min(len(p)-n, chunk-len(q.part))
		q.part = append(q.part, p[n:n+k]...)
		n += k
	}
	return n, nil
}

func (q *requests) flush(last bool) error {
	err := q.stream.Send(&bspb.WriteRequest{ResourceName: q.name, WriteOffset: q.offset, FinishWrite: last,
		Data: q.part})
	if err == io.EOF {
		return errEnded
	}
	q.name, q.offset, q.part = "", q.offset+int64(len(q.part)), q.part[:0]
	return err
}

// send sends the next size bytes of r, which are its last.
func (q *requests) send(r io.Reader, packed bool, size int64) error {
	from, to := &ownReader{r: r}, io.WriteCloser(nopCloser{q})
	if packed {
		z, err := packWriter(q)
		if err != nil {
			return err
		}
		to = z
	}
	n, err := io.CopyBuffer(to, io.LimitReader(from, size), make([]byte, chunk))
	if cerr := to.Close(); err == nil { // also after an error: the encoder may hold memory
		err = cerr
	}
	if err == nil && n < size {
		err = &ownError{fmt.Errorf("the data ends early: %w", store.ErrCorrupt)}
	}
	if err != nil {
		return err
	}
	return q.flush(true)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// ownReader marks errors of this machine's store, to distinguish them from errors of the server.
type ownReader struct{ r io.Reader }

func (o *ownReader) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err != nil && err != io.EOF {
		err = &ownError{err}
	}
	return n, err
}
