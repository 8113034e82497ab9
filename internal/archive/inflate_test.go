package archive

import (
	"bytes"
	stdflate "compress/flate"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/flate"
)

func deflate(t testing.TB, plain []byte, level int, flush bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for len(plain) > 0 {
		n := min(1000, len(plain))
		if _, err := w.Write(plain[:n]); err != nil {
			t.Fatal(err)
		}
		if plain = plain[n:]; flush { // makes an empty stored block
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// plains are contents that make compressors do different things.
func plains(t testing.TB) map[string][]byte {
	t.Helper()
	rnd := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	rare := make([]byte, 400_000) // some bytes are very rare: long codes
	for i := range rare {
		rare[i] = byte(rnd.ExpFloat64() * 7)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	far := append(append(bytes.Clone(noise[:32768]), noise[:32768]...), noise[:100]...)
	return map[string][]byte{"nothing": nil, "a byte": {7}, "zeros": make([]byte, 400_000), "period 3": []byte(strings.Repeat("abc", 60_000)), "noise": noise, "rare": rare,
		"code": code[:min(len(code), 1<<20)], "far": far, "text": []byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 5000))}
}

func TestInflate(t *testing.T) {
	z, tiny := newInflater(nil), newInflaterSize(nil, 32, windowSize+1)
	for name, plain := range plains(t) {
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 6, 9} {
			packed := deflate(t, plain, level, level == 1)
			for how, r := range map[string]io.Reader{"whole": bytes.NewReader(packed), "in halves": iotest.HalfReader(bytes.NewReader(packed)),
				"with the end": iotest.DataErrReader(bytes.NewReader(packed))} {
				z.reset(r)
				got, err := io.ReadAll(z)
				if err != nil || !bytes.Equal(got, plain) {
					t.Errorf("%s, level %d, %s: %d bytes of %d, %v", name, level, how, len(got), len(plain), err)
				}
			}
			tiny.reset(bytes.NewReader(packed))
			if got, err := io.ReadAll(tiny); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%s, level %d, small buffers: %d bytes of %d, %v", name, level, len(got), len(plain), err)
			}
			for _, n := range []int{0, 1, len(packed) / 3, len(packed) - 1} {
				if n >= len(packed) {
					continue
				}
				z.reset(bytes.NewReader(packed[:n]))
				if got, err := io.ReadAll(z); err == nil || !bytes.HasPrefix(plain, got) {
					t.Errorf("%s, level %d, cut at %d: %d bytes, %v", name, level, n, len(got), err)
				}
			}
		}
	}
	z.reset(iotest.ErrReader(os.ErrPermission))
	if _, err := io.ReadAll(z); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a reader's own error became %v", err)
	}
}

// FuzzInflate compares with the standard library: the same bytes, or an error from both. Where a code is missing the standard
// library may notice later.
func FuzzInflate(f *testing.F) {
	for _, plain := range plains(f) {
		for _, level := range []int{0, 1, 6, flate.HuffmanOnly} {
			f.Add(deflate(f, plain[:min(len(plain), 2000)], level, false))
		}
	}
	f.Add([]byte{1, 0, 0, 255, 255})
	f.Add([]byte{3, 0})
	z, tiny := newInflater(nil), newInflaterSize(nil, 32, windowSize+1)
	f.Fuzz(func(t *testing.T, packed []byte) {
		const limit = 1 << 20
		z.reset(bytes.NewReader(packed))
		got, err := io.ReadAll(io.LimitReader(z, limit))
		tiny.reset(bytes.NewReader(packed))
		if again, againErr := io.ReadAll(io.LimitReader(tiny, limit)); (err == nil) != (againErr == nil) || err == nil && !bytes.Equal(got, again) {
			t.Fatalf("%d bytes, %v; with small buffers %d, %v", len(got), err, len(again), againErr)
		}
		want, wantErr := io.ReadAll(io.LimitReader(stdflate.NewReader(bytes.NewReader(packed)), limit))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, the standard library's is %v", err, wantErr)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes that differ from the standard library's %d", len(got), len(want))
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	plain := plains(b)["code"]
	packed := deflate(b, plain, 6, false)
	buf := make([]byte, copyBuffer)
	run := func(name string, r io.Reader, reset func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			for b.Loop() {
				reset()
				for {
					if _, err := r.Read(buf); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	z := newInflater(nil)
	run("own", z, func() { z.reset(bytes.NewReader(packed)) })
	k := flate.NewReader(nil)
	run("klauspost", k, func() {
		if err := k.(flate.Resetter).Reset(bytes.NewReader(packed), nil); err != nil {
			b.Fatal(err)
		}
	})
}
