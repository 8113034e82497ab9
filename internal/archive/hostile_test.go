package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/flate"
	"github.com/mholt/archives"

	"github.com/hexmage/hexmage/internal/archive"
)

// yard is a folder with what an archive must not touch, and the place where it is unpacked.
type yard struct{ dir, dest, in string }

const canary = "sing"

func newYard(t testing.TB, b []byte) yard {
	t.Helper()
	y := yard{dir: t.TempDir()}
	y.dest, y.in = filepath.Join(y.dir, "work", "out"), filepath.Join(y.dir, "in")
	err := errors.Join(os.MkdirAll(filepath.Join(y.dir, "canary"), 0o755),
		os.Mkdir(filepath.Join(y.dir, "work"), 0o755),
		os.WriteFile(filepath.Join(y.dir, "canary", "bird"), []byte(canary), 0o644),
		os.WriteFile(filepath.Join(y.dir, "evil"), []byte(canary), 0o644), os.WriteFile(y.in, b, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// check says whether anything outside of dest is not as it was.
func (y yard) check(t testing.TB, unpacked bool) {
	t.Helper()
	if unpacked {
		if err := os.RemoveAll(y.dest); err != nil {
			t.Error(err)
		}
	}
	got := slices.DeleteFunc(list(t, y.dir), func(l string) bool { return strings.HasPrefix(l, "f in ") })
	if d := cmp.Diff([]string{"d canary", "d work", "f canary/bird sing", "f evil sing"}, got); d != "" {
		t.Errorf("outside of the destination (-want +got):\n%s", d)
	}
}

// hostile is an archive that has to be refused, and what the error is and says.
type hostile struct {
	b    []byte
	opt  archive.Options
	want error
	text string
}

func (h hostile) refuse(t *testing.T) {
	t.Helper()
	y := newYard(t, h.b)
	err := archive.Unpack(context.Background(), y.dest, h.opt, y.in)
	if err == nil {
		t.Errorf("no error; unpacked %v", list(t, y.dest))
	}
	if h.want != nil && !errors.Is(err, h.want) {
		t.Errorf("error %v, want one that is %v", err, h.want)
	}
	if err != nil && !strings.Contains(err.Error(), h.text) {
		t.Errorf("error %q does not say %q", err, h.text)
	}
	y.check(t, err == nil)
}

func TestHostileNames(t *testing.T) {
	lnk := func(name, to string) item { return item{name: name, typ: tar.TypeSymlink, link: to} }
	plain := func(name string) item { return item{name: name, body: "x"} }
	for name, c := range map[string]struct {
		items []item
		text  string
	}{
		"dot dot":                   {[]item{plain("../evil")}, `"../evil"`},
		"dot dot inside":            {[]item{plain("a/../../evil")}, `"a/../../evil"`},
		"dot dot that comes back":   {[]item{plain("../out/x")}, `"../out/x"`},
		"dot dot at the end":        {[]item{plain("a/..")}, `"a/.."`},
		"absolute":                  {[]item{plain("/etc/evil")}, `"/etc/evil"`},
		"drive":                     {[]item{plain(`C:/evil`)}, `"C:/evil"`},
		"drive and backslash":       {[]item{plain(`c:\evil`)}, `evil`},
		"link out":                  {[]item{lnk("a", "../canary")}, `"a"`},
		"link to the parent":        {[]item{lnk("a", "..")}, `"a"`},
		"absolute link":             {[]item{lnk("a", "/etc/passwd")}, `"a"`},
		"link out, then through it": {[]item{lnk("d", "../canary"), plain("d/bird")}, `"d"`},
		"through it, then the link": {[]item{plain("d/bird"), lnk("d", "../canary")}, `"d"`},
		"link, file of its name":    {[]item{lnk("d", "../evil"), plain("d")}, `"d"`},
		"link inside, written to":   {[]item{plain("e"), lnk("d", "e"), plain("d")}, `"d"`},
		"link to a link out":        {[]item{lnk("p/q/r", "../.."), lnk("out", "p/q/r/../x")}, `"out"`},
		"links that climb": {[]item{lnk("a", "b/.."), lnk("b", "c/.."), lnk("c", "d/.."), lnk("d", ".")},
			`outside the target folder`},
		"twice":                   {[]item{plain("a/x"), plain("a/x")}, `"a/x" twice`},
		"twice, told differently": {[]item{plain("a/x"), plain("./a//x")}, `"a/x" twice`},
		"case": {[]item{plain("a/Makefile"), plain("a/makefile")},
			`"a/Makefile" and "a/makefile"`},
		"case of a folder":  {[]item{plain("Lib/a"), plain("lib/b")}, `"Lib" and "lib"`},
		"case of a link":    {[]item{plain("a"), lnk("A", "b")}, `"a" and "A"`},
		"case beyond ASCII": {[]item{plain("straße"), plain("STRASSE")}, `"straße" and "STRASSE"`},
		"forms of an accent": {[]item{plain("caf\u00e9"), plain("cafe\u0301")},
			`differ only in case or Unicode form`},
		"forms of an accent in case": {[]item{plain("CAF\u00c9"), plain("cafe\u0301")}, `differ only`},
		"file and folder":            {[]item{plain("a"), plain("a/b")}, `"a"`},
		"no name but a dot":          {[]item{plain(".")}, `is a file`},
		"device":                     {[]item{{name: "null", typ: tar.TypeChar}}, `"null"`},
		"block device":               {[]item{{name: "sda", typ: tar.TypeBlock}}, `"sda"`},
		"pipe":                       {[]item{{name: "pipe", typ: tar.TypeFifo}}, `"pipe"`},
		"setuid":                     {[]item{{name: "su", body: "x", mode: 0o4755}}, `"su"`},
		"setgid":                     {[]item{{name: "sg", body: "x", mode: 0o2755}}, `"sg"`},
		"too deep":                   {[]item{plain(strings.Repeat("a/", 300) + "x")}, `folders deep`},
		"a name that is too long":    {[]item{plain(strings.Repeat("n", 300))}, `300 bytes`},
	} {
		t.Run(name, func(t *testing.T) {
			tarred := tarBytes(t, c.items...)
			hostile{b: tarred, want: archive.ErrUnsafe, text: c.text}.refuse(t)
			hostile{b: compress(t, archives.Zstd{}, tarred), want: archive.ErrUnsafe, text: c.text}.refuse(t)
			var members []member
			for _, it := range c.items {
				m := member{name: it.name, body: it.body, unix: 0o100000 | uint32(it.mode)}
				if it.mode == 0 {
					m.unix = 0o100644
				}
				switch it.typ {
				case tar.TypeSymlink:
					m.unix, m.body = 0o120777, it.link
				case tar.TypeChar:
					m.unix = 0o020644
				case tar.TypeBlock:
					m.unix = 0o060644
				case tar.TypeFifo:
					m.unix = 0o010644
				}
				members = append(members, m)
			}
			hostile{b: rawZip(zipTail{}, members...), want: archive.ErrUnsafe, text: c.text}.refuse(t)
		})
	}
}

func TestHostileHardLinks(t *testing.T) {
	hard := func(name, to string) item { return item{name: name, typ: tar.TypeLink, link: to} }
	for name, items := range map[string][]item{
		"out":                {hard("a", "../evil")},
		"absolute":           {hard("a", "/etc/passwd")},
		"through a link out": {{name: "d", typ: tar.TypeSymlink, link: "../canary"}, hard("a", "d/bird")},
		"to a folder":        {{name: "d", typ: tar.TypeDir, mode: 0o755}, hard("a", "d")},
		"case":               {{name: "f", body: "x"}, hard("a", "f"), hard("A", "f")},
		"written through":    {{name: "f", body: "x"}, hard("a", "f"), {name: "a", body: "y"}},
	} {
		t.Run(name, func(t *testing.T) { hostile{b: tarBytes(t, items...), want: archive.ErrUnsafe}.refuse(t) })
	}
}

func deflated(t testing.TB, plain string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHostileZip(t *testing.T) {
	good := member{name: "good", body: "content"}
	zeros := strings.Repeat("\x00", 1<<20)
	kernel := deflated(t, zeros)
	bomb := member{name: "bomb", body: kernel, method: 8, size: ptr(uint32(1 << 20))}
	var quoted, same []member
	for i := range 200 { // each claims the members behind it as its content; all claim the same content
		quoted = append(quoted, member{name: fmt.Sprintf("f%03d", i), body: "", packed: ptr(uint32(34 * (199 - i))),
			size: ptr(uint32(34 * (199 - i)))})
		m := bomb
		m.name, m.body, m.offset, m.packed = fmt.Sprint("f", i), "", ptr(uint32(0)), ptr(uint32(len(kernel)))
		same = append(same, m)
	}
	same[0].body = kernel
	for name, c := range map[string]hostile{
		"members over one another": {b: rawZip(zipTail{}, append(quoted, good)...), want: archive.ErrUnsafe,
			text: `"f000" overlaps entry "f001"`},
		"members with one content": {b: rawZip(zipTail{}, same...), want: archive.ErrUnsafe, text: `overlaps entry "f`},
		"another name in front": {b: rawZip(zipTail{}, member{name: "good", local: "evil", body: "x"}),
			want: archive.ErrUnsafe, text: `"good": unsafe archive: the entry's header and the zip directory have different names`},
		"nothing in front": {b: rawZip(zipTail{}, good, member{name: "bad", localMark: "PK\x01\x02", body: "x"}),
			want: archive.ErrTruncated, text: `"bad"`},
		"false checksum": {b: rawZip(zipTail{}, member{name: "a", body: "x", crc: ptr(uint32(1))}),
			want: archive.ErrTruncated, text: `"a"`},
		"smaller than it says": {b: rawZip(zipTail{},
			member{name: "a", body: deflated(t, "hello"), method: 8, size: ptr(uint32(6))}),
			want: archive.ErrTruncated, text: `"a"`},
		"larger than it says": {b: rawZip(zipTail{},
			member{name: "a", body: deflated(t, "hello"), method: 8, size: ptr(uint32(4))}), want: archive.ErrUnsafe,
			text: `"a"`},
		"stored in more than it has": {
			b:    rawZip(zipTail{}, member{name: "a", body: "hello", size: ptr(uint32(6))}),
			want: archive.ErrTruncated, text: `"a"`,
		},
		"stored in much more": {
			b:    rawZip(zipTail{}, member{name: "a", body: "hello", size: ptr(uint32(1 << 31))}),
			want: archive.ErrTooLarge, text: "2147483648 bytes",
		},
		"a huge size": {
			b:    rawZip(zipTail{}, member{name: "a", body: "hello", method: 8, size: ptr(uint32(1<<32 - 2))}),
			want: archive.ErrTooLarge, text: "4294967294 bytes",
		},
		"a negative 64-bit size": {b: rawZip(zipTail{},
			member{name: "a", body: "hello", size: ptr(uint32(1<<32 - 1)),
				extra: append([]byte{1, 0, 8, 0}, bytes.Repeat([]byte{255}, 8)...)}), want: archive.ErrUnsafe,
			text: `"a"`},
		"a 64-bit size that is short": {b: rawZip(zipTail{},
			member{name: "a", body: "hello", size: ptr(uint32(1<<32 - 1)), extra: []byte{1, 0, 2, 0, 1, 1}}),
			want: archive.ErrTruncated, text: "directory"},
		"beyond the file": {b: rawZip(zipTail{},
			member{name: "a", body: "hello", packed: ptr(uint32(1 << 30)), size: ptr(uint32(1 << 30))}),
			want: archive.ErrTruncated, text: `"a"`},
		"at a place beyond the file": {b: rawZip(zipTail{},
			member{name: "a", body: "hello", offset: ptr(uint32(1 << 31))}), want: archive.ErrTruncated, text: `"a"`},
		"into the directory": {b: rawZip(zipTail{},
			member{name: "a", body: "hello", packed: ptr(uint32(40)), size: ptr(uint32(40))}),
			want: archive.ErrTruncated, text: `"a"`},
		"more entries than claimed": {b: rawZip(zipTail{count: ptr(uint16(1))}, good, member{name: "b"}),
			want: archive.ErrTruncated, text: "directory"},
		"fewer entries than claimed": {b: rawZip(zipTail{count: ptr(uint16(2))}, good), want: archive.ErrTruncated,
			text: "directory"},
		"many entries claimed": {b: rawZip(zipTail{count: ptr(uint16(65534))}, good), want: archive.ErrTruncated,
			text: "directory"},
		"directory elsewhere": {b: rawZip(zipTail{offset: ptr(uint32(3))}, good), want: archive.ErrTruncated,
			text: "directory"},
		"behind another zip": {b: append(rawZip(zipTail{}, member{name: "other", body: "x"}),
			rawZip(zipTail{}, good)...), want: archive.ErrTruncated, text: "directory"},
		"two end records": {b: twoEnds(), want: archive.ErrTruncated, text: "no entries"},
		"behind a script": {b: append([]byte("#!/bin/sh\n"), rawZip(zipTail{}, good)...),
			want: archive.ErrFormat},
		"followed by something": {b: append(rawZip(zipTail{}, good), "more"...), want: archive.ErrTruncated,
			text: "directory"},
		"encrypted": {b: rawZip(zipTail{}, member{name: "a", body: "x", flags: 1}),
			want: archive.ErrFormat, text: `"a" is encrypted`},
		"unknown method": {b: rawZip(zipTail{}, member{name: "a", body: "x", method: 9}),
			want: archive.ErrFormat, text: "method 9"},
		"a link's long target": {b: rawZip(zipTail{},
			member{name: "a", body: strings.Repeat("x", 5000), unix: 0o120777}), want: archive.ErrUnsafe, text: `"a"`},
		"too many entries": {b: rawZip(zipTail{}, same[:50]...), opt: archive.Options{MaxEntries: 20},
			want: archive.ErrTooLarge, text: "20"},
		"too many bytes": {b: rawZip(zipTail{}, bomb), opt: archive.Options{MaxBytes: 1 << 19},
			want: archive.ErrTooLarge, text: "524288"},
		"an evil comment": {b: rawZip(zipTail{comment: "PK\x05\x06" + strings.Repeat("\x00", 18)}, good), text: ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "an evil comment" { // an empty archive in the comment: two readings of one file
				c.want = archive.ErrTruncated
			}
			c.refuse(t)
		})
	}
}

// twoEnds is an archive with one directory by its record for large numbers, and another by its other one.
func twoEnds() []byte {
	b := wide()
	clear(b[len(b)-22+8:]) // nothing in it
	return b
}

// TestSeven: 7z archives are refused with what to do.
func TestSeven(t *testing.T) {
	b := append([]byte("7z\xbc\xaf\x27\x1c\x00\x04"), make([]byte, 100)...)
	hostile{b: b, want: archive.ErrFormat, text: "repack the content as zip or tar.xz"}.refuse(t)
}

// TestEmpty: an archive with nothing in it is no SDK.
func TestEmpty(t *testing.T) {
	nothing := tarBytes(t)
	hostile{b: nothing, want: archive.ErrFormat}.refuse(t) // zeros are any format or none
	for name, b := range map[string][]byte{
		"zip": zipBytes(t), "tar.gz": compress(t, archives.Gz{}, nothing), "deb": debBytes(nothing, "data.tar"),
	} {
		t.Run(name, hostile{b: b, want: archive.ErrTruncated}.refuse)
	}
}

// TestBombs unpacks things that grow: refused before they fill a disk, with little memory.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 12<<20)
	var members []item
	for i := range 8 {
		members = append(members, item{name: fmt.Sprint(i), body: zeros})
	}
	tarred := tarBytes(t, members...)
	for name, c := range map[string]hostile{
		"zip":     {b: zipBytes(t, members...), want: archive.ErrTooLarge},
		"tar.gz":  {b: compress(t, archives.Gz{}, tarred), want: archive.ErrTooLarge},
		"tar.zst": {b: compress(t, archives.Zstd{}, tarred), want: archive.ErrTooLarge},
		"tar.bz2": {b: compress(t, archives.Bz2{}, tarred), want: archive.ErrTooLarge},
		"padding": {b: compress(t, archives.Gz{}, append(tarBytes(t, item{name: "a"}), strings.Repeat(zeros, 6)...)),
			want: archive.ErrTooLarge},
	} {
		t.Run(name, c.refuse)
	}
	t.Run("nested", func(t *testing.T) { // an archive in an archive is a file
		inner := string(zipBytes(t, members...))
		y := newYard(t, zipBytes(t, item{name: "inner.zip", body: inner}))
		err := archive.Unpack(t.Context(), y.dest, archive.Options{}, y.in)
		if got, rerr := os.ReadFile(filepath.Join(y.dest, "inner.zip")); err != nil || string(got) != inner {
			t.Errorf("%d bytes, %v, %v", len(got), rerr, err)
		}
		y.check(t, true)
	})
}

// samples are small archives of every format, with the same content.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	items := []item{{name: "bin/tool", body: "#!", mode: 0o755}, {name: "lib/a", body: strings.Repeat("elf ", 30)},
		{name: "lib/b", typ: tar.TypeSymlink, link: "a"}, {name: "last", body: "end"}}
	plain := tarBytes(t, items...)
	return map[string][]byte{
		"tar": plain, "tar.gz": compress(t, archives.Gz{}, plain), "tar.xz": compress(t, archives.Xz{}, plain),
		"tar.zst": compress(t, archives.Zstd{}, plain), "tar.bz2": compress(t, archives.Bz2{}, plain),
		"zip": zipBytes(t, items...),
		"raw zip": rawZip(zipTail{}, member{name: "bin/tool", body: "#!", unix: 0o100755},
			member{name: "lib/a", body: strings.Repeat("elf ", 30)},
			member{name: "lib/b", body: "a", unix: 0o120777}, member{name: "last", body: "end"}),
		"deb": debBytes(compress(t, archives.Gz{}, plain), "data.tar.gz"),
	}
}

var sampleTree = []string{"d bin", "d lib", "f last end", "f lib/a " + strings.Repeat("elf ", 30), "l lib/b -> a",
	"x bin/tool #!"}

// TestTruncated cuts archives of every format at every place. What is left is refused, or, where only the end of the
// end mark is missing, unpacks to the whole.
func TestTruncated(t *testing.T) {
	for name, b := range samples(t) {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, nil)
			for n := range b {
				if n%max(len(b)/40, 1) != 0 && n < len(b)-5 {
					continue
				}
				if err := os.WriteFile(y.in, b[:n], 0o600); err != nil {
					t.Fatal(err)
				}
				err := archive.Unpack(context.Background(), y.dest, archive.Options{}, y.in)
				switch {
				case err == nil:
					if d := cmp.Diff(sampleTree, list(t, y.dest)); d != "" {
						t.Errorf("cut at %d of %d: unpacked (-want +got):\n%s", n, len(b), d)
					}
				case !errors.Is(err, archive.ErrTruncated) && !errors.Is(err, archive.ErrFormat):
					t.Errorf("cut at %d of %d: %v", n, len(b), err)
				}
				y.check(t, err == nil)
			}
		})
	}
}

// TestFlipped changes one byte of archives of every format: nothing outside is touched, whatever comes of it; and of
// a zip or a compressed tar no file has another content.
func TestFlipped(t *testing.T) {
	for name, b := range samples(t) {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, nil)
			for n := range b {
				if n%max(len(b)/60, 1) != 0 {
					continue
				}
				c := bytes.Clone(b)
				c[n] ^= 1 << (n % 8)
				if err := os.WriteFile(y.in, c, 0o600); err != nil {
					t.Fatal(err)
				}
				err := archive.Unpack(context.Background(), y.dest, archive.Options{}, y.in)
				if err == nil && strings.HasSuffix(name, "zip") {
					for _, l := range list(t, y.dest) {
						if strings.Contains(l, "lib/a") && !strings.HasSuffix(l, strings.Repeat("elf ", 30)) &&
							!strings.HasSuffix(l, "-> a") {
							t.Errorf("flipped byte %d: %q", n, l)
						}
					}
				}
				y.check(t, err == nil)
			}
		})
	}
}

// TestWrongName: what a file is called says nothing.
func TestWrongName(t *testing.T) {
	for name, b := range samples(t) {
		for _, ext := range []string{".zip", ".tar.gz", ".deb", ".7z", ""} {
			dir := t.TempDir()
			in := filepath.Join(dir, "archive"+ext)
			if err := os.WriteFile(in, b, 0o600); err != nil {
				t.Fatal(err)
			}
			dest := filepath.Join(dir, "out")
			if err := archive.Unpack(t.Context(), dest, archive.Options{}, in); err != nil {
				t.Errorf("%s as %s: %v", name, ext, err)
			} else if d := cmp.Diff(sampleTree, list(t, dest)); d != "" {
				t.Errorf("%s as %s (-want +got):\n%s", name, ext, d)
			}
		}
	}
}

// TestManyEntries: an archive of nothing but names is stopped by their number, with little memory.
func TestManyEntries(t *testing.T) {
	var members []member
	for i := range 200_000 {
		members = append(members, member{name: fmt.Sprint("d/", i)})
	}
	for name, c := range map[string]struct {
		b     []byte
		limit int
	}{"one too many": {rawZip(zipTail{}, members[:30000]...), 29999},
		"fewer claimed": {rawZip(zipTail{count: ptr(uint16(7))}, members...), 9999}} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, c.b)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := archive.Unpack(t.Context(), y.dest, archive.Options{MaxEntries: c.limit}, y.in)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, archive.ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprint(c.limit)) {
				t.Errorf("error %v", err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
				t.Errorf("%d bytes allocated to find that out", n)
			}
			y.check(t, false)
		})
	}
}

// TestDebRights: a distribution's package may have programs with their owner's rights, and names that differ in case
// only; the former lose the right.
func TestDebRights(t *testing.T) {
	b := debBytes(tarBytes(t, item{name: "usr/bin/su", body: "x", mode: 0o4755}, item{name: "a", body: "1"},
		item{name: "A", body: "2"}), "data.tar")
	y := newYard(t, b)
	if err := archive.Unpack(t.Context(), y.dest, archive.Options{}, y.in); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(y.dest, "usr/bin/su")); err != nil || info.Mode() != fs.FileMode(0o755) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	y.check(t, true)
}
