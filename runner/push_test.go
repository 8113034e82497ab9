//go:build linux

package runner_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// sizes are the file sizes of TestPush. HEXMAGE_PUSH_MB=1024 sets the size.
func sizes(t *testing.T) (file int64) {
	mb := os.Getenv("HEXMAGE_PUSH_MB")
	if mb == "" {
		return 96 << 20
	}
	n, err := strconv.ParseInt(mb, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n << 20
}

// inFlight is the maximum loss at the first break: the adb server and the kernel buffer megabytes. Later breaks lose
// at most one part.
const inFlight = 12 << 20

// randomFile writes a file that does not compress.
func randomFile(t *testing.T, size int64) string {
	t.Helper()
	dir := t.TempDir()
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		if dir, err = os.MkdirTemp("/dev/shm", "push"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	name := filepath.Join(dir, "model.bin")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.CopyN(f, rand.NewChaCha8([32]byte{1}), size)
	if e := f.Close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
	return name
}

// onDisk returns a push.File with the current content of a file.
func onDisk(t *testing.T, name string) push.File {
	t.Helper()
	st, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return push.File{
		Open: func() (io.ReadCloser, error) { return os.Open(name) }, Size: st.Size(),
		Key: name + st.ModTime().String(),
	}
}

func sumOf(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// change overwrites a hundredth of a file, in one place.
func change(t *testing.T, name string, size int64) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = rand.NewChaCha8([32]byte{2}).Read(b[size/2 : size/2+size/100])
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPush: a file arrives over a link that breaks repeatedly, and little is sent twice. An unchanged file sends
// nothing, a small change sends little. All pushes use the real adb server; the test compares with the real adb push.
func TestPush(t *testing.T) {
	for _, drop := range []int64{4e6, 20e6} {
		t.Run(fmt.Sprintf("breaks every %d MB", drop/1e6), func(t *testing.T) { testPush(t, sizes(t), drop) })
	}
}

func testPush(t *testing.T, size, drop int64) {
	e := phonetest.Start(t, phonetest.Image(t, nil), func(o *phone.Options) { o.DropEveryBytes = drop })
	o := phonetest.ServerOptions(t)
	server, err := adb.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			t.Logf("adb server:\n%s", server.Log())
		}
		server.Close()
	}()
	if err := server.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	s := &session.Session{Device: server.Device(e.Addr()), Sums: push.Sums{Dir: t.TempDir()}}
	name := randomFile(t, size)
	push := func(what string) (push.Pushed, time.Duration) {
		t.Helper()
		start := time.Now()
		p, err := s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{"model.bin": onDisk(t, name)}, nil)
		took := time.Since(start)
		if err != nil {
			t.Fatalf("%s: %v, %+v", what, err, p)
		}
		if p.Missing == 0 {
			// the content was verified when it arrived
		} else if got := onDevice(t, s, "sha256sum </data/local/tmp/x/model.bin"); !strings.HasPrefix(got, sumOf(t, name)) {
			t.Fatalf("%s: the file arrived damaged", what)
		}
		t.Logf("%s: %d MB, %.2f MB sent (%.4f of the file), the link broke %d times, %v", what, p.Size>>20, float64(p.Sent)/1e6, float64(p.Sent)/float64(p.Size), p.Dropped, took)
		return p, took
	}

	p, _ := push("first")
	if most := size + inFlight + int64(p.Dropped)<<20; p.Sent > most || p.Dropped < int(size/drop)-2 {
		t.Errorf("first push: %+v of %d bytes; want at most a part lost with each break", p, size)
	}

	p, took := push("again")
	if p.Sent != 0 || p.Missing != 0 {
		t.Errorf("a second push: %+v; want nothing sent", p)
	}
	best := took
	for range 6 { // the machine may be busy for a moment
		_, took = push("again")
		best = min(best, took)
	}
	if best > 100*time.Millisecond {
		t.Errorf("a second push took %v; want less than 100 ms", best)
	}

	change(t, name, size)
	p, _ = push("after a change of 1 %")
	if p.Sent*100 > size*3 || p.Reused < size*9/10 {
		t.Errorf("push after a change of 1 %%: %+v; want less than 3 %% of %d bytes sent", p, size)
	}

	// The official program gets a stable link, because it does not survive a break.
	well := phonetest.Start(t, phonetest.Image(t, nil), nil)
	if err := server.Connect(t.Context(), well.Addr()); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	cmd := exec.CommandContext(t.Context(), o.Path, "-L", "localfilesystem:"+server.Address(), "-s", well.Addr(), "push", name, "/data/local/tmp/model.bin")
	cmd.Env = []string{"LD_LIBRARY_PATH=" + o.LibraryPath, "HOME=" + o.Dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("adb push: %v: %s", err, out)
	}
	official := time.Since(start)
	t.Logf("adb push of the same file: %v; a second push here: %v", official, best)
	if best > official {
		t.Errorf("a second push took %v, adb push %v", best, official)
	}
	onDevice(t, &session.Session{Device: server.Device(well.Addr())}, "rm /data/local/tmp/model.bin")
	s = &session.Session{Device: server.Device(well.Addr()), Sums: s.Sums}
	if p, _ = push("first, over a link that does not break"); p.Sent > p.Size+64<<10 || p.Dropped != 0 {
		t.Errorf("a first push: %+v; want the file sent once", p)
	}
}
