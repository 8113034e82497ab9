package unpack_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"
)

// syntheticSDK writes a zip that is like an SDK's: most files are headers and scripts of a few KB, most bytes are in a few
// libraries of 50 to 300 MB, and all of it compresses to about a half. bytes is the unpacked size, about.
//
// What is in the libraries is taken from this test's own program, so that decompressing it costs what machine code costs.
// It is compressed once, in pieces which are then put together: packing 3.5 GB would take longer than all else.
func syntheticSDK(t testing.TB, out string, files int, size int64) {
	t.Helper()
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := sdkWriter{t: t, z: zip.NewWriter(f), rnd: rand.New(rand.NewPCG(1, 2)), code: codePieces(t), text: textPieces(t)}
	libraries, medium := max(files/500, 3), files/25
	left := size
	for i := range medium {
		left -= s.add(fmt.Sprintf("sdk/1.0/lib/plugins/package%d/module%d.so", i%20, i), 0o755, s.code, max(left/int64(medium)/5, 1<<16))
	}
	for i := range files - libraries - medium {
		n := int64(s.rnd.IntN(24<<10) + 200)
		left -= s.add(fmt.Sprintf("sdk/1.0/include/part%d/group%d/header%d.h", i%30, i%311, i), 0o644, s.text, min(n, size/int64(files)))
	}
	for i := range libraries {
		share := left / int64(libraries-i) // of 1/3 to 5/3 of the mean
		if i < libraries-1 {
			share = share/3 + s.rnd.Int64N(share*4/3+1)
		}
		left -= s.add(fmt.Sprintf("sdk/1.0/lib/target%d/libBig%d.so", i%6, i), 0o755, s.code, share)
	}
	if err := s.z.Close(); err != nil {
		t.Fatal(err)
	}
}

type sdkWriter struct {
	t          testing.TB
	z          *zip.Writer
	rnd        *rand.Rand
	code, text []piece
}

// piece is some bytes, and the same as a part of a deflate stream that refers to nothing before it.
type piece struct{ plain, packed []byte }

// add writes a file of about n bytes, and returns how many.
func (s *sdkWriter) add(name string, mode fs.FileMode, from []piece, n int64) int64 {
	s.t.Helper()
	var parts []piece
	size, packed, crc := int64(0), int64(5), crc32.NewIEEE()
	for size < n {
		p := from[s.rnd.IntN(len(from))]
		parts = append(parts, p)
		size += int64(len(p.plain))
		packed += int64(len(p.packed))
		crc.Write(p.plain)
	}
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, CRC32: crc.Sum32(), CompressedSize64: uint64(packed), UncompressedSize64: uint64(size)}
	h.SetMode(mode)
	w, err := s.z.CreateRaw(h)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range append(parts, piece{packed: []byte{1, 0, 0, 0xff, 0xff}}) { // an empty last block
		if _, err := w.Write(p.packed); err != nil {
			s.t.Fatal(err)
		}
	}
	return size
}

func pack(t testing.TB, plain []byte) piece {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 6)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil { // unlike Close it leaves the stream open for the next piece
		t.Fatal(err)
	}
	return piece{plain, b.Bytes()}
}

func codePieces(t testing.TB) []piece {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []piece
	for range 48 {
		b := make([]byte, 128<<10)
		if _, err := io.ReadFull(f, b); err != nil {
			break
		}
		all = append(all, pack(t, b))
	}
	return all
}

func textPieces(t testing.TB) []piece {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 4))
	types := []string{"void", "int32_t", "uint64_t", "const char*", "float", "size_t"}
	var all []piece
	for range 64 {
		var b bytes.Buffer
		for b.Len() < 3<<10 {
			fmt.Fprintf(&b, "/* Entry %x of group %d. */\n%s sdk_%x(%s value, %s other);\n\n", rnd.Uint32(), rnd.IntN(99),
				types[rnd.IntN(6)], rnd.Uint64(), types[rnd.IntN(6)], types[rnd.IntN(6)])
		}
		all = append(all, pack(t, b.Bytes()))
	}
	return all
}
