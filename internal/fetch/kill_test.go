//go:build unix

package fetch_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/fetch"
)

// The long form is `go test ./internal/fetch -run Killed -v -killed.mb 1024`.
var killedMB = flag.Int("killed.mb", 64, "size of the download that is killed, in MiB")

// childArg makes the test binary the process that downloads: childArg URL SHA256 SIZE DEST. With "members" in place of
// the digest it downloads the members in sdk/d3.
const childArg = "-fetch-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == childArg {
		var size int64
		_, _ = fmt.Sscan(os.Args[4], &size)
		s := fetch.Source{URLs: []string{os.Args[2]}, SHA256: os.Args[3], Size: size, Archive: true}
		c := fetch.Client{Backoff: time.Millisecond}
		if s.SHA256 == "members" {
			s = fetch.Source{URLs: s.URLs, Size: size}
			if _, err := c.FetchMembers(context.Background(), s, picks(inD3), os.Args[5]); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			os.Exit(0)
		}
		r, err := c.Fetch(context.Background(), s, os.Args[5])
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("resumed %d from %q\n", r.Resumed, r.URL)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// throttled is a server of one file that sends a steady number of bytes a second, and counts them.
type throttled struct {
	*httptest.Server
	sent     atomic.Int64
	requests atomic.Int32
	mu       sync.Mutex
	next     time.Time
	perSec   int64
}

func throttle(t *testing.T, b []byte, perSec int64) *throttled {
	s := &throttled{perSec: perSec}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(&pacer{w, s}, r, "", time.Time{}, bytes.NewReader(b))
	}))
	// What is in a socket's buffer when the reader dies was sent for nothing; on a real line there is little of it.
	s.Config.ConnState = func(c net.Conn, st http.ConnState) {
		if tcp, ok := c.(*net.TCPConn); ok && st == http.StateNew {
			_ = tcp.SetWriteBuffer(64 << 10)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

type pacer struct {
	http.ResponseWriter
	s *throttled
}

func (p *pacer) Write(b []byte) (int, error) {
	p.s.mu.Lock()
	now := time.Now()
	if p.s.next.Before(now) {
		p.s.next = now
	}
	wait := p.s.next.Sub(now)
	p.s.next = p.s.next.Add(time.Duration(int64(len(b)) * int64(time.Second) / p.s.perSec))
	p.s.mu.Unlock()
	time.Sleep(wait)
	n, err := p.ResponseWriter.Write(b)
	p.s.sent.Add(int64(n))
	return n, err
}

func child(t *testing.T, url, sum string, size int64, dest string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], childArg, url, sum, fmt.Sprint(size), dest)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &out
}

// killed downloads size bytes of a file of total bytes in six processes, of which it kills five. It returns what the
// last one printed.
func killed(t *testing.T, srv *throttled, sum string, size, total int64, dest string) (out *bytes.Buffer) {
	t.Helper()
	for kill := range int64(6) {
		var cmd *exec.Cmd
		cmd, out = child(t, srv.URL, sum, total, dest)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if kill == 5 {
			if err := <-ended; err != nil {
				t.Fatalf("the last run: %v: %s", err, out)
			}
			return out
		}
		for srv.sent.Load() < (kill+1)*size/6 {
			select {
			case err := <-ended:
				t.Fatalf("run %d ended before it was killed: %v: %s", kill, err, out)
			case <-time.After(200 * time.Microsecond):
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-ended
	}
	return out
}

func inD3(name string) bool { return strings.HasPrefix(name, "sdk/d3/") }

// Members whose download is killed five times are downloaded once: beside them each run reads the directory again.
func TestMembersKilled(t *testing.T) {
	b := zipFile(t, 70, 800_000) // 56 MB, of which 8 MB are wanted
	const wanted = 10 * 800_000
	srv := throttle(t, b, 24<<20)
	dest := filepath.Join(t.TempDir(), "sdk.zip")
	killed(t, srv, "members", wanted, int64(len(b)), dest)
	most := int64(wanted + 6*(128<<10) + 5*(256<<10)) // what is in sockets when a process dies was sent, too
	if sent := srv.sent.Load(); sent > most {
		t.Errorf("%d bytes were sent for members of %d", sent, wanted)
	}
	z, err := zip.OpenReader(dest)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !inD3(f.Name) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil { // checks the CRC
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if left, _ := filepath.Glob(dest + ".part*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A download that is killed five times costs at most a twentieth more than one that is not.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("downloads 64 MiB: not short")
	}
	size := int64(*killedMB) << 20
	b := content(int(size))
	sum := sha256.Sum256(b)
	srv := throttle(t, b, max(size/4, 96<<20))
	dest := filepath.Join(t.TempDir(), "sdk.zip")
	out := killed(t, srv, hex.EncodeToString(sum[:]), size, size, dest)
	sent := srv.sent.Load()
	t.Logf("%d bytes of a file of %d were sent, %.4f times; %s", sent, size, float64(sent)/float64(size), out)
	if float64(sent) > 1.05*float64(size) {
		t.Errorf("%d bytes were sent, more than 1.05 times the file's %d", sent, size)
	}
	if err := fetch.Check(dest, fetch.Source{SHA256: hex.EncodeToString(sum[:])}); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(dest + ".part*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Of two processes that want the same file one downloads it, and the other takes it; also when the first is killed.
func TestTwoProcesses(t *testing.T) {
	const size = 12 << 20
	b := content(size)
	sum := sha256.Sum256(b)
	srv := throttle(t, b, 48<<20)
	dest := filepath.Join(t.TempDir(), "sdk.zip")
	first, _ := child(t, srv.URL, hex.EncodeToString(sum[:]), size, dest)
	for srv.sent.Load() < size/4 {
		time.Sleep(time.Millisecond)
	}
	second, out := child(t, srv.URL, hex.EncodeToString(sum[:]), size, dest)
	third, out3 := child(t, srv.URL, hex.EncodeToString(sum[:]), size, dest)
	for srv.sent.Load() < size/2 {
		time.Sleep(time.Millisecond)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if err := second.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := third.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out3)
	}
	if sent := srv.sent.Load(); sent > size*12/10 {
		t.Errorf("%d bytes were sent for a file of %d", sent, size)
	}
	if got, err := os.ReadFile(dest); err != nil || !bytes.Equal(got, b) {
		t.Errorf("wrong content, %v", err)
	}
}
