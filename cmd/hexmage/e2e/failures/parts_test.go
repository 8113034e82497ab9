//go:build linux

package failures_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// envPartsMB is the size in megabytes of the zip of TestParts; default 30. mage testAll sets 3072.
const envPartsMB = "HEXMAGE_PARTS_MB"

// sparse is a file with holes in place of zeros.
type sparse struct {
	*os.File
	size int64
}

func (s *sparse) Write(b []byte) (int, error) {
	at := s.size
	if s.size += int64(len(b)); bytes.Count(b, []byte{0}) == len(b) {
		return len(b), nil
	}
	return s.WriteAt(b, at)
}

// zeros is an endless file of zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// qairtZip makes a zip of size bytes in QAIRT's layout: 3.5 members a megabyte, of which headers and one arch are a
// fiftieth of its bytes. The content for that arch depends on the seed, the size of the zip does not. It returns the
// offset of a byte of a member for that arch, and the bytes that these members take.
func qairtZip(t *testing.T, name string, size int64, seed byte) (at, wanted int64) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := &sparse{File: f}
	z := zip.NewWriter(out)
	add := func(path string, method uint16, n int64, from io.Reader) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "qairt/2.99.0.260101/" + path, Method: method})
		if err == nil {
			_, err = io.CopyN(w, from, n)
		}
		if err == nil {
			err = z.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("sdk.yaml", zip.Deflate, 40, strings.NewReader("product: QAIRT\nversion: 2.99.0\n# "+strings.Repeat("-", 40)))
	for i := range size * 7 >> 21 {
		add(fmt.Sprintf("docs/page_%d.html", i), zip.Store, 100, zeros{})
	}
	before := out.size
	for i := range 20 {
		add(fmt.Sprintf("include/QNN/Qnn%d.h", i), zip.Deflate, size/5000, rand.NewChaCha8([32]byte{1}))
	}
	wanted = out.size - before
	add("lib/x86_64-linux-clang/libQnnHtp.so", zip.Store, size*45/100, zeros{})
	before = out.size
	for i := range 4 {
		at = out.size + size/1000
		add(fmt.Sprintf("lib/hexagon-v79/unsigned/libQnn%d.so", i), zip.Store, size/250,
			rand.NewChaCha8([32]byte{seed}))
	}
	wanted += out.size - before
	add("lib/hexagon-v81/unsigned/libQnnHtpV81Skel.so", zip.Store, size-out.size, zeros{})
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(out.size); err != nil {
		t.Fatal(err)
	}
	return at, wanted
}

// partsServer serves a zip and counts the bytes that it sends.
type partsServer struct {
	file  atomic.Pointer[string]
	sent  atomic.Int64
	stop  atomic.Int64 // after so many bytes it sends no more; 0: never
	flip  atomic.Int64 // offset of a byte that it changes; 0: none
	plain atomic.Bool  // it ignores ranges
}

func (s *partsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, err := os.Open(*s.file.Load())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close()
	if s.plain.Load() {
		r.Header.Del("Range")
	}
	w.Header().Set("ETag", `"one"`)
	http.ServeContent(&partsWriter{w, s, r.Context()}, r, "", time.Time{}, &flipped{f, s.flip.Load()})
}

type partsWriter struct {
	http.ResponseWriter
	s   *partsServer
	ctx context.Context
}

func (w *partsWriter) Write(b []byte) (int, error) {
	if stop := w.s.stop.Load(); stop > 0 && w.s.sent.Load() >= stop {
		<-w.ctx.Done()
		return 0, w.ctx.Err()
	}
	n, err := w.ResponseWriter.Write(b)
	w.s.sent.Add(int64(n))
	return n, err
}

// flipped is a file in which one byte is another.
type flipped struct {
	*os.File
	at int64
}

func (f *flipped) Read(b []byte) (int, error) {
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Read(b)
	if i := f.at - from; f.at > 0 && i >= 0 && i < int64(n) {
		b[i] ^= 0xff
	}
	return n, err
}

// TestParts fetches headers and one arch of a zip in QAIRT's layout by ranges, with digests that `hexmage lock --whole`
// took from the whole zip.
func TestParts(t *testing.T) {
	mb, err := strconv.ParseInt(os.Getenv(envPartsMB), 10, 64)
	if err != nil {
		mb = 30
	}
	dir := t.TempDir()
	good, other := filepath.Join(dir, "good.zip"), filepath.Join(dir, "other.zip")
	at, wanted := qairtZip(t, good, mb<<20, 1)
	qairtZip(t, other, mb<<20, 2)
	srv := &partsServer{}
	srv.file.Store(&good)
	web := httptest.NewServer(srv)
	defer web.Close()
	f, err := os.Open(good)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(other); err != nil || info.Size() != size {
		t.Fatalf("the other zip must have the same size: %v, %d", err, size)
	}

	lock := ""
	world := func() *World {
		w := NewWorld(t)
		w.Write(t, "toolchains/sdk.hcl", fmt.Sprintf(`toolchain "sdk" {
  description = "a zip in QAIRT's layout"
  default     = "2.99.0.260101"
  verify { layout = ["sdk.yaml", "include/QNN/Qnn0.h", "lib/x86_64-linux-clang/libQnnHtp.so"] }
  release "2.99.0.260101" {
    source "archive" {
      urls         = ["%s/sdk.zip"]
      strip_prefix = "qairt/2.99.0.260101"
      size         = %d
      sha256       = "%s"
    }
  }
}
`, web.URL, size, hex.EncodeToString(sum.Sum(nil))))
		w.Write(t, "pipelines/p.hcl", `target "SM8750" {}
toolchain "sdk" {
  source = "archive"
  only   = ["sdk.yaml", "include/**", "lib/hexagon-${target.arch}/**"]
}
step "exec" "say" {
  argv = ["sh", "-ec", <<-EOT
    test -s ${toolchain.sdk.dir}/include/QNN/Qnn19.h
    test -s ${toolchain.sdk.dir}/lib/hexagon-v79/unsigned/libQnn3.so
    test ! -e ${toolchain.sdk.dir}/docs/page_0.html
    echo fine > said
  EOT
  ]
  output "said" { file = "said" }
}
output "said" { value = step.exec.say.outputs.said }
`)
		if lock != "" {
			w.Write(t, "hexmage.lock.hcl", lock)
		}
		srv.sent.Store(0)
		return w
	}

	w := world()
	Wants(t, w.Run(t, "lock", "--whole", "p"), 0, "written:")
	lock = Read(t, filepath.Join(w.Dir, "hexmage.lock.hcl"))
	if !strings.Contains(lock, "directory = ") || !strings.Contains(lock, "part {") || strings.Contains(lock, "trust") {
		t.Fatalf("the lock has no digests of parts:\n%s", lock)
	}
	if sent := srv.sent.Load(); sent != size {
		t.Errorf("%d bytes of a zip of %d were sent to pin its parts", sent, size)
	}
	Wants(t, w.Run(t, "--offline", "run", "p"), 0) // the zip that is there serves as well
	Remove(w.Cache)

	w = world()
	srv.stop.Store(wanted/2 + wanted/10)
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	cmd := w.Command(ctx, "run", "p")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	part := func() (n int64) {
		names, _ := filepath.Glob(filepath.Join(w.Cache, "downloads", "parts-*.zip.part"))
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	for began, last := time.Now(), int64(-1); ; {
		if n := part(); n > 0 && n == last && srv.sent.Load() >= srv.stop.Load() {
			break
		} else if last = n; time.Since(began) > RunLimit {
			t.Fatalf("%d bytes were sent", srv.sent.Load())
		}
		time.Sleep(300 * time.Millisecond)
	}
	if err := cmd.Cancel(); err != nil { // SIGKILL
		t.Fatal(err)
	}
	_ = cmd.Wait()
	first := srv.sent.Load()
	srv.stop.Store(0)
	Wants(t, w.Run(t, "run", "p"), 0)
	second := srv.sent.Load() - first
	tail := size * 7 >> 21 * 160 // the directory
	t.Logf("zip %d, wanted %d: %d bytes before the kill, %d after it, %.2f %%", size, wanted, first, second,
		100*float64(first+second)/float64(size))
	if first+second > size/20 || first+second > wanted+2*(tail+150<<10)+512<<10 {
		t.Errorf("%d and %d bytes of a zip of %d were sent for members of %d", first, second, size, wanted)
	}

	for _, c := range []struct {
		name, text string
		code       int
		set        func()
	}{
		{"flipped byte", "zip: checksum error", ExitFailed, func() { srv.flip.Store(at) }},
		{"swapped zip", "wrong digest or size: the zip's central directory differs from the pinned one", ExitFailed,
			func() { srv.flip.Store(0); srv.file.Store(&other) }},
		{"no ranges", "downloads the whole archive, because parts are not available: the server cannot send parts", 0,
			func() { srv.file.Store(&good); srv.plain.Store(true) }},
	} {
		w := world()
		c.set()
		o := w.Run(t, "run", "p")
		Wants(t, o, c.code, c.text)
		said := 0
		for line := range strings.Lines(o.Stdout + o.Stderr) {
			if strings.Contains(line, c.text) && !strings.Contains(line, "seen in line") { // the diagnosis quotes it
				said++
				t.Log(strings.TrimSpace(line))
			}
		}
		if said != 1 {
			t.Errorf("%s: said in %d lines: %s", c.name, said, o)
		}
		Remove(w.Cache)
	}
	srv.plain.Store(false)

	lock = ""
	w = world()
	Wants(t, w.Run(t, "lock", "--trust-parts", "p"), 0, "has not compared the downloaded parts with the whole zip")
	for range 2 { // the second one has nothing to do
		Wants(t, w.Run(t, "run", "p"), 0, "Unverified parts")
	}
	if sent := srv.sent.Load(); sent > size/20 {
		t.Errorf("%d bytes of a zip of %d were sent", sent, size)
	}
}
