package remote_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	bspb "google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/remote"
)

// server does what no real server that there is here does: it knows BLAKE3 and zstd, goes on with what was half
// written, lies, stops in the middle, and is full. What real ones do is tried with one (cmd/hexmage/e2e). It is empty
// at first, and right where nothing below says otherwise.
type server struct {
	repb.UnimplementedCapabilitiesServer
	repb.UnimplementedContentAddressableStorageServer
	repb.UnimplementedActionCacheServer
	bspb.UnimplementedByteStreamServer
	repb.UnimplementedExecutionServer
	longrunningpb.UnimplementedOperationsServer

	address   string
	functions []digest.Function

	mu      sync.Mutex
	blobs   map[digest.Digest][]byte
	results map[digest.Digest]*repb.ActionResult
	calls   map[string]int // by method
	lies    bool           // gives other bytes
	denies  map[string]error
	breaks  int             // streams that end after a part
	stalls  bool            // streams stop after a part
	pause   time.Duration   // before each part of a stream
	trickle bool            // streams give a byte at a time
	forgets bool            // has nothing, but says so to reads only
	wishes  []digest.Digest // blobs that it says it lacks though nobody asked
	largest int64           // size of a blob that it takes
	slow    time.Duration   // a batch takes so long
	offsets []int64
	packs   bool                   // it takes and gives what is packed by zstd
	bomb    []byte                 // what it gives in place of what is packed, of which it says that it is packed
	endless bool                   // and that without an end
	given   int64                  // bytes that it gave in streams
	took    int64                  // bytes that came in streams, as they came
	wbreaks int                    // writes that end after a part
	halves  map[string]*half       // writes that were begun
	loses   bool                   // halves are lost when they are gone on with, though it says that it has them
	leaves  bool                   // it goes away when it has the first blob that is written, before it says so
	says    int64                  // what it says that it has of any half; 0: what it has
	unaware bool                   // it does not say what it has of a half
	packed  map[digest.Digest]bool // whether a blob came packed
	headers []metadata.MD
	puts    map[digest.Digest]int // how often a blob came
	// what each call of Execute in turn does, the last one also all others; nil: nothing runs there
	runs  []func(*repb.ExecuteRequest, operations) error
	waits func(name string, to operations) error
	wrong []string // what a client did that it must not
}

func serve(t *testing.T, functions ...digest.Function) *server {
	t.Helper()
	return serveWith(t, functions)
}

func serveWith(t *testing.T, functions []digest.Function, options ...grpc.ServerOption) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{address: "grpc://" + l.Addr().String(), functions: functions, blobs: map[digest.Digest][]byte{},
		results: map[digest.Digest]*repb.ActionResult{}, calls: map[string]int{}, puts: map[digest.Digest]int{},
		halves: map[string]*half{}, packed: map[digest.Digest]bool{}, denies: map[string]error{}}
	g := grpc.NewServer(append(options,
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo,
			next grpc.UnaryHandler) (any, error) {
			if err := s.called(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, req)
		}), grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo,
			next grpc.StreamHandler) error {
			if err := s.called(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(srv, stream)
		}))...)
	repb.RegisterCapabilitiesServer(g, s)
	repb.RegisterContentAddressableStorageServer(g, s)
	repb.RegisterActionCacheServer(g, s)
	bspb.RegisterByteStreamServer(g, s)
	repb.RegisterExecutionServer(g, s)
	longrunningpb.RegisterOperationsServer(g, s)
	var over sync.WaitGroup
	over.Go(func() { _ = g.Serve(l) })
	t.Cleanup(func() {
		g.Stop()
		over.Wait()
		for _, w := range s.wrong {
			t.Error(w)
		}
	})
	return s
}

func (s *server) called(ctx context.Context, method string) error {
	method = method[strings.LastIndex(method, "/")+1:]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[method]++
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		s.headers = append(s.headers, md)
	}
	return s.denies[method]
}

func (s *server) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// change changes what the server does from now on.
func (s *server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *server) has(b []byte, fn digest.Function) digest.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := fn.Bytes(b)
	s.blobs[d] = b
	return d
}

func (s *server) digest(fn repb.DigestFunction_Value, d *repb.Digest) digest.Digest {
	f := digest.SHA256
	if fn == repb.DigestFunction_BLAKE3 {
		f = digest.BLAKE3
	}
	is, err := digest.New(f, d.GetHash(), d.GetSizeBytes())
	if err != nil {
		s.wrong = append(s.wrong, err.Error())
	}
	return is
}

func (s *server) GetCapabilities(context.Context, *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	c := &repb.CacheCapabilities{
		ActionCacheUpdateCapabilities: &repb.ActionCacheUpdateCapabilities{UpdateEnabled: true},
		MaxBatchTotalSizeBytes:        1 << 20,
		MaxCasBlobSizeBytes:           s.largest}
	if s.packs {
		c.SupportedCompressors = []repb.Compressor_Value{repb.Compressor_IDENTITY, repb.Compressor_ZSTD}
		c.SupportedBatchUpdateCompressors = c.SupportedCompressors
	}
	for _, f := range s.functions {
		c.DigestFunctions = append(c.DigestFunctions,
			map[digest.Function]repb.DigestFunction_Value{digest.BLAKE3: repb.DigestFunction_BLAKE3,
				digest.SHA256: repb.DigestFunction_SHA256}[f])
	}
	return &repb.ServerCapabilities{CacheCapabilities: c,
		ExecutionCapabilities: &repb.ExecutionCapabilities{ExecEnabled: s.runs != nil}}, nil
}

// operations is where what comes of an action is sent.
type operations = grpc.ServerStreamingServer[longrunningpb.Operation]

func (s *server) Execute(r *repb.ExecuteRequest, to operations) error {
	s.mu.Lock()
	if s.runs == nil {
		s.mu.Unlock()
		return status.Error(codes.Unimplemented, "nothing runs here")
	}
	run := s.runs[0]
	if len(s.runs) > 1 {
		s.runs = s.runs[1:]
	}
	s.mu.Unlock()
	return run(r, to)
}

func (s *server) WaitExecution(r *repb.WaitExecutionRequest, to operations) error {
	if s.waits == nil {
		return status.Error(codes.NotFound, "no such operation")
	}
	return s.waits(r.GetName(), to)
}

func (s *server) CancelOperation(context.Context, *longrunningpb.CancelOperationRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (s *server) FindMissingBlobs(_ context.Context,
	r *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := &repb.FindMissingBlobsResponse{}
	for _, d := range r.GetBlobDigests() {
		if _, ok := s.blobs[s.digest(r.GetDigestFunction(), d)]; !ok {
			got.MissingBlobDigests = append(got.MissingBlobDigests, d)
		}
	}
	for _, d := range s.wishes {
		got.MissingBlobDigests = append(got.MissingBlobDigests, &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()})
	}
	return got, nil
}

// content is what the server gives for the blob.
func (s *server) content(d digest.Digest) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[d]
	switch {
	case !ok || s.forgets:
		return nil, status.Error(codes.NotFound, "no such blob")
	case s.lies:
		b = bytes.Clone(b)
		b[len(b)/2] ^= 1
	}
	return b, nil
}

func (s *server) BatchReadBlobs(_ context.Context,
	r *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	got := &repb.BatchReadBlobsResponse{}
	for _, d := range r.GetDigests() {
		b, err := s.content(s.digest(r.GetDigestFunction(), d))
		one := &repb.BatchReadBlobsResponse_Response{Digest: d, Data: b, Status: status.Convert(err).Proto()}
		if err == nil && slices.Contains(r.GetAcceptableCompressors(), repb.Compressor_ZSTD) {
			one.Compressor, one.Data = repb.Compressor_ZSTD, s.pack(b)
		}
		got.Responses = append(got.Responses, one)
	}
	return got, nil
}

func (s *server) BatchUpdateBlobs(_ context.Context,
	r *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	got := &repb.BatchUpdateBlobsResponse{}
	s.mu.Lock()
	slow := s.slow
	s.mu.Unlock()
	time.Sleep(slow)
	if n := proto.Size(r); n > 1<<20 {
		s.change(func() {
			s.wrong = append(s.wrong,
				fmt.Sprintf("a batch has %d bytes, more than the server takes", n))
		})
	}
	for _, one := range r.GetRequests() {
		d, content, err := s.digest(r.GetDigestFunction(), one.GetDigest()), one.GetData(), error(nil)
		if one.GetCompressor() == repb.Compressor_ZSTD {
			content, err = s.unpacked(content)
		}
		if err == nil {
			s.change(func() { s.packed[d] = one.GetCompressor() == repb.Compressor_ZSTD })
			err = s.put(d, content)
		}
		got.Responses = append(got.Responses,
			&repb.BatchUpdateBlobsResponse_Response{Digest: one.GetDigest(), Status: status.Convert(err).Proto()})
	}
	return got, nil
}

func (s *server) put(d digest.Digest, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Function().Bytes(b) != d {
		s.wrong = append(s.wrong, fmt.Sprintf("%s was sent with other content", d))
		return status.Error(codes.InvalidArgument, "other content")
	}
	s.blobs[d] = b
	s.puts[d]++
	return nil
}

// pack is the content as it travels packed, or what the server gives in place of it.
func (s *server) pack(b []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bomb != nil {
		return s.bomb
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		s.wrong = append(s.wrong, err.Error())
		return nil
	}
	return z.EncodeAll(b, nil)
}

// unpacked is as much as there is of what traveled packed.
func (s *server) unpacked(b []byte) ([]byte, error) {
	if !s.packs {
		return nil, status.Error(codes.InvalidArgument, "nobody said that it may be packed")
	}
	z, err := zstd.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(z)
}

// named reads hash and size of a resource's name, by the API's rules.
func (s *server) named(name string) (_ digest.Digest, packed bool, _ error) {
	_, rest, ok := strings.Cut(name, "blobs/")
	parts := strings.Split(rest, "/")
	if packed = ok && strings.Contains(name, "compressed-blobs/"); packed {
		ok, parts = s.packs && parts[0] == "zstd", parts[1:]
	}
	fn := digest.SHA256
	if ok && len(parts) == 3 && parts[0] == "blake3" {
		fn, parts = digest.BLAKE3, parts[1:]
	}
	if !ok || len(parts) != 2 {
		return digest.Digest{}, false, status.Errorf(codes.InvalidArgument, "%q names no blob", name)
	}
	size, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return digest.Digest{}, false, err
	}
	d, err := digest.New(fn, parts[0], size)
	return d, packed, err
}

func (s *server) Read(r *bspb.ReadRequest, stream bspb.ByteStream_ReadServer) error {
	d, packed, err := s.named(r.GetResourceName())
	if err != nil {
		return err
	}
	b, err := s.content(d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.offsets = append(s.offsets, r.GetReadOffset())
	breaks, stalls, trickle, endless, pause := s.breaks > 0, s.stalls, s.trickle, s.endless, s.pause
	s.breaks--
	s.mu.Unlock()
	b = b[r.GetReadOffset():]
	if packed {
		b = s.pack(b)
	}
	for i := 0; len(b) > 0; i++ {
		n := min(len(b), 100_000)
		time.Sleep(pause)
		switch {
		case trickle:
			n = 1
			time.Sleep(10 * time.Millisecond)
		case i == 2 && stalls:
			<-stream.Context().Done()
			return stream.Context().Err()
		case i == 2 && breaks:
			return status.Error(codes.Unavailable, "the server goes away")
		}
		if err := stream.Send(&bspb.ReadResponse{Data: b[:n]}); err != nil {
			return err
		}
		s.change(func() { s.given += int64(n) })
		if !endless {
			b = b[n:]
		}
	}
	return nil
}

// half is a write that was begun.
type half struct {
	content []byte // as it is when it is unpacked
	whole   bool
}

func (s *server) Write(stream bspb.ByteStream_WriteServer) error {
	var name string
	var b []byte
	var first, next int64
	s.mu.Lock()
	breaks := s.wbreaks > 0
	s.wbreaks--
	s.mu.Unlock()
	last := false
	for !last {
		r, err := stream.Recv()
		if err != nil {
			return err // also of a client that ends without a last message
		}
		if name == "" {
			name, first, next = r.GetResourceName(), r.GetWriteOffset(), r.GetWriteOffset()
		}
		if r.GetWriteOffset() != next {
			s.change(func() {
				s.wrong = append(s.wrong, fmt.Sprintf("%s: offset %d, want %d", name, r.GetWriteOffset(), next))
			})
		}
		b = append(b, r.GetData()...)
		next += int64(len(r.GetData()))
		s.change(func() { s.took += int64(len(r.GetData())) })
		if last = r.GetFinishWrite(); len(b) > 1<<20 && breaks {
			break
		}
	}
	d, packed, err := s.named(name)
	if err != nil {
		return err
	}
	sent := next
	if packed {
		b, err = s.unpacked(b)
	}
	s.mu.Lock()
	h := s.halves[name]
	if h == nil {
		h = &half{}
		s.halves[name] = h
	}
	s.offsets = append(s.offsets, first)
	had, loses := h.content, s.loses
	h.content = append(had[:len(had):len(had)], b...)
	s.packed[d] = packed
	s.mu.Unlock()
	switch {
	case first != int64(len(had)):
		s.change(func() {
			s.wrong = append(s.wrong, fmt.Sprintf("%s: goes on at %d, but there are %d", name, first, len(had)))
		})
		return status.Error(codes.OutOfRange, "it does not fit")
	case !last:
		return status.Error(codes.Unavailable, "the server goes away")
	case first > 0 && loses:
		return status.Error(codes.InvalidArgument, "what was there is lost")
	case err != nil:
		return status.Error(codes.InvalidArgument, err.Error())
	}
	if err := s.put(d, h.content); err != nil {
		return err
	}
	h.whole = true
	if s.count("QueryWriteStatus") == 0 && s.leaves {
		return status.Error(codes.Unavailable, "the server goes away")
	}
	return stream.SendAndClose(&bspb.WriteResponse{CommittedSize: sent})
}

func (s *server) QueryWriteStatus(_ context.Context,
	r *bspb.QueryWriteStatusRequest) (*bspb.QueryWriteStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.halves[r.GetResourceName()]
	if h == nil || s.unaware {
		return nil, status.Error(codes.NotFound, "no such write")
	}
	return &bspb.QueryWriteStatusResponse{CommittedSize: cmp.Or(s.says, int64(len(h.content))), Complete: h.whole}, nil
}

func (s *server) GetActionResult(_ context.Context, r *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, ok := s.results[s.digest(r.GetDigestFunction(), r.GetActionDigest())]
	if !ok {
		return nil, status.Error(codes.NotFound, "no such result")
	}
	return got, nil
}

func (s *server) UpdateActionResult(_ context.Context, r *repb.UpdateActionResultRequest) (*repb.ActionResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.digest(r.GetDigestFunction(), r.GetActionDigest())
	need := []*repb.Digest{r.GetActionDigest()}
	for _, f := range r.GetActionResult().GetOutputFiles() {
		need = append(need, f.GetDigest())
	}
	for _, f := range r.GetActionResult().GetOutputDirectories() {
		need = append(need, f.GetTreeDigest(), f.GetRootDirectoryDigest())
	}
	for _, d := range need {
		if _, ok := s.blobs[s.digest(r.GetDigestFunction(), d)]; !ok {
			s.wrong = append(s.wrong, fmt.Sprintf("the result of %s comes before %s, which it names", key, d.GetHash()))
		}
	}
	s.results[key] = r.GetActionResult()
	return r.GetActionResult(), nil
}

// said are the sentences of a client.
type said struct {
	mu   sync.Mutex
	text []string
}

func (s *said) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, text)
}

// want reports when the client did not say just one sentence with these words, or nothing where there are none.
func (s *said) want(t *testing.T, words ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.text) != min(1, len(words)) {
		t.Errorf("it says %q", s.text)
		return
	}
	for _, w := range words {
		if !strings.Contains(s.text[0], w) {
			t.Errorf("it says %q, without %q", s.text[0], w)
		}
	}
}

// dial returns a client with little patience.
func dial(t *testing.T, address string, change func(*remote.Options)) (*remote.Client, *said) {
	t.Helper()
	heard := &said{}
	o := remote.Options{Name: "team", Address: address, IdleTimeout: 2 * time.Second, Retries: 2,
		UploadWait: 10 * time.Second, Say: heard.add}
	if change != nil {
		change(&o)
	}
	c, err := remote.Dial(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, heard
}
