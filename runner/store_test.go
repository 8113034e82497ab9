//go:build linux

package runner_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// pushArg makes the test binary push a file: SOCKET SERIAL STATE FILE. It prints a line when it has the device's
// lease.
const pushArg = "push"

func pushProcess(args []string) int {
	ctx := context.Background()
	dev := adb.NewClient("unix", args[0]).Device(args[1])
	held, err := lease.OnDevice(ctx, dev, func(string) {})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer held.Release()
	fmt.Println("leased")
	b, err := os.ReadFile(args[3])
	if err == nil {
		s := &session.Session{Device: dev, Lease: held}
		_, err = s.Push(ctx, "/data/local/tmp/x", map[string]push.File{"f": file(string(b), false)}, nil)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("pushed")
	return 0
}

const cas = "/data/local/tmp/hexmage/cas"

// TestTwoProcesses kills a process that pushes, while another one waits for the device. The other continues where the
// first was.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	e := phonetest.Start(t, phonetest.Image(t, nil), func(o *phone.Options) { o.SlowBytesPerSecond = 12 << 20 })
	server := phonetest.Server(t)
	if err := server.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	s := &session.Session{Device: server.Device(e.Addr())}
	name, leases := randomFile(t, 24<<20), t.TempDir()
	start := func() (*exec.Cmd, func() string) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], pushArg, server.Address(), e.Addr(), leases, name)
		out := &phonetest.Log{}
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, out.String
	}
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not within 30 s", what)
			}
		}
	}
	one, said := start()
	await("the first has the device", func() bool { return said() == "leased\n" })
	two, others := start()
	await("the first is in the midst of it", func() bool {
		out, err := transport.Output(t.Context(), s.Device, "stat -c %s "+cas+"/.*.part 2>/dev/null || echo 0", nil)
		return err == nil && len(strings.TrimSpace(out)) >= len("4000000")
	})
	if got := others(); got != "" {
		t.Errorf("the second did not wait: %q", got)
	}
	if out := onDevice(t, s, "ls "+cas); out != "" {
		t.Errorf("half a blob has a name: %q", out)
	}
	if err := one.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = one.Wait()
	killed := time.Now()
	await("the second has the device", func() bool { return strings.HasPrefix(others(), "leased\n") })
	if took := time.Since(killed); took > 3*time.Second {
		t.Errorf("the second had the device %v after the first was killed: it waited for a link that might come back, of a process that it knew was dead", took)
	}
	if err := two.Wait(); err != nil || others() != "leased\npushed\n" {
		t.Fatalf("the second: %v, %q", err, others())
	}
	if got := onDevice(t, s, "sha256sum </data/local/tmp/x/f; ls "+cas+" | wc -l"); !strings.HasPrefix(got, sumOf(t, name)) || !strings.HasSuffix(got, "\n1\n") {
		t.Errorf("on the device: %q", got)
	}
}

// TestPushIsResumed continues a partial push of another session.
func TestPushIsResumed(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	data := strings.Repeat("0123456789abcdef", 20<<16)
	send := func() (push.Pushed, error) {
		return s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{"f": file(data, false)}, nil)
	}
	left := func(command string) {
		onDevice(t, s, "mkdir -p "+cas+"; cd "+cas+"; "+command)
	}
	name := strings.Fields(onDevice(t, s, "yes 0123456789abcdef | head -n 1310720 | tr -d '\\n' | sha256sum"))[0]
	left("yes 0123456789abcdef | head -n 1000000 | tr -d '\\n' >." + name + ".part")
	p, err := send()
	if want := int64(len(data) - 15<<20); err != nil || p.Sent != want {
		t.Errorf("%+v, %v; want %d bytes sent, from the last whole part", p, err, want)
	}
	// A corrupt partial file is detected by its digest and sent again.
	left("rm -f " + name + "; yes | head -c 9000000 >." + name + ".part")
	p, err = send()
	if err != nil || p.Sent < int64(len(data)) {
		t.Errorf("over a damaged part: %+v, %v", p, err)
	}
	if got := onDevice(t, s, "sha256sum </data/local/tmp/x/f"); !strings.HasPrefix(got, name) {
		t.Errorf("on the device: %q", got)
	}
}

// TestSmallFilesSent: Sent is the size of the contents, without the headers of their archive.
func TestSmallFilesSent(t *testing.T) {
	t.Parallel()
	files := map[string]push.File{"a": file("seven b", false), "b": file("eight by", false)}
	p, err := newSession(t, nil).Push(t.Context(), "/data/local/tmp/x", files, nil)
	if err != nil || p.Size != 15 || p.Sent != 15 {
		t.Errorf("%+v, %v; want 15 bytes", p, err)
	}
}

// TestCorruptedByte flips one bit during the transfer.
func TestCorruptedByte(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.CorruptByte = 9 << 20 })
	name := randomFile(t, 20<<20)
	p, err := s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{"f": onDisk(t, name)}, nil)
	if err != nil || p.Sent != 2*p.Size {
		t.Errorf("%+v, %v; want the file sent twice", p, err)
	}
	if got := onDevice(t, s, "sha256sum </data/local/tmp/x/f; ls -A "+cas+" | wc -l"); !strings.HasPrefix(got, sumOf(t, name)) || !strings.HasSuffix(got, "\n1\n") {
		t.Errorf("on the device: %q", got)
	}
}

// TestFileThatChanges: a file changes after it was hashed. The device notices, and the error names the file.
func TestFileThatChanges(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	name := randomFile(t, 20<<20)
	f, opened := onDisk(t, name), 0
	open := f.Open
	f.Open = func() (io.ReadCloser, error) {
		if opened++; opened == 2 {
			change(t, name, f.Size-17)
			if err := os.Truncate(name, f.Size); err != nil {
				return nil, err
			}
		}
		return open()
	}
	p, err := s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{"f": f}, nil)
	if err == nil || !strings.Contains(err.Error(), "another program may have changed the file") || p.Sent > p.Size {
		t.Errorf("%+v, %v; want an error about the file here, after one try", p, err)
	}
	if got := onDevice(t, s, "ls "+cas); got != "" {
		t.Errorf("the device has %q", got)
	}
}

// TestLeastRecentlyUsedGoFirst fills a device.
func TestLeastRecentlyUsedGoFirst(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.DiskBytes = 12 << 20 })
	send := func(names ...string) (push.Pushed, error) {
		files := map[string]push.File{}
		for _, n := range names {
			files[n] = file(strings.Repeat(n, 3<<20), false)
		}
		defer onDevice(t, s, "rm -rf /data/local/tmp/x") // else the links keep evicted contents on the disk
		// Some devices' ls sorts by seconds, so earlier uses must be some seconds ago.
		onDevice(t, s, "cd /data/local/tmp/hexmage/used 2>/dev/null || exit 0; for f in $(ls -t); do i=$((i + 1)); touch -t 2001010000.$((50 - i)) $f; done")
		return s.Push(t.Context(), "/data/local/tmp/x", files, nil)
	}
	for _, n := range []string{"a", "b", "c", "a"} {
		if p, err := send(n); err != nil || p.Evicted != 0 {
			t.Fatal(n, p, err)
		}
	}
	if p, err := send("d"); err != nil || p.Evicted != 1 { // b
		t.Errorf("%+v, %v; want one content of an earlier push removed", p, err)
	}
	for n, sent := range map[string]int64{"a": 0, "c": 0, "d": 0} {
		if p, err := send(n); err != nil || p.Sent != sent {
			t.Errorf("%s: %+v, %v; want %d bytes sent", n, p, err, sent)
		}
	}
	before := onDevice(t, s, "ls "+cas)
	p, err := send("e", "f", "g", "h")
	if err == nil || p.Sent != 0 || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "Remove other files") {
		t.Errorf("what can never fit: %+v, %v", p, err)
	}
	if after := onDevice(t, s, "ls "+cas); after != before {
		t.Errorf("what can never fit cost what was there: %q, before %q", after, before)
	}
	if n, err := push.Clear(t.Context(), s.Device); err != nil || n < 9<<20 {
		t.Errorf("cleared %d bytes, %v", n, err)
	}
	if got := onDevice(t, s, "ls -A /data/local/tmp"); got != "" {
		t.Errorf("left after clearing: %q", got)
	}
}

// TestNothingElseIsRemoved puts links in place of hexmage's own folders.
func TestNothingElseIsRemoved(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	const root = "/data/local/tmp/hexmage"
	for _, dir := range []string{"", "/cas", "/run", "/used", "/parts"} {
		onDevice(t, s, "rm -rf "+root+"; mkdir -p /data/precious/cas /data/precious/run; echo 1 >/data/precious/photo; touch -t 200001010000 /data/precious/photo /data/precious/.old; "+
			"[ -z '"+dir+"' ] || mkdir -p "+root+"; ln -s /data/precious "+root+dir)
		_, err := s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{"f": file("content", false)}, nil)
		if err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("%s is a link: %v", root+dir, err)
		}
		if _, err := push.Clear(t.Context(), s.Device); err == nil {
			t.Errorf("%s is a link, and was cleared", root+dir)
		}
		if got := onDevice(t, s, "ls -A /data/precious"); got != ".old\ncas\nphoto\nrun\n" {
			t.Errorf("with %s a link, there is left: %q", root+dir, got)
		}
	}
	onDevice(t, s, "rm -rf "+root)
	// Cleaning removes links that a program leaves in its folder, not their targets.
	res, err := s.Run(t.Context(), session.Request{Args: []string{"sh", "-c", "ln -s /data/precious a; ln -s .. b; mkdir c && chmod 555 c"}})
	if err != nil || res.ExitCode != 0 {
		t.Fatal(res, err)
	}
	if got := onDevice(t, s, "ls -A "+root+"/run; ls -A /data/precious"); got != ".old\ncas\nphoto\nrun\n" {
		t.Errorf("after a run: %q", got)
	}
}

func TestPushPaths(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	for _, dir := range []string{"", "x", "/a\nb", " /x"} {
		if _, err := s.Push(t.Context(), dir, nil, nil); err == nil {
			t.Errorf("%q was taken for a folder", dir)
		}
	}
	var progress []int64
	files := map[string]push.File{"bin/run": file("#!/system/bin/sh\necho ran\n", true), "a b/c": file("c", false)}
	if _, err := s.Push(t.Context(), "/data/local/tmp/it's", files, func(done, _ int64) { progress = append(progress, done) }); err != nil {
		t.Fatal(err)
	}
	if got := onDevice(t, s, `cd "/data/local/tmp/it's" && bin/run && cat "a b/c"`); got != "ran\nc" || len(progress) == 0 {
		t.Errorf("%q, progress %v", got, progress)
	}
}

// TestPartsThatCannotBeHad changes a stored content on the device, or its list of parts.
func TestPartsThatCannotBeHad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before string // run on the device before the second push
		during string // run after the device has listed its parts
	}{
		{name: "a blob that is gone", during: "rm -f " + cas + "/*"},
		{name: "a damaged blob", before: "cd " + cas + " && for f in *; do printf x | dd of=$f bs=1 seek=1000 conv=notrunc && touch -d @1000000000 $f; done"},
		{name: "a damaged list", before: "cd " + cas + "/../parts && for f in *; do sort $f >x && mv x $f; done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &session.Session{Device: phonetest.Device(t, phonetest.Image(t, nil), nil)}
			const size = 20 << 20
			name := randomFile(t, size)
			send := func(to, during string) push.Pushed {
				t.Helper()
				f := onDisk(t, name)
				told := 0
				p, err := s.Push(t.Context(), "/data/local/tmp/x", map[string]push.File{to: f}, func(int64, int64) {
					if told++; told == 1 && during != "" { // the plan is made, and no part was copied
						onDevice(t, s, during)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if got := onDevice(t, s, "sha256sum </data/local/tmp/x/"+to); !strings.HasPrefix(got, sumOf(t, name)) {
					t.Errorf("%s arrived damaged", to)
				}
				return p
			}
			send("one", "")
			if c.before != "" {
				onDevice(t, s, c.before)
			}
			change(t, name, size)
			if p := send("two", c.during); p.Sent < size*19/20 {
				t.Errorf("%+v; want nearly all of it sent", p)
			}
		})
	}
}

// TestManySmallFiles pushes many files, and one that changes during the push.
func TestManySmallFiles(t *testing.T) {
	t.Parallel()
	e := phonetest.Start(t, phonetest.Image(t, nil), func(o *phone.Options) { o.CorruptByte = 300_000 })
	server := phonetest.Server(t)
	if err := server.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	s := &session.Session{Device: server.Device(e.Addr())}
	files, total := map[string]push.File{}, int64(0)
	for i := range 60 {
		f := file(strings.Repeat(fmt.Sprintf("the line number %d of some text\n", i), 100*i), i%3 == 0)
		files[fmt.Sprintf("%d/f%02d", i%4, i)] = f
		total += f.Size
	}
	noise := onDisk(t, randomFile(t, 1<<20))
	files["noise"] = noise
	last := int64(0)
	p, err := s.Push(t.Context(), "/data/local/tmp/x", files, func(done, all int64) {
		if last = done; done > all+noise.Size || all != total+noise.Size {
			t.Errorf("%d of %d bytes", done, all)
		}
	})
	if err != nil || last != total+noise.Size || p.Missing != 61 {
		t.Fatalf("%+v, %v; progress ended at %d of %d", p, err, last, total+noise.Size)
	}
	if once := noise.Size + total; p.Sent <= once || p.Sent > once+noise.Size {
		t.Errorf("%d bytes traveled; want all of %d once, and one file again", p.Sent, once)
	}
	want := onDevice(t, s, `cd /data/local/tmp/hexmage/cas && for f in *; do s=$(sha256sum $f); [ "${s%% *}" = $f ] || echo wrong; done; ls -A | wc -l`)
	if want != "61\n" {
		t.Errorf("in the store: %q", want)
	}
	if got := onDevice(t, s, "cd /data/local/tmp/x && ls */* | wc -l; head -n 1 3/f59"); got != "60\nthe line number 59 of some text\n" {
		t.Errorf("in the folder: %q", got)
	}
}
