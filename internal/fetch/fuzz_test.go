package fetch

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/hexmage/hexmage/internal/archive"
)

// FuzzZipDirectory: the pieces that are read of an archive lie within it, in order, whatever its bytes are.
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
	f.Fuzz(func(t *testing.T, b []byte) {
		ms, err := archive.ListZip(bytes.NewReader(b), int64(len(b)), 1000)
		if err != nil {
			return
		}
		for _, end := range []int64{int64(len(b)), int64(len(b) / 2)} {
			at := int64(0)
			segs := extents(ms, end, 10)
			for _, s := range segs {
				if s[0] < at || s[1] < s[0] || s[1] > end {
					t.Fatalf("pieces %v up to %d", segs, end)
				}
				at = s[1]
			}
			for _, m := range ms {
				if m.Offset < end && !slices.ContainsFunc(segs, func(s [2]int64) bool {
					return s[0] <= m.Offset && m.Offset < s[1]
				}) {
					t.Errorf("the member at %d is in no piece of %v", m.Offset, segs)
				}
			}
		}
	})
}

// FuzzMessage: whatever a server sends, what is shown of it is one line without anything that a terminal obeys.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("<html><head><title>x</title></head><body>\x1b[2Jhi"))
	f.Add([]byte(`{"error":{"message":"no\u001b[31m"}}`))
	f.Add([]byte("a\xff\xfe\u202eb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text := message(b)
		if len([]rune(text)) > maxMessage+3 ||
			strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
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
	f.Add([]byte(`{"url":"https://x","validator":"\"1\"","total":100}`), 80)
	f.Add([]byte(`{"total":-1}`), 5)
	f.Add([]byte(`{"total":10`), 10)
	f.Fuzz(func(t *testing.T, state []byte, size int) {
		name := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(name, make([]byte, min(max(size, 0), 1000)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+stateSuffix, state, 0o644); err != nil {
			t.Fatal(err)
		}
		p := oldPart(name)
		if p == nil {
			return
		}
		defer p.close()
		if p.done < 0 || p.done > int64(max(size, 0)) || p.Total >= 0 && p.done > p.Total {
			t.Errorf("%d bytes of %d in a file of %d", p.done, p.Total, size)
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
