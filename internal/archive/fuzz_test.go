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
			{Name: second, Linkname: first, Typeflag: typ, Mode: 0o644}, {Name: first + "/" + second, Typeflag: tar.TypeReg}} {
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
		_, err := archive.Unpack(context.Background(), dest, archive.Options{RelativeLinks: true}, in)
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

func FuzzDeb(f *testing.F) {
	f.Add(debBytes([]byte("data"), "data.tar"))
	f.Add([]byte("!<arch>\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 8 {
			return
		}
		copy(b, "!<arch>\n")
		dir := t.TempDir()
		in := filepath.Join(dir, "in")
		if err := os.WriteFile(in, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = archive.Unpack(context.Background(), filepath.Join(dir, "out"), archive.Options{}, in)
	})
}
