package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/hexmage/hexmage/internal/archive"
)

// seven is what is written into a 7z file's header instead of the truth.
type seven struct {
	method  string // of all content; stored as it is when empty
	props   string
	files   uint64 // how many it claims to have
	folders uint64
}

// sevenBytes makes a 7z file: its files stored one after the other as one stream. Folders are not told.
func sevenBytes(lie seven, items ...item) []byte {
	num := func(v uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0xff}, v) } // the longest form, which is always right
	method := "\x00"
	if lie.method != "" {
		method = lie.method
	}
	var data, sizes, sums, names, attrs bytes.Buffer
	for i, it := range items {
		body, mode := it.body, uint32(0o100644)
		switch {
		case it.typ == tar.TypeSymlink:
			body, mode = it.link, 0o120777
		case it.typ == tar.TypeFifo:
			mode = 0o010644
		case it.typ == tar.TypeBlock:
			mode = 0o060644
		case it.typ == tar.TypeChar:
			mode = 0o020644
		case it.mode != 0:
			mode = 0o100000 | uint32(it.mode)
		}
		data.WriteString(body)
		if i < len(items)-1 {
			sizes.Write(num(uint64(len(body))))
		}
		sums.Write(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
		for _, u := range utf16.Encode([]rune(it.name + "\x00")) {
			names.Write(binary.LittleEndian.AppendUint16(nil, u))
		}
		attrs.Write(binary.LittleEndian.AppendUint32(nil, 0x8000|mode<<16))
	}
	files, folders := uint64(len(items)), uint64(1)
	if lie.files != 0 {
		files = lie.files
	}
	if lie.folders != 0 {
		folders = lie.folders
	}
	var h bytes.Buffer
	put := func(parts ...any) {
		for _, p := range parts {
			switch p := p.(type) {
			case int:
				h.WriteByte(byte(p))
			case uint64:
				h.Write(num(p))
			case string:
				h.WriteString(p)
			case []byte:
				h.Write(p)
			}
		}
	}
	put(1, 4, 6, uint64(0), uint64(1), 9, uint64(data.Len()), 0)
	put(7, 11, folders, 0, uint64(1))
	if lie.props != "" {
		put(0x20|len(method), method, uint64(len(lie.props)), lie.props)
	} else {
		put(len(method), method)
	}
	put(12, uint64(data.Len()), 0, 8, 13, uint64(len(items)), 9, sizes.Bytes(), 10, 1, sums.Bytes(), 0, 0)
	put(5, files, 17, uint64(names.Len()+1), 0, names.Bytes(), 21, uint64(attrs.Len()+2), 1, 0, attrs.Bytes(), 0, 0)
	return sevenStart(data.Bytes(), h.Bytes())
}

// sevenStart puts in front of the data and the header of a 7z file where they are.
func sevenStart(data, header []byte) []byte {
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	start = binary.LittleEndian.AppendUint64(start, uint64(len(header)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(header))
	b := append([]byte("7z\xbc\xaf\x27\x1c\x00\x04"), binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(start))...)
	return append(append(append(b, start...), data...), header...)
}

// lzma2Stored is content in the form of LZMA2, not compressed.
func lzma2Stored(s string) string {
	return "\x01" + string([]byte{byte((len(s) - 1) >> 8), byte(len(s) - 1)}) + s + "\x00"
}

// TestSevenSamples unpacks files that other programs wrote, with every method there is: they are the tests of the library.
func TestSevenSamples(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bodgit/sevenzip").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "testdata")
	for name, want := range map[string]error{"lzma.7z": nil, "lzma1900.7z": nil, "lzma2.7z": nil, "bcj.7z": nil, "bcj2.7z": nil, "copy.7z": nil, "deflate.7z": nil,
		"delta.7z": nil, "bzip2.7z": nil, "aes7z.7z": archive.ErrFormat, "lz4.7z": archive.ErrFormat, "zstd.7z": archive.ErrFormat} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if want != nil {
				hostile{b: b, want: want}.refuse(t)
				return
			}
			y := newYard(t, b)
			st, err := archive.Unpack(t.Context(), y.dest, archive.Options{}, y.in)
			if err != nil || st.Files == 0 || st.Bytes == 0 {
				t.Errorf("%+v, %v", st, err)
			}
			y.check(t, err == nil)
			hostile{b: b[:len(b)-1], want: archive.ErrTruncated}.refuse(t)
			b[40] ^= 4 // in the content
			hostile{b: b, want: archive.ErrTruncated}.refuse(t)
		})
	}
}

func TestHostileSeven(t *testing.T) {
	a := item{name: "a", body: "content"}
	for name, c := range map[string]hostile{
		"more files than the header":   {b: sevenBytes(seven{files: 1 << 40}, a), want: archive.ErrTooLarge, text: "entries"},
		"many files":                   {b: sevenBytes(seven{files: 900_000}, a), want: archive.ErrTruncated, text: "900000 entries"},
		"more folders than the header": {b: sevenBytes(seven{folders: 1 << 50}, a), want: archive.ErrTruncated, text: "folders"},
		"a dictionary of 4 GiB":        {b: sevenBytes(seven{method: "\x21", props: "\x28"}, a), want: archive.ErrTooLarge, text: "dictionary"},
		"an LZMA dictionary of 4 GiB":  {b: sevenBytes(seven{method: "\x03\x01\x01", props: "\x5d\xff\xff\xff\xff"}, a), want: archive.ErrTooLarge, text: "dictionary"},
		"encrypted":                    {b: sevenBytes(seven{method: "\x06\xf1\x07\x01", props: "\x13"}, a), want: archive.ErrFormat, text: "encrypted"},
		"unknown method":               {b: sevenBytes(seven{method: "\x07\x07"}, a), want: archive.ErrFormat, text: "0707"},
		"false content":                {b: bytes.Replace(sevenBytes(seven{}, a), []byte("content"), []byte("cXntent"), 1), want: archive.ErrTruncated, text: `"a"`},
	} {
		t.Run(name, c.refuse)
	}
}

func sevenSample() []byte {
	return sevenBytes(seven{}, item{name: "bin/tool", body: "#!", mode: 0o755}, item{name: "lib/a", body: strings.Repeat("elf ", 30)},
		item{name: "lib/b", typ: tar.TypeSymlink, link: "a"}, item{name: "last", body: "end"})
}

func FuzzSeven(f *testing.F) {
	stored := lzma2Stored(fmt.Sprint("some", "content"))
	f.Add(sevenSample())
	f.Add(sevenBytes(seven{method: "\x21", props: "\x10"}, item{name: "a", body: stored}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 32 || len(b) > 1<<20 {
			return
		}
		b = bytes.Clone(b)
		copy(b, "7z\xbc\xaf\x27\x1c") // with right checksums, or nothing would come behind them
		le := binary.LittleEndian
		at, n := le.Uint64(b[12:]), le.Uint64(b[20:])
		if at <= uint64(len(b)-32) && n <= uint64(len(b)-32)-at {
			le.PutUint32(b[28:], crc32.ChecksumIEEE(b[32+at:32+at+n]))
		}
		le.PutUint32(b[8:], crc32.ChecksumIEEE(b[12:32]))
		y := newYard(t, b)
		_, err := archive.Unpack(context.Background(), y.dest, archive.Options{MaxBytes: 64 << 20}, y.in)
		y.check(t, err == nil)
	})
}
