//go:build linux

package runner_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == pushArg {
		os.Exit(pushProcess(os.Args[2:]))
	}
	if len(os.Args) == 5 && os.Args[1] == boardArg {
		os.Exit(boardProcess(os.Args[2:]))
	}
	if len(os.Args) == 6 && os.Args[1] == leaseHostArg {
		os.Exit(leaseHost(os.Args[2:]))
	}
	if len(os.Args) == 7 && os.Args[1] == leaseWorkerArg {
		os.Exit(leaseWorker(os.Args[2:]))
	}
	os.Exit(phonetest.Main(m))
}

// file returns a push.File with the content. It counts how often the content is read.
func file(content string, executable bool) push.File {
	return push.File{
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
		Size: int64(len(content)), Executable: executable,
	}
}

func stdin(s string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
}

func newSession(t *testing.T, change func(*phone.Options)) *session.Session {
	t.Helper()
	return &session.Session{Device: phonetest.Device(t, phonetest.Image(t, nil), change)}
}

// onDevice returns a command's output on the device.
func onDevice(t *testing.T, s *session.Session, command string) string {
	t.Helper()
	out, err := transport.Output(t.Context(), s.Device, command, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRun(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	var out, errOut bytes.Buffer
	pulled := t.TempDir()
	script := `#!/system/bin/sh
cat data/in.txt
read -r line
echo "$line, $1, $GREETING"
echo "$ADSP_LIBRARY_PATH" | grep -c "^$HEXMAGE_ROOT;" 
ls -l link | grep -c 'data/in.txt'
echo oops >&2
echo result >out/result.txt
mkdir -p tree/sub && echo a >tree/a && echo b >"tree/sub/b c" && chmod 755 tree/a
exit 5
`
	res, err := s.Run(t.Context(), session.Request{
		Files: map[string]push.File{"run.sh": file(script, false), "data/in.txt": file("hello\n", false), "data/same.txt": file("hello\n", false)},
		Links: map[string]string{"link": "data/in.txt"},
		Args:  []string{"run.sh", "it's"},
		Env:   map[string]string{"GREETING": "in $HEXMAGE_ROOT/x"},
		Stdin: stdin("from stdin\n"), Stdout: &out, Stderr: &errOut,
		Pull: []string{"out/result.txt", "tree", "absent"}, PullDir: pulled,
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if res.ExitCode != 5 || errOut.String() != "oops\n" || len(lines) != 5 || lines[0] != "hello" ||
		!strings.HasPrefix(lines[1], "from stdin, it's, in /data/local/tmp/hexmage/run/") || !strings.HasSuffix(lines[1], "/x") || lines[2] != "1" || lines[3] != "1" {
		t.Errorf("exit code %d, stdout %q, stderr %q", res.ExitCode, out.String(), errOut.String())
	}
	if _, err := os.Stat(filepath.Join(pulled, "absent")); err == nil {
		t.Error("a file that does not exist was pulled")
	}
	for name, want := range map[string]string{"out/result.txt": "result\n", "tree/a": "a\n", "tree/sub/b c": "b\n"} {
		if b, err := os.ReadFile(filepath.Join(pulled, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if left := onDevice(t, s, "ls /data/local/tmp/hexmage/run; ls /data/local/tmp/hexmage/cas | wc -l"); left != "2\n" {
		t.Errorf("left on the device: %q, want two contents and no run", left)
	}
}

// Files that mllm's programs write beside themselves and load in the next run, such as a context of an older model,
// are gone in the next run.
func TestOlderContextIsGone(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	var out bytes.Buffer
	for range 2 {
		if _, err := s.Run(t.Context(), session.Request{Args: []string{"sh", "-c", "ls qnn_context.bin; echo old >qnn_context.bin"}, Stdout: &out, Stderr: io.Discard}); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() > 0 {
		t.Errorf("the second run finds %q of the first", &out)
	}
}

func TestUnchangedFilesAreNotPushed(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	s.Sums = push.Sums{Dir: t.TempDir()}
	var mu sync.Mutex
	reads := map[string]int{}
	files := map[string]push.File{}
	add := func(name, content string) {
		f := file(content, false)
		f.Key = "test:" + content
		open := f.Open
		f.Open = func() (io.ReadCloser, error) {
			mu.Lock() // several files may be sent at once
			defer mu.Unlock()
			reads[name]++
			return open()
		}
		files[name] = f
	}
	add("a", "one")
	add("b", "two")
	run := func() (moved int64) {
		t.Helper()
		res, err := s.Run(t.Context(), session.Request{
			Files: files, Args: []string{"cat", "a", "b"},
			Report: func(done, total int64, op string) { moved = done },
		})
		if err != nil || res.ExitCode != 0 {
			t.Fatal(res, err)
		}
		return moved
	}
	if moved := run(); moved != 6 {
		t.Errorf("the first run pushed %d bytes, want 6", moved)
	}
	first := maps.Clone(reads)
	if moved := run(); moved != 0 || !maps.Equal(reads, first) {
		t.Errorf("a second run pushed %d bytes and read files: %v, before %v", moved, reads, first)
	}
	add("b", "three")
	if moved := run(); moved != 5 {
		t.Errorf("after a change of one file %d bytes were pushed, want 5", moved)
	}
	// A truncated or missing content is pushed again.
	onDevice(t, s, "cd /data/local/tmp/hexmage/cas && chmod 755 * && for f in *; do echo x >$f; done")
	if moved := run(); moved != 8 {
		t.Errorf("after the store was damaged %d bytes were pushed, want 8", moved)
	}
}

func TestProgramThatWritesToItsInput(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	run := func(command string) string {
		t.Helper()
		var out bytes.Buffer
		if _, err := s.Run(t.Context(), session.Request{
			Files: map[string]push.File{"in": file("right", false)}, Args: []string{"sh", "-c", command}, Stdout: &out, Stderr: &out,
		}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := run("cat in; printf wrong >in; cat in"); got != "rightwrong" {
		t.Fatalf("got %q", got)
	}
	if got := run("cat in"); got != "right" {
		t.Errorf("the next run saw %q", got)
	}
}

func TestPushOverALinkThatBreaks(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.DropAfterBytes = 5 << 20 })
	files := map[string]push.File{}
	for i := range 10 {
		files[fmt.Sprintf("f%d", i)] = file(strings.Repeat(fmt.Sprintf("%07d\n", i), 1<<17), false) // 1 MiB each
	}
	var out bytes.Buffer
	res, err := s.Run(t.Context(), session.Request{Files: files, Args: []string{"sh", "-c", "cat f? | sha256sum"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	want := onDevice(t, s, `i=0; while [ $i -lt 10 ]; do yes "$(printf %07d $i)" | head -n 131072; i=$((i+1)); done | sha256sum`)
	if out.String() != want {
		t.Errorf("the files arrived damaged: %q, want %q", out.String(), want)
	}
	if res.Pushed.Sent > 12<<20 || res.Pushed.Dropped != 1 {
		t.Errorf("%+v for 10 MiB: what had arrived was sent again", res.Pushed)
	}
}

// TestPushOverALinkThatBreaksUnderLoad: the push continues in small parts, and hexmage prints a hint.
func TestPushOverALinkThatBreaksUnderLoad(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.SlowBytesPerSecond, o.DropAboveBytes = 24e6, 2e6 }) // busy machines send over 2.5 MB a second, too
	data := make([]byte, 12e6)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(data)
	var out bytes.Buffer
	res, err := s.Run(t.Context(), session.Request{Files: map[string]push.File{"f": file(string(data), false)}, Args: []string{"sha256sum", "f"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x  f\n", sha256.Sum256(data)); out.String() != want {
		t.Errorf("it arrived damaged: %q, want %q", out.String(), want)
	}
	t.Logf("%+v", res.Pushed)
	if p := res.Pushed; p.Dropped < 2 || p.Dropped > 12 || !strings.Contains(p.Notice(), "try Wi-Fi") {
		t.Errorf("%+v: want a link that breaks at most once for each part", p)
	}
}

func TestFullDevice(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.DiskBytes = 8 << 20 })
	run := func(size int, content string) error {
		_, err := s.Run(t.Context(), session.Request{
			Files: map[string]push.File{"in": file(strings.Repeat(content, size), false)}, Args: []string{"true"},
		})
		return err
	}
	if err := run(5<<20, "a"); err != nil {
		t.Fatal(err)
	}
	if err := run(6<<20, "b"); err != nil { // fits only if the first is removed
		t.Errorf("contents of earlier runs were not removed to make room: %v", err)
	}
	err := run(9<<20, "c")
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("what never fits: %v", err)
	}
}

// A canceled run leaves no process and no file, whenever it is canceled. A shell that has yet to become the command
// does not find its folder.
func TestCancelKillsTheCommand(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	mine := strconv.Itoa(100_000 + os.Getpid()) // seconds; unique, because the phone shows commands of other tests, too
	for i := range 40 {
		after := time.Duration(i) * 10 * time.Millisecond
		if i == 0 {
			after = time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), after)
		_, err := s.Run(ctx, session.Request{Args: []string{"sh", "-c", "sleep " + mine + " & sleep " + mine}})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if left := onDevice(t, s, "ps -o args | grep -E '^(sh -c )?sleep "+mine+"'; ls /data/local/tmp/hexmage/run"); left != "" {
			t.Fatalf("canceled after %s, left on the device: %q", after, left)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := &session.Session{Device: adb.NewClient("tcp", "127.0.0.1:1").Device("none")}
	for name, q := range map[string]session.Request{
		"no command":  {},
		"climbs":      {Args: []string{"x"}, Files: map[string]push.File{"../x": file("", false)}},
		"absolute":    {Args: []string{"x"}, Pull: []string{"/etc/passwd"}},
		"line end":    {Args: []string{"x"}, Files: map[string]push.File{"a\nb": file("", false)}},
		"environment": {Args: []string{"x"}, Env: map[string]string{"A;rm -rf /": "x"}},
		"link":        {Args: []string{"x"}, Links: map[string]string{"a": "b\nx - c"}},
	} {
		if _, err := s.Run(t.Context(), q); err == nil || transport.Retryable(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
