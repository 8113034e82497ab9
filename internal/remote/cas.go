package remote

import (
	"context"
	"io"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

func message(d digest.Digest) *repb.Digest { return &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()} }

func function(fn digest.Function) repb.DigestFunction_Value {
	if fn == digest.SHA256 {
		return repb.DigestFunction_SHA256
	}
	return repb.DigestFunction_BLAKE3
}

// byFunction groups ds by digest function, since a message of the API has one, and calls f with at most n digests.
func byFunction(ds []digest.Digest, n int, f func(fn digest.Function, ds []digest.Digest) error) error {
	of := map[digest.Function][]digest.Digest{}
	for _, d := range ds {
		of[d.Function()] = append(of[d.Function()], d)
	}
	for fn, ds := range of {
		for len(ds) > 0 {
			k := min(n, len(ds))
			if err := f(fn, ds[:k]); err != nil {
				return err
			}
			ds = ds[k:]
		}
	}
	return nil
}

// maxFind is the largest number of digests in one request.
const maxFind = 10_000

// missing returns those of ds that the server does not have.
func (c *Client) missing(ctx context.Context, ds []digest.Digest) (map[digest.Digest]bool, error) {
	if _, err := c.able(ctx); err != nil {
		return nil, err
	}
	lacks := map[digest.Digest]bool{}
	err := byFunction(ds, maxFind, func(fn digest.Function, ds []digest.Digest) error {
		asked := &repb.FindMissingBlobsRequest{InstanceName: c.o.Instance, DigestFunction: function(fn)}
		for _, d := range ds {
			asked.BlobDigests = append(asked.BlobDigests, message(d))
		}
		var got *repb.FindMissingBlobsResponse
		err := c.call(ctx, "find missing blobs", func(ctx context.Context) (err error) {
			got, err = repb.NewContentAddressableStorageClient(c.conn).FindMissingBlobs(ctx, asked)
			return err
		})
		if err != nil {
			return err
		}
		says := map[digest.Digest]bool{}
		for _, m := range got.GetMissingBlobDigests() {
			d, err := digest.New(fn, m.GetHash(), m.GetSizeBytes())
			if err != nil {
				return err
			}
			says[d] = true
		}
		for _, d := range ds { // the server may not add digests to the request
			if says[d] {
				lacks[d] = true
			}
		}
		return nil
	})
	return lacks, err
}

// small reports whether one message can carry the blob.
func (is *capabilities) small(d digest.Digest) bool { return d.Size()+perBlob <= min(is.Batch, 1<<20) }

// read writes the blob to w as the server sends it. After an error, w may have a part.
func (c *Client) read(ctx context.Context, d digest.Digest, w io.Writer) error {
	is, err := c.able(ctx)
	if err != nil {
		return err
	}
	if is.small(d) {
		return c.readSmall(ctx, is, d, w)
	}
	return c.readLarge(ctx, is, d, w)
}

func (c *Client) readSmall(ctx context.Context, is *capabilities, d digest.Digest, w io.Writer) error {
	r, err := c.readTogether(ctx, is, []digest.Digest{d})
	if err == nil {
		err = r[d].err
	}
	if err != nil {
		return err
	}
	_, err = w.Write(r[d].content)
	return err
}

// answered is the server's answer for one blob.
type answered struct {
	content []byte
	err     error
}

// readTogether reads blobs of one function in one message. It returns an answer for each.
func (c *Client) readTogether(ctx context.Context, is *capabilities,
	ds []digest.Digest) (map[digest.Digest]answered, error) {
	asked := &repb.BatchReadBlobsRequest{InstanceName: c.o.Instance, DigestFunction: function(ds[0].Function())}
	hashes := map[string]digest.Digest{}
	of := map[digest.Digest]answered{}
	for _, d := range ds {
		asked.Digests = append(asked.Digests, message(d))
		if is.packsSmall && d.Size() >= leastPacked {
			asked.AcceptableCompressors = []repb.Compressor_Value{repb.Compressor_ZSTD}
		}
		hashes[d.Hex()] = d
		of[d] = answered{err: status.Error(codes.NotFound, "the response lacks this blob")}
	}
	err := c.call(ctx, "read", func(ctx context.Context) error {
		got, err := repb.NewContentAddressableStorageClient(c.conn).BatchReadBlobs(ctx, asked)
		if err != nil {
			return err
		}
		for _, r := range got.GetResponses() {
			d, ok := hashes[r.GetDigest().GetHash()]
			if !ok {
				continue
			}
			content, err := r.GetData(), status.ErrorProto(r.GetStatus())
			if err == nil && r.GetCompressor() == repb.Compressor_ZSTD && is.packsSmall {
				content, err = is.packer.unpack(content, d)
			}
			of[d] = answered{content, err}
		}
		return nil
	})
	return of, err
}

// write uploads the blobs. It reads them from blobs.
func (c *Client) write(ctx context.Context, blobs store.Blobs, ds []digest.Digest) error {
	is, err := c.able(ctx)
	if err != nil {
		return err
	}
	var batch []*repb.BatchUpdateBlobsRequest_Request
	size, fn := int64(0), digest.Function(0)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		defer func() { batch, size = nil, 0 }()
		return c.writeBatch(ctx, fn, batch)
	}
	for _, d := range ds {
		if !is.small(d) {
			if err := c.writeLarge(ctx, is, blobs, d); err != nil {
				return err
			}
			continue
		}
		if size+d.Size()+perBlob > is.Batch || d.Function() != fn {
			if err := flush(); err != nil {
				return err
			}
		}
		b, err := store.ReadBlob(ctx, blobs, d, is.Batch)
		if err != nil {
			return &ownError{err}
		}
		r := &repb.BatchUpdateBlobsRequest_Request{Digest: message(d)}
		r.Data, r.Compressor = is.inBatch(b)
		batch, fn = append(batch, r), d.Function()
		size += d.Size() + perBlob
	}
	return flush()
}

// ownError is an error of this machine's store, not of the server.
type ownError struct{ error }

func (e *ownError) Unwrap() error { return e.error }

func (c *Client) writeBatch(ctx context.Context, fn digest.Function,
	batch []*repb.BatchUpdateBlobsRequest_Request) error {
	return c.call(ctx, "write", func(ctx context.Context) error {
		got, err := repb.NewContentAddressableStorageClient(c.conn).BatchUpdateBlobs(ctx,
			&repb.BatchUpdateBlobsRequest{InstanceName: c.o.Instance, DigestFunction: function(fn), Requests: batch})
		if err != nil {
			return err
		}
		for _, r := range got.GetResponses() {
			if err := status.ErrorProto(r.GetStatus()); err != nil {
				return err
			}
		}
		return nil
	}, denied)
}

// namespaced returns the key on the server: the key itself, or the digest of the namespace's message.
func (c *Client) namespaced(key digest.Digest) digest.Digest {
	if m := c.namespace(key); m != nil {
		return key.Function().Bytes(m)
	}
	return key
}

// namespace returns the Action message that stands for key in the client's namespace, or nil if the namespace is empty.
// The local cache keeps results under their own keys, so that builds without this remote find them.
func (c *Client) namespace(key digest.Digest) []byte {
	if c.o.Namespace == "" {
		return nil
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(&repb.Action{CommandDigest: message(key),
		InputRootDigest: message(key.Function().Bytes(nil)), Salt: []byte(c.o.Namespace)})
	if err != nil {
		panic(err) // every field is valid
	}
	return b
}

// result returns the server's result for the key.
func (c *Client) result(ctx context.Context, key digest.Digest) (*repb.ActionResult, error) {
	if _, err := c.able(ctx); err != nil {
		return nil, err
	}
	var got *repb.ActionResult
	err := c.call(ctx, "get a result", func(ctx context.Context) (err error) {
		got, err = repb.NewActionCacheClient(c.conn).GetActionResult(ctx, &repb.GetActionResultRequest{
			InstanceName: c.o.Instance, ActionDigest: message(c.namespaced(key)),
			DigestFunction: function(key.Function()), InlineStdout: true, InlineStderr: true,
		})
		return err
	})
	return got, err
}

// update uploads a result.
func (c *Client) update(ctx context.Context, key digest.Digest, r *repb.ActionResult) error {
	return c.call(ctx, "send a result", func(ctx context.Context) error {
		_, err := repb.NewActionCacheClient(c.conn).UpdateActionResult(ctx, &repb.UpdateActionResultRequest{
			InstanceName: c.o.Instance, ActionDigest: message(c.namespaced(key)), ActionResult: r,
			DigestFunction: function(key.Function()),
		})
		return err
	}, denied)
}
