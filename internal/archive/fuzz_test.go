package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"github.com/hexmage/hexmage/internal/archive"
)

func FuzzTarNames(f *testing.F) {
	f.Add("a", "b", "../x", byte(tar.TypeSymlink))
	f.Add("../a", "", "", byte(tar.TypeReg))
	f.Add("a/b/c", "../..", "a/b/c/..", byte(tar.TypeSymlink))
	f.Add("./x", "/", "x/../../y", byte(tar.TypeLink))
	f.Fuzz(func(t *testing.T, first, target, second string, typ byte) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range []*tar.Header{{Name: first, Linkname: target, Typeflag: tar.TypeSymlink, Mode: 0o777},
			{Name: second, Linkname: first, Typeflag: typ, Mode: 0o644},
			{Name: first + "/" + second, Typeflag: tar.TypeReg}} {
			if w.WriteHeader(h) != nil {
				return
			}
		}
		if w.Close() != nil {
			return
		}
		outer := t.TempDir()
		in := filepath.Join(outer, "in")
		if err := os.WriteFile(in, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		dest := filepath.Join(outer, "dest")
		err := archive.Unpack(context.Background(), dest, archive.Options{RelativeLinks: true}, in)
		names, _ := os.ReadDir(outer)
		if want := 2; err == nil && len(names) != want || err != nil && len(names) != 1 {
			t.Fatalf("error %v left %v", err, names)
		}
		if err != nil {
			return
		}
		_ = filepath.WalkDir(dest, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type() == fs.ModeSymlink {
				if to, err := filepath.EvalSymlinks(p); err == nil && to != dest && !strings.HasPrefix(to, dest+"/") {
					t.Fatalf("%s leads to %s", p, to)
				}
			}
			return nil
		})
	})
}

// fuzzUnpack unpacks what begins as the format does. Whatever it is, nothing outside of the destination changes, and
// after an error nothing is left.
func fuzzUnpack(f *testing.F, magic string, seeds ...[]byte) {
	for _, b := range seeds {
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < len(magic) || len(b) > 1<<20 {
			return
		}
		b = append([]byte(magic), b[len(magic):]...) // the argument itself must stay
		y := newYard(t, b)
		err := archive.Unpack(context.Background(), y.dest, archive.Options{MaxBytes: 64 << 20}, y.in)
		if err == nil && strings.HasPrefix(magic, "PK") {
			sameZip(t, y.dest, b)
		}
		y.check(t, err == nil)
	})
}

// sameZip compares what was unpacked with what another reader finds in the zip.
func sameZip(t *testing.T, dest string, b []byte) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("unpacked, but %v", err)
	}
	for _, e := range z.File {
		info, err := os.Lstat(filepath.Join(dest, filepath.FromSlash(e.Name)))
		if err != nil {
			t.Errorf("%q was not unpacked: %v", e.Name, err)
		} else if info.Mode().IsRegular() && uint64(info.Size()) != e.UncompressedSize64 {
			t.Errorf("%q has %d bytes, not %d", e.Name, info.Size(), e.UncompressedSize64)
		}
	}
}

func FuzzZip(f *testing.F) {
	s := samples(f)
	fuzzUnpack(f, "PK\x03\x04", s["zip"], s["raw zip"], wide())
}

func FuzzTar(f *testing.F)    { fuzzUnpack(f, "", samples(f)["tar"]) }
func FuzzTarGz(f *testing.F)  { fuzzUnpack(f, "\x1f\x8b", samples(f)["tar.gz"]) }
func FuzzTarXz(f *testing.F)  { fuzzUnpack(f, "\xfd7zXZ\x00", samples(f)["tar.xz"]) }
func FuzzTarZst(f *testing.F) { fuzzUnpack(f, "\x28\xb5\x2f\xfd", samples(f)["tar.zst"]) }
func FuzzTarBz2(f *testing.F) { fuzzUnpack(f, "BZh", samples(f)["tar.bz2"]) }
func FuzzDeb(f *testing.F)    { fuzzUnpack(f, "!<arch>\n", samples(f)["deb"]) }
