package digest_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"math/rand"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hexmage/hexmage/internal/digest"
)

// The values are those of b3sum and sha256sum.
func TestKnown(t *testing.T) {
	for _, c := range []struct {
		fn      digest.Function
		content string
		want    string
	}{
		{digest.BLAKE3, "", "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262/0"},
		{digest.BLAKE3, "hello world", "blake3:d74981efa70a0c880b8d8c1985d075dbcbf679b99a5f9914e5aaf96b831a9e24/11"},
		{digest.SHA256, "", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/0"},
		{digest.SHA256, "hello world", "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9/11"},
	} {
		d := c.fn.Bytes([]byte(c.content))
		if d.String() != c.want {
			t.Errorf("%v of %q is %v, want %v", c.fn, c.content, d, c.want)
		}
		if d.Function() != c.fn || d.Size() != int64(len(c.content)) || d.IsZero() ||
			!strings.HasPrefix(d.Hex(), d.Short()) {
			t.Errorf("%v: function %v, size %d, short %s", d, d.Function(), d.Size(), d.Short())
		}
		parsed, err := digest.Parse(c.want)
		if err != nil || parsed != d {
			t.Errorf("Parse(%s) is %v, %v", c.want, parsed, err)
		}
		if raw := hex.EncodeToString(d.AppendHash(nil)); raw != d.Hex() {
			t.Errorf("AppendHash gives %s, want %s", raw, d.Hex())
		}
	}
}

// after notices reads when it is over: under the race detector, also when they are not over yet.
type after struct {
	io.Reader
	over bool
}

func (a *after) Read(b []byte) (int, error) {
	if a.over {
		panic("read after the reader was given back")
	}
	return a.Reader.Read(b)
}

func TestReader(t *testing.T) {
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		for _, size := range []int{0, 1, 16<<10 - 1, 16 << 10, 16<<10 + 1, 1 << 20, 1<<20 + 16<<10, 3<<20 + 5} {
			b := make([]byte, size)
			rand.New(rand.NewSource(int64(size))).Read(b)
			for name, r := range map[string]io.Reader{
				"whole": bytes.NewReader(b), "halves": iotest.HalfReader(bytes.NewReader(b)),
				"data with EOF": iotest.DataErrReader(bytes.NewReader(b)),
			} {
				if d, err := fn.Reader(r); err != nil || d != fn.Bytes(b) {
					t.Errorf("%v of %d bytes, %s: %v, %v; want %v", fn, size, name, d, err, fn.Bytes(b))
				}
			}
		}
		broken := errors.New("broken")
		for _, size := range []int{1, 100_000, 2 << 20} {
			content := strings.Repeat("x", size)
			r := &after{Reader: io.MultiReader(strings.NewReader(content), iotest.ErrReader(broken))}
			d, err := fn.Reader(r)
			if r.over = true; !errors.Is(err, broken) || !d.IsZero() {
				t.Errorf("a reader that fails after %d bytes gives %v, %v", size, d, err)
			}
		}
	}
}

func TestMalformed(t *testing.T) {
	h := strings.Repeat("ab", 32)
	for _, s := range []string{
		"", "none", h, "blake3:" + h, "blake3/" + h + ":1", h + "/1", "md5:" + h + "/1", "blake3:" + h[1:] + "/1",
		"blake3:" + h + "0/1",
		"blake3:" + strings.ToUpper(h) + "/1", "blake3:" + h[:62] + "zz/1", "blake3:" + h + "/-1",
		"blake3:" + h + "/x", "blake3:" + h + "/",
		"blake3:" + h + "/99999999999999999999", "blake3:" + h + "/72057594037927936", "BLAKE3:" + h + "/1",
	} {
		if d, err := digest.Parse(s); err == nil {
			t.Errorf("Parse(%q) is %v", s, d)
		}
	}
	if _, err := digest.New(0, h, 1); err == nil {
		t.Error("a digest without a function was made")
	}
	for _, n := range []int{0, 31, 33} {
		if _, err := digest.New(digest.BLAKE3, strings.Repeat("00", n), 1); err == nil {
			t.Errorf("a hash of %d bytes was taken", n)
		}
	}
	if s := (digest.Digest{}).String(); s != "none" {
		t.Errorf("the zero Digest is %q", s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262/0")
	f.Add("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/007")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := digest.Parse(s)
		if err != nil {
			return
		}
		again, err := digest.Parse(d.String())
		if err != nil || again != d {
			t.Fatalf("%q is %v, and that is %v, %v", s, d, again, err)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		for name, size := range map[string]int{"4K": 4 << 10, "256K": 256 << 10, "64M": 64 << 20} {
			content := make([]byte, size)
			b.Run(fn.String()+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					if _, err := fn.Reader(bytes.NewReader(content)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The function and the size have a word in common: neither shows in the other.
func TestLargestSize(t *testing.T) {
	for _, f := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		h := f.Bytes([]byte("x")).Hex()
		d, err := digest.New(f, h, digest.MaxSize)
		if err != nil || d.Function() != f || d.Size() != digest.MaxSize {
			t.Errorf("%v: %v, %v", f, d, err)
		}
		if back, err := digest.Parse(d.String()); err != nil || back != d {
			t.Errorf("%v read back is %v, %v", d, back, err)
		}
		if _, err := digest.New(f, h, digest.MaxSize+1); err == nil {
			t.Errorf("%v: a size that no blob has was taken", f)
		}
		for size, want := range map[int64]int64{0: 0, 7: 7, digest.MaxSize: digest.MaxSize,
			digest.MaxSize + 1: digest.MaxSize, math.MaxInt64: digest.MaxSize} {
			if s := d.Sized(size); s.Function() != f || s.Size() != want || s.Unsized() != d.Unsized() || s.IsZero() {
				t.Errorf("%v with size %d is %v", d, size, s)
			}
		}
	}
}
