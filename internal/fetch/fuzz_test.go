package fetch

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// FuzzZipDirectory: what is read of a central directory lies within the archive, whatever its bytes are.
func FuzzZipDirectory(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"a", "d/b"} {
		w, err := z.Create(name)
		if err != nil {
			f.Fatal(err)
		}
		_, _ = w.Write([]byte(name))
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(wide())
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := findDirectory(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if d.start < 0 || d.end < d.start || d.end > int64(len(b)) {
			t.Fatalf("directory %+v of %d bytes", d, len(b))
		}
		ms, err := parseDirectory(b[d.start:d.end], d)
		if err != nil {
			return
		}
		at := int64(0)
		segs, _ := extents(ms, d, func(zipMember) bool { return true }, 10, 100)
		for _, s := range segs {
			if s[0] < at || s[1] < s[0] || s[1] > d.start {
				t.Fatalf("pieces %v of %+v", segs, d)
			}
			at = s[1]
		}
	})
}

// wide is an archive of one empty member whose numbers are all in zip64 records.
func wide() []byte {
	le := func(v uint64, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		return b
	}
	all := func(bs ...[]byte) []byte { return bytes.Join(bs, nil) }
	local := all([]byte("PK\x03\x04"), le(45, 2), make([]byte, 20), le(1, 2), le(0, 2), []byte("a"))
	extra := all(le(1, 2), le(24, 2), le(0, 8), le(0, 8), le(0, 8))
	entry := all([]byte("PK\x01\x02"), le(45, 2), le(45, 2), make([]byte, 8), le(0, 4), le(1<<32-1, 4), le(1<<32-1, 4), le(1, 2), le(uint64(len(extra)), 2),
		make([]byte, 2+2+2+4), le(1<<32-1, 4), []byte("a"), extra)
	at := len(local) + len(entry)
	end64 := all([]byte("PK\x06\x06"), le(44, 8), le(45, 2), le(45, 2), le(0, 4), le(0, 4), le(1, 8), le(1, 8), le(uint64(len(entry)), 8), le(uint64(len(local)), 8))
	locator := all([]byte("PK\x06\x07"), le(0, 4), le(uint64(at), 8), le(1, 4))
	end := all([]byte("PK\x05\x06"), le(0, 4), le(1<<16-1, 2), le(1<<16-1, 2), le(1<<32-1, 4), le(1<<32-1, 4), le(0, 2))
	return all(local, entry, end64, locator, end)
}

func TestZip64(t *testing.T) {
	b := wide()
	d, err := findDirectory(bytes.NewReader(b), int64(len(b)))
	if err != nil || d.entries != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	ms, err := parseDirectory(b[d.start:d.end], d)
	if err != nil || len(ms) != 1 || ms[0].name != "a" || ms[0].offset != 0 || ms[0].packed != 0 {
		t.Errorf("%+v, %v", ms, err)
	}
	for _, n := range []int{0, 3, len(b) - 1, len(b) / 2} {
		if _, err := findDirectory(bytes.NewReader(b[:n]), int64(n)); err == nil {
			t.Errorf("%d of %d bytes: no error", n, len(b))
		}
	}
}

// FuzzMessage: whatever a server sends, what is shown of it is one line without anything that a terminal obeys.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("<html><head><title>x</title></head><body>\x1b[2Jhi"))
	f.Add([]byte(`{"error":{"message":"no\u001b[31m"}}`))
	f.Add([]byte("a\xff\xfe\u202eb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text := message(b)
		if len([]rune(text)) > maxMessage+3 || strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("%q", text)
		}
		_ = pageKind(b)
	})
}

// FuzzContentRange: a range that is taken is one.
func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-9/10")
	f.Add("bytes 5-9/*")
	f.Add("bytes */10")
	f.Fuzz(func(t *testing.T, s string) {
		start, end, total, ok := contentRange(s)
		if ok && (start < 0 || end <= start || total >= 0 && end > total) {
			t.Errorf("%q: %d %d %d", s, start, end, total)
		}
	})
}

// FuzzPartState: whatever is in the file beside a part, what is taken of it fits the part.
func FuzzPartState(f *testing.F) {
	dir := f.TempDir()
	p, err := newPart(filepath.Join(dir, "seed"), partMeta{URL: "https://x", Validator: `"1"`, Total: 100, Segments: chunks(100, 40)}, true)
	if err != nil {
		f.Fatal(err)
	}
	if err := p.write(p.segs[1], make([]byte, 20)); err != nil {
		f.Fatal(err)
	}
	p.close()
	seed, err := os.ReadFile(filepath.Join(dir, "seed"+stateSuffix))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, 60)
	f.Add(seed[:len(seed)-1], 60)
	f.Add(seed, 10)
	f.Add([]byte(`{"total":-1,"segments":[[0,-1]]}`+"\n\x05\x00\x00\x00\x00\x00\x00\x00"), 5)
	f.Fuzz(func(t *testing.T, state []byte, size int) {
		name := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(name, make([]byte, min(max(size, 0), 1000)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+stateSuffix, state, 0o644); err != nil {
			t.Fatal(err)
		}
		p := oldPart(name, true)
		if p == nil {
			return
		}
		defer p.close()
		var sum int64
		for _, s := range p.segs {
			done := s.done.Load()
			sum += done
			if done < 0 || s.end >= 0 && s.start+done > s.end || done > 0 && s.start+done > int64(size) {
				t.Errorf("segment %d to %d has %d of a file of %d", s.start, s.end, done, size)
			}
		}
		if sum != p.bytes() || p.frontier() > int64(max(size, 0)) {
			t.Errorf("%d bytes of %d, whole up to %d", p.bytes(), sum, p.frontier())
		}
	})
}

// FuzzNetrc: no login of a file is for every host, and no error shows a word of it.
func FuzzNetrc(f *testing.F) {
	f.Add("machine a login b password c\ndefault login d password e\nmacdef x\nfoo\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		logins, err := Netrc(strings.NewReader(text))
		for _, l := range logins {
			if l.Host == "" || l.Header != "Authorization" || !strings.HasPrefix(l.Value, "Basic ") {
				t.Errorf("%+v", l)
			}
		}
		if err != nil && len(err.Error()) > 100 {
			t.Errorf("%v", err)
		}
	})
}
