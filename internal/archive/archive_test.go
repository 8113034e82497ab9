package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mholt/archives"

	"github.com/hexmage/hexmage/internal/archive"
)

type item struct {
	name, body, link string
	typ              byte // as in tar; 0 is a regular file
	mode             int64
}

func tarBytes(t testing.TB, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, it := range items {
		h := &tar.Header{Name: it.name, Linkname: it.link, Typeflag: it.typ, Mode: it.mode, Size: int64(len(it.body))}
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, it.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipBytes(t testing.TB, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, it := range items {
		h := &zip.FileHeader{Name: it.name, Method: zip.Deflate}
		mode, body := fs.FileMode(0o644), it.body
		if it.mode != 0 {
			mode = fs.FileMode(it.mode)
		}
		switch it.typ {
		case tar.TypeSymlink:
			mode, body = fs.ModeSymlink|0o777, it.link
		case tar.TypeFifo:
			mode |= fs.ModeNamedPipe
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compress(t testing.TB, c archives.Compressor, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := c.OpenWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func debBytes(data []byte, dataName string) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range []struct {
		name string
		body []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", []byte("odd")}, {dataName, data}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.name, 0, 0, 0, "100644", len(m.body))
		b.Write(m.body)
		if len(m.body)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func file(t testing.TB, b []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "archive.bin")
	if err := os.WriteFile(p, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// list shows a tree as sorted lines: "f path content", "x path content" for executables, "l path -> target", "d path".
func list(t testing.TB, dir string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case rel == ".":
		case d.IsDir():
			lines = append(lines, "d "+rel)
		case d.Type() == fs.ModeSymlink:
			to, _ := os.Readlink(p)
			lines = append(lines, "l "+rel+" -> "+to)
		default:
			body, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			mark := "f "
			if info.Mode()&0o111 != 0 {
				mark = "x "
			}
			lines = append(lines, mark+rel+" "+string(body))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return lines
}

var sdk = []item{
	{name: "sdk/1.0/", typ: tar.TypeDir, mode: 0o755},
	{name: "sdk/1.0/bin/tool", body: "#!", mode: 0o755},
	{name: "sdk/1.0/lib/liba.so.1", body: "elf"},
	{name: "sdk/1.0/lib/liba.so", typ: tar.TypeSymlink, link: "liba.so.1"},
	{name: "README", body: "outside the prefix"},
}

func TestFormats(t *testing.T) {
	plain := tarBytes(t, sdk...)
	want := []string{"d bin", "d lib", "f lib/liba.so.1 elf", "l lib/liba.so -> liba.so.1", "x bin/tool #!"}
	dirZip := append([]item{}, sdk...)
	dirZip[0].mode = int64(fs.ModeDir | 0o755)
	for name, b := range map[string][]byte{
		"tar": plain, "tar.gz": compress(t, archives.Gz{}, plain), "tar.xz": compress(t, archives.Xz{}, plain),
		"tar.zst": compress(t, archives.Zstd{}, plain), "tar.bz2": compress(t, archives.Bz2{}, plain),
		"zip": zipBytes(t, dirZip...), "deb xz": debBytes(compress(t, archives.Xz{}, plain), "data.tar.xz"),
		"deb zst": debBytes(compress(t, archives.Zstd{}, plain), "data.tar.zst"),
		"deb gz":  debBytes(compress(t, archives.Gz{}, plain), "data.tar.gz"), "deb": debBytes(plain, "data.tar/"),
	} {
		t.Run(name, func(t *testing.T) {
			dest := filepath.Join(t.TempDir(), "out")
			err := archive.Unpack(context.Background(), dest, archive.Options{StripPrefix: "sdk/1.0"}, file(t, b))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, list(t, dest)); d != "" {
				t.Errorf("tree (-want +got):\n%s", d)
			}
		})
	}
}

func TestHostile(t *testing.T) {
	lnk := func(name, to string) item { return item{name: name, typ: tar.TypeSymlink, link: to} }
	hard := func(name, to string) item { return item{name: name, typ: tar.TypeLink, link: to} }
	bomb := compress(t, archives.Gz{}, tarBytes(t, item{name: "zeros", body: strings.Repeat("\x00", 100<<20)}))
	good := tarBytes(t, sdk...)
	gz := compress(t, archives.Gz{}, good)
	flipped := bytes.Clone(gz)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	zipped := zipBytes(t, item{name: "a", body: strings.Repeat("hello ", 1000)})
	badCRC := bytes.Replace(zipBytes(t, item{name: "a", body: "x"}), []byte("PK\x07\x08"), []byte("PK\x07\x08"), 1)
	badCRC[31] ^= 0x20
	for name, c := range map[string]struct {
		b    []byte
		opt  archive.Options
		want error
		text string
	}{
		"dot dot": {b: tarBytes(t, item{name: "../evil", body: "x"}), want: archive.ErrUnsafe,
			text: `"../evil"`},
		"dot dot inside": {b: tarBytes(t, item{name: "a/../../evil", body: "x"}), want: archive.ErrUnsafe},
		"zip dot dot":    {b: zipBytes(t, item{name: "a/../../evil", body: "x"}), want: archive.ErrUnsafe},
		"zip backslash":  {b: zipBytes(t, item{name: `..\evil`, body: "x"}), want: archive.ErrUnsafe},
		"zip absolute":   {b: zipBytes(t, item{name: "/etc/evil", body: "x"}), want: archive.ErrUnsafe},
		"absolute": {b: tarBytes(t, item{name: "/etc/evil", body: "x"}), want: archive.ErrUnsafe,
			text: "absolute path"},
		"link out": {b: tarBytes(t, lnk("a", "../x")), want: archive.ErrUnsafe, text: "outside the target folder"},
		"link out through a link": {b: tarBytes(t, lnk("p/q/r", "../.."), lnk("out", "p/q/r/../x")),
			want: archive.ErrUnsafe},
		"zip link out":  {b: zipBytes(t, lnk("a", "../../etc/passwd")), want: archive.ErrUnsafe},
		"absolute link": {b: tarBytes(t, lnk("a", "/etc/passwd")), want: archive.ErrUnsafe},
		"file through a link": {b: tarBytes(t, lnk("d", "."), item{name: "d/x", body: "x"}),
			want: archive.ErrUnsafe, text: "symbolic link"},
		"hard link out":        {b: tarBytes(t, hard("a", "../../etc/passwd")), want: archive.ErrUnsafe},
		"hard link to nothing": {b: tarBytes(t, hard("a", "b")), want: archive.ErrUnsafe},
		"hard links in a ring": {b: tarBytes(t, hard("a", "b"), hard("b", "a")), want: archive.ErrUnsafe},
		"pipe":                 {b: tarBytes(t, item{name: "p", typ: tar.TypeFifo}), want: archive.ErrUnsafe},
		"zip pipe":             {b: zipBytes(t, item{name: "p", typ: tar.TypeFifo}), want: archive.ErrUnsafe},
		"device":               {b: tarBytes(t, item{name: "sda", typ: tar.TypeBlock}), want: archive.ErrUnsafe},
		"file becomes folder": {b: tarBytes(t, item{name: "a", body: "x"}, item{name: "a/b", body: "y"}),
			want: archive.ErrUnsafe},
		"folder becomes file": {b: tarBytes(t, item{name: "a/b", body: "y"}, item{name: "a", body: "x"}),
			want: archive.ErrUnsafe, text: "twice"},
		"file becomes link": {b: tarBytes(t, item{name: "a", body: "y"}, lnk("a", "b")),
			want: archive.ErrUnsafe},
		"long name": {b: tarBytes(t, item{name: strings.Repeat("n", 300), body: "x"}),
			want: archive.ErrUnsafe},
		"not text":         {b: tarBytes(t, item{name: "a\xff", body: "x"}), want: archive.ErrUnsafe},
		"too many entries": {b: good, opt: archive.Options{MaxEntries: 3}, want: archive.ErrTooLarge},
		"too many bytes":   {b: good, opt: archive.Options{MaxBytes: 4}, want: archive.ErrTooLarge},
		"bomb":             {b: bomb, want: archive.ErrTooLarge},
		"empty":            {b: nil, want: archive.ErrTruncated},
		"an error page": {b: []byte("<!doctype html><html>denied"), want: archive.ErrFormat,
			text: "doctype"},
		"cut tar":             {b: good[:len(good)-1024], want: archive.ErrTruncated, text: "end mark"},
		"cut tar in a file":   {b: good[:1600], want: archive.ErrTruncated},
		"cut gz":              {b: gz[:len(gz)-9], want: archive.ErrTruncated},
		"flipped gz":          {b: flipped, want: archive.ErrTruncated},
		"cut zip":             {b: zipped[:len(zipped)-30], want: archive.ErrTruncated},
		"flipped zip":         {b: badCRC, want: archive.ErrTruncated},
		"cut deb":             {b: debBytes(gz, "data.tar.gz")[:300], want: archive.ErrTruncated},
		"deb without data":    {b: debBytes(gz, "other"), want: archive.ErrTruncated},
		"deb of unknown kind": {b: debBytes(gz, "data.tar.lzma"), want: archive.ErrFormat},
		"ar that is no deb":   {b: []byte("!<arch>\n"), want: archive.ErrFormat},
		"prefix not there": {b: good, opt: archive.Options{StripPrefix: "sdk/2.0"},
			text: "Available: README, sdk/1.0"},
		"prefix is a file": {b: good, opt: archive.Options{StripPrefix: "README"}, want: archive.ErrUnsafe},
		"finish refuses": {b: good,
			opt: archive.Options{Finish: func(*os.Root) error { return fs.ErrInvalid }}, want: fs.ErrInvalid},
		"entry in a name with NUL": {b: zipBytes(t, item{name: "a\x00b", body: "x"}), want: archive.ErrUnsafe},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			dest := filepath.Join(dir, "out")
			err := archive.Unpack(context.Background(), dest, c.opt, file(t, c.b))
			if err == nil {
				t.Fatalf("no error; unpacked %v", list(t, dest))
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want one that is %v", err, c.want)
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %q does not say %q", err, c.text)
			}
			if left := list(t, dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	b := tarBytes(t,
		item{name: "./usr/lib/x.so.1", body: "x"},
		item{name: "./etc/alternatives/cc", typ: tar.TypeSymlink, link: "/usr/lib/x.so.1"},
		item{name: "./hard", typ: tar.TypeLink, link: "./usr/lib/x.so.1"},
		item{name: "./harder", typ: tar.TypeLink, link: "hard"},
		item{name: "./sub/soft", typ: tar.TypeLink, link: "etc/alternatives/cc"},
		item{name: "./dangling", typ: tar.TypeSymlink, link: "no/where"},
		item{name: "./loop", typ: tar.TypeSymlink, link: "loop"},
		item{name: "./root", typ: tar.TypeSymlink, link: "/"},
	)
	dest := filepath.Join(t.TempDir(), "out")
	if err := archive.Unpack(context.Background(), dest, archive.Options{RelativeLinks: true},
		file(t, b)); err != nil {
		t.Fatal(err)
	}
	want := []string{"d etc", "d etc/alternatives", "d sub", "d usr", "d usr/lib", "f hard x", "f harder x",
		"f usr/lib/x.so.1 x",
		"l dangling -> no/where", "l etc/alternatives/cc -> ../../usr/lib/x.so.1", "l loop -> loop", "l root -> .",
		"l sub/soft -> ../usr/lib/x.so.1"}
	got := list(t, dest)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tree (-want +got):\n%s", d)
	}
	for _, l := range []string{"etc/alternatives/cc", "sub/soft"} {
		if body, err := os.ReadFile(filepath.Join(dest, l)); string(body) != "x" {
			t.Errorf("%s holds %q, %v", l, body, err)
		}
	}
}

func TestSeveral(t *testing.T) {
	a := file(t, tarBytes(t, item{name: "d/a", body: "a"}))
	b := file(t, zipBytes(t, item{name: "d/b", body: "b"}))
	dest := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(dest, 0o755); err != nil { // an empty folder is a fine destination
		t.Fatal(err)
	}
	if err := archive.Unpack(context.Background(), dest, archive.Options{}, a, b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"d d", "f d/a a", "f d/b b"}, list(t, dest)); d != "" {
		t.Errorf("tree (-want +got):\n%s", d)
	}
	if err := archive.Unpack(context.Background(), dest, archive.Options{}, a); err == nil {
		t.Error("unpacked into a folder that is not empty")
	}
	if err := archive.Unpack(context.Background(), dest+"2", archive.Options{}, a, a); !errors.Is(err,
		archive.ErrUnsafe) {
		t.Errorf("the same file from two archives: %v, want %v", err, archive.ErrUnsafe)
	}
}

func TestKeep(t *testing.T) {
	keep := func(p string) bool { return strings.HasPrefix(p, "lib/") }
	for name, b := range map[string][]byte{"tar": tarBytes(t, sdk...), "zip": zipBytes(t, sdk[1:]...)} {
		dest := filepath.Join(t.TempDir(), "out")
		if err := archive.Unpack(context.Background(), dest, archive.Options{StripPrefix: "sdk/1.0", Keep: keep},
			file(t, b)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"d lib", "f lib/liba.so.1 elf", "l lib/liba.so -> liba.so.1"},
			list(t, dest)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	if err := archive.Unpack(ctx, filepath.Join(dir, "out"), archive.Options{},
		file(t, tarBytes(t, sdk...))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if left := list(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
