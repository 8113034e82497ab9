package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// unhurried is for tests that say nothing of time: under the race detector, on a busy machine, packing takes its time.
func unhurried(o *remote.Options) { o.IdleTimeout = time.Minute }

// text is of that size, and shrinks to about half of it when it is packed.
func text(seed int64, size int) []byte {
	b := storetest.Bytes(seed, size)
	for i := range b {
		if i%8 < 4 {
			b[i] = "text"[i%8]
		}
	}
	return b
}

// has is a store with the blobs.
func has(t *testing.T, fn digest.Function, content ...[]byte) (*memory.Blobs, []digest.Digest) {
	t.Helper()
	here := memory.NewBlobs()
	var all []digest.Digest
	for _, b := range content {
		d := fn.Bytes(b)
		if err := here.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return here, all
}

// reads reports when the machine does not have the blob as b, and returns whether it has it.
func (m *machine) reads(t *testing.T, d digest.Digest, b []byte) error {
	t.Helper()
	if lacks, err := m.blobs.Missing(t.Context(), []digest.Digest{d}); err != nil || len(lacks) > 0 {
		t.Fatal(lacks, err)
	}
	got, err := store.ReadBlob(t.Context(), m.blobs, d, 1<<30)
	if err == nil && !bytes.Equal(got, b) {
		t.Errorf("%s: %d other bytes", d, len(got))
	}
	return err
}

// TestPacked: what pays travels packed, where the server says that it may, each way, and nothing else.
func TestPacked(t *testing.T) {
	for _, fn := range functions() {
		for _, packs := range []bool{true, false} {
			t.Run(fmt.Sprint(fn, packs), func(t *testing.T) {
				s := serve(t, fn)
				s.packs = packs
				content := [][]byte{text(1, 3<<20), storetest.Bytes(2, 3<<20), text(3, 4<<10),
					storetest.Bytes(4, 4<<10), []byte("small"), bytes.Repeat([]byte{7}, 20<<20)}
				pays := []bool{true, false, true, false, false, true}
				here, all := has(t, fn, content...)
				c, said := dial(t, s.address, unhurried)
				if err := remote.Write(t.Context(), c, here, all); err != nil {
					t.Fatal(err)
				}
				two := newMachine(t, s, false, unhurried)
				for i, d := range all {
					if s.packed[d] != (packs && pays[i]) {
						t.Errorf("blob %d traveled packed: %v", i, s.packed[d])
					}
					if err := two.reads(t, d, content[i]); err != nil {
						t.Errorf("blob %d: %v", i, err)
					}
				}
				least := int64(26 << 20)
				if packs {
					least = 4 << 20
				}
				for way, n := range map[string]int64{"there": s.took, "back": s.given} {
					if n < least || n > least+least/5 {
						t.Errorf("%s %d bytes went in streams", way, n)
					}
				}
				said.want(t)
				two.said.want(t)
			})
		}
	}
}

// TestPackedLies: what is packed is what its digest says, or nothing, and takes no more memory and time than that
// would.
func TestPackedLies(t *testing.T) {
	fn := digest.BLAKE3
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	pack := func(b []byte) []byte { return z.EncodeAll(b, nil) }
	// in a stream: the frame does not say how large it is
	unsaid, err := zstd.NewWriter(nil, zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	var zeros bytes.Buffer
	unsaid.Reset(&zeros)
	for range 256 {
		if _, err := unsaid.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unsaid.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := pack(make([]byte, 256<<20))
	for _, size := range []int{3 << 20, 4 << 10} {
		b := text(1, size)
		other := bytes.Clone(b)
		other[size/2] ^= 1
		whole := pack(b)
		for name, gives := range map[string][]byte{
			"other bytes": pack(other), "not packed at all": b, "a part": whole[:len(whole)/2], "less": pack(b[1:]),
			"more": pack(append(bytes.Clone(b), 0)), "nothing": {}, "twice": append(bytes.Clone(whole), whole...),
			"a quarter of a gigabyte": bomb, "that, not announced": zeros.Bytes(), "no end": pack(make([]byte, 1<<20)),
		} {
			t.Run(fmt.Sprint(size, " ", name), func(t *testing.T) {
				s := serve(t, fn)
				d := s.has(b, fn)
				s.change(func() { s.packs, s.bomb, s.endless = true, gives, name == "no end" })
				m := newMachine(t, s, false, unhurried)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				began := time.Now()
				err := m.reads(t, d, b)
				runtime.ReadMemStats(&after)
				if lost := (*remote.LostError)(nil); !errors.As(err, &lost) || !errors.Is(err, store.ErrNotFound) ||
					errors.Is(err, store.ErrCorrupt) {
					t.Errorf("%v", err)
				}
				if n, took := after.TotalAlloc-before.TotalAlloc, time.Since(began); n > 48<<20 ||
					took > 10*time.Second {
					t.Errorf("it took %d bytes of memory, and %v", n, took)
				}
				var all length
				if err := remote.Read(t.Context(), m.client, d, &all); int64(all) > d.Size()+1 {
					t.Errorf("%d bytes were unpacked of a blob of %d: %v", all, d.Size(), err)
				}
				m.said.want(t)
			})
		}
	}
}

// length is how much was written.
type length int64

func (l *length) Write(p []byte) (int, error) {
	*l += length(len(p))
	return len(p), nil
}

// TestWrites: a write that breaks goes on where the server says that it has it to, and begins again where it does not
// say so, or not what is so.
func TestWrites(t *testing.T) {
	fn := digest.SHA256
	const size = 4 << 20
	for _, c := range []struct {
		name   string
		change func(*server)
		writes int   // streams
		begins int   // of which begin at 0
		most   int64 // bytes that are sent, of a blob that is not packed
	}{
		{"nothing breaks", func(s *server) {}, 1, 1, size},
		{"it breaks once", func(s *server) { s.wbreaks = 1 }, 2, 1, size + 2<<20},
		{"it breaks twice", func(s *server) { s.wbreaks = 2 }, 3, 1, size + 3<<20},
		{"the server does not know", func(s *server) { s.wbreaks, s.unaware = 1, true }, 2, 2, size + 3<<20},
		{"the server cannot be asked", func(s *server) {
			s.wbreaks, s.denies["QueryWriteStatus"] = 1, status.Error(codes.Unimplemented, "no such method")
		}, 2, 2, size + 3<<20},
		{"the server has lost it", func(s *server) { s.wbreaks, s.loses = 1, true }, 3, 2, 2*size + 3<<20},
		{"the server says too much", func(s *server) { s.wbreaks, s.says = 1, size+1 }, 2, 2, size + 3<<20},
		{"the server says too little", func(s *server) { s.wbreaks, s.says = 1, -1 }, 2, 2, size + 3<<20},
		{"the server has it", func(s *server) { s.leaves = true }, 1, 1, size},
	} {
		for _, packs := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, " ", packs), func(t *testing.T) {
				s := serve(t, fn)
				s.packs = packs
				s.change(func() { c.change(s) })
				b := text(5, size)
				here, all := has(t, fn, b)
				client, said := dial(t, s.address, unhurried)
				if err := remote.Write(t.Context(), client, here, all); err != nil {
					t.Fatal(err)
				}
				said.want(t)
				begins := 0
				for _, n := range s.offsets {
					if n == 0 {
						begins++
					}
				}
				if len(s.offsets) != c.writes || begins != c.begins || !slices.IsSorted(s.offsets) && c.begins == 1 ||
					s.packed[all[0]] != packs {
					t.Errorf("it was written from %d, want %d times and %d times from the start", s.offsets, c.writes,
						c.begins)
				}
				if most := map[bool]int64{false: c.most, true: c.most/2 + c.most/5}[packs]; s.took > most {
					t.Errorf("%d bytes were sent, want %d at most", s.took, most)
				}
				if err := newMachine(t, s, false, unhurried).reads(t, all[0], b); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestWriteInterrupted: a write that goes on ends with who wants it.
func TestWriteInterrupted(t *testing.T) {
	fn := digest.SHA256
	s := serve(t, fn)
	s.wbreaks = 1 << 20
	here, all := has(t, fn, text(5, 4<<20))
	client, said := dial(t, s.address, func(o *remote.Options) { o.Retries, o.IdleTimeout = 100, time.Minute })
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(stopped) })
	if err := remote.Write(ctx, client, here, all); !errors.Is(err, stopped) {
		t.Errorf("%v, want the context's cause", err)
	}
	said.want(t)
}

// BenchmarkPack packs this very program.
func BenchmarkPack(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		packed, err := remote.Packed(content)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(packed))/float64(len(content)), "left")
	}
}
