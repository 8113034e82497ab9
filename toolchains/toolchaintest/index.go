package toolchaintest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// wheel returns a wheel with one module and a program.
func wheel(t testing.TB, name, version, code, needs string) []byte {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	files := [][2]string{{name + ".py", code},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n" + needs}, {info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "entry_points.txt", "[console_scripts]\n" + name + "-tool = " + name + ":main\n"}}
	record := ""
	for _, f := range files {
		sum := sha256.Sum256([]byte(f[1]))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f[0], base64.RawURLEncoding.EncodeToString(sum[:]), len(f[1]))
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range append(files, [2]string{info + "RECORD", record + info + "RECORD,,\n"}) {
		w, err := z.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(f[1]))
	}
	if _, err := z.Create(info + "licenses/more/"); err != nil { // as in numpy's wheel
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Index is a server with a package index.
type Index struct {
	*httptest.Server
	Asked atomic.Int32 // received requests
	Files atomic.Int32 // received requests for wheels, except those for uv's own
	Plain atomic.Bool  // whether its pages lack sizes

	wheels map[string][]byte
	days   map[string]string
}

// ServeIndex serves an empty index.
func ServeIndex(t testing.TB) *Index {
	i := &Index{wheels: map[string][]byte{}, days: map[string]string{}}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.Asked.Add(1)
		if name, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok && i.wheels[name] != nil {
			if !strings.HasPrefix(r.UserAgent(), "uv/") {
				i.Files.Add(1)
			}
			w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(i.wheels[name])))
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(i.wheels[name]))
			return
		}
		var files []string
		for name, b := range i.wheels {
			if r.URL.Path == "/simple/"+strings.SplitN(name, "-", 2)[0]+"/" {
				size := ""
				if !i.Plain.Load() {
					size = fmt.Sprintf(`"size":%d,`, len(b))
				}
				files = append(files, fmt.Sprintf(`{"filename":%q,"url":"/files/%s","hashes":{"sha256":"%x"},%s`+
					`"upload-time":"2026-%sT00:00:00Z","yanked":false}`, name, name, sha256.Sum256(b), size,
					i.days[name]))
			}
		}
		if files == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		fmt.Fprintf(w, `{"meta":{"api-version":"1.1"},"name":"x","files":[%s]}`, strings.Join(files, ","))
	}))
	t.Cleanup(i.Close)
	return i
}

// Add uploads a wheel with a program and a module. The parameter code is the module's source. The parameter day is in
// 2026, such as "06-01".
func (i *Index) Add(t testing.TB, name, version, day, code, needs string) {
	t.Helper()
	file := name + "-" + version + "-py3-none-any.whl"
	i.wheels[file], i.days[file] = wheel(t, name, version, code, needs), day
}
