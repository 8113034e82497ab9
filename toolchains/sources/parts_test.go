package sources_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/unpack"
)

// partsZip makes a zip of 4 MB of padding and the members sdk/bin/a and sdk/bin/b, of which b has the content. grows
// is how many bytes more it has than the directory says.
func partsZip(t *testing.T, content []byte, grows int) []byte {
	t.Helper()
	var b, packed bytes.Buffer
	z := zip.NewWriter(&b)
	member := func(h *zip.FileHeader, body []byte) {
		w, err := z.CreateRaw(h)
		if err == nil {
			_, err = w.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stored := func(name string, body []byte) {
		member(&zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(body),
			CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(body))}, body)
	}
	stored("sdk/docs/a", make([]byte, 4<<20))
	stored("sdk/bin/a", []byte("#!/bin/sh\n"))
	f, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = f.Write(content)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	member(&zip.FileHeader{Name: "sdk/bin/b", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(len(content) - grows)}, packed.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func partsSpec(url string) sources.Spec {
	return sources.Spec{Kind: sources.KindArchive, Name: "sdk 1", URLs: []string{url}, Parts: &sources.Parts{},
		Layout: unpack.Layout{StripPrefix: "sdk", Only: []string{"bin/**"}}}
}

// TestHostileParts: a server that lies in a zip whose parts nobody has pinned gets nothing into a tree.
func TestHostileParts(t *testing.T) {
	entry := func(b []byte, name string) []byte { // of the directory, behind its mark
		at := bytes.LastIndex(b, []byte(name)) - 46
		if at < 0 || string(b[at:at+4]) != "PK\x01\x02" {
			t.Fatal("the directory is elsewhere")
		}
		return b[at:]
	}
	for _, c := range []struct {
		name    string
		content []byte
		grows   int
		damage  func(b []byte)
		want    error
		says    string
	}{
		{name: "bomb", content: make([]byte, 100<<20), want: archive.ErrTooLarge},
		{name: "member that grows", content: make([]byte, 1000), grows: 990, want: archive.ErrUnsafe, says: "more bytes"},
		{name: "member that shrinks", content: make([]byte, 1000), grows: -10, want: archive.ErrTruncated},
		{name: "overlapping members", content: make([]byte, 1000), damage: func(b []byte) {
			binary.LittleEndian.PutUint32(entry(b, "sdk/bin/b")[42:], binary.LittleEndian.Uint32(entry(b, "sdk/bin/a")[42:])+4)
		}, want: archive.ErrUnsafe, says: "overlaps"},
		{name: "member beyond the end", content: make([]byte, 1000), damage: func(b []byte) {
			binary.LittleEndian.PutUint32(entry(b, "sdk/bin/b")[42:], 1<<30)
		}, want: archive.ErrTruncated, says: "outside the zip file"},
		{name: "two names", content: make([]byte, 1000), damage: func(b []byte) {
			copy(b[bytes.Index(b, []byte("sdk/bin/b")):], "sdk/bin/c")
		}, want: archive.ErrUnsafe, says: "have different names"},
		{name: "entry out of the folder", content: make([]byte, 1000), damage: func(b []byte) {
			copy(b[bytes.Index(b, []byte("sdk/bin/b")):], "sdk/../xy")
			copy(b[bytes.LastIndex(b, []byte("sdk/bin/b")):], "sdk/../xy")
		}, want: archive.ErrUnsafe},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := partsZip(t, c.content, c.grows)
			if c.damage != nil {
				c.damage(b)
			}
			ranges := &atomic.Bool{}
			ranges.Store(true)
			url, sent := server(t, b, ranges)
			out := filepath.Join(t.TempDir(), "tree")
			_, err := sources.Learn(t.Context(), partsSpec(url), out, sources.Options{Downloads: t.TempDir()})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %v with %q", err, c.want, c.says)
			}
			if _, err := os.Lstat(out); err == nil {
				t.Error("there is a tree")
			}
			if sent.Load() > 2<<20 {
				t.Errorf("%d bytes were sent", sent.Load())
			}
		})
	}
}

// TestPinnedParts: with the directory's digest a swapped zip is refused before a member is downloaded, and a zip that
// was downloaded before serves as well.
func TestPinnedParts(t *testing.T) {
	b := partsZip(t, []byte("right"), 0)
	ranges := &atomic.Bool{}
	url, sent := server(t, b, ranges)
	s := partsSpec(url)
	sum := sha256.Sum256(b)
	s.Parts, s.SHA256, s.Size = nil, hex.EncodeToString(sum[:]), int64(len(b))
	o := sources.Options{Downloads: t.TempDir()}
	whole, err := sources.Learn(t.Context(), s, filepath.Join(t.TempDir(), "tree"), o)
	if err != nil || len(whole.Tree) != 64 || len(whole.Parts.Directory) != 64 || whole.Ranges {
		t.Fatalf("learned %+v of the whole zip, %v", whole, err)
	}
	ranges.Store(true)
	trusting := partsSpec(url)
	parts, err := sources.Learn(t.Context(), trusting, filepath.Join(t.TempDir(), "tree"),
		sources.Options{Downloads: t.TempDir()})
	if err != nil || !parts.Ranges || parts.Tree != whole.Tree || parts.Parts != whole.Parts {
		t.Errorf("learned %+v of the parts, %+v of the whole zip, %v", parts, whole, err)
	}
	s.Tree, s.Parts = whole.Tree, &whole.Parts
	if n := s.Download(t.TempDir()); n != whole.Parts.Size || n == 0 || n > 100 {
		t.Errorf("%d bytes are to be downloaded", n)
	}
	if n := s.Download(o.Downloads); n != 0 {
		t.Errorf("%d bytes are to be downloaded, and the zip is there", n)
	}
	offline := o
	offline.Offline = true
	if err := sources.Fetch(t.Context(), s, filepath.Join(t.TempDir(), "tree"), offline); err != nil {
		t.Errorf("with the whole zip: %v", err)
	}
	copy(b, partsZip(t, []byte("wrong"), 0))
	before := sent.Load()
	err = sources.Fetch(t.Context(), s, filepath.Join(t.TempDir(), "tree"), sources.Options{Downloads: t.TempDir()})
	if !errors.Is(err, fetch.ErrMismatch) || !strings.Contains(err.Error(), "central directory") ||
		sent.Load() > before+200<<10 {
		t.Errorf("a swapped zip: %v, %d bytes were sent", err, sent.Load()-before)
	}
}
