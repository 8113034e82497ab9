//go:build linux

package adb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// serverArg makes the test binary start an adb server, print its address, and wait to be killed.
const serverArg = "adb-server"

func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == serverArg {
		s, err := adb.Start(context.Background(), adb.Options{Path: os.Args[2], LibraryPath: os.Args[3], Dir: os.Args[4]})
		fmt.Println(s != nil, err)
		time.Sleep(time.Minute)
	}
	os.Exit(phonetest.Main(m))
}

func TestServer(t *testing.T) {
	t.Parallel()
	s := phonetest.Server(t)
	e := phonetest.Start(t, phonetest.Image(t, nil), nil)
	v, err := s.Version(t.Context())
	if err != nil || len(v) != 4 {
		t.Errorf("version %q, %v", v, err)
	}
	if all, err := s.Devices(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a private server has devices of its own: %v, %v", all, err)
	}
	for range 2 { // connecting twice is not an error
		if err := s.Connect(t.Context(), e.Addr()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Devices(t.Context())
	if err != nil || len(all) != 1 || !all[0].Usable() || all[0].Serial != e.Addr() || all[0].Props["model"] != "hexmage_simulated_phone_SM8750_v79" {
		t.Errorf("devices: %+v, %v", all, err)
	}
	if err := s.Disconnect(t.Context(), e.Addr()); err != nil {
		t.Error(err)
	}
	if err := s.Disconnect(t.Context(), e.Addr()); err != nil {
		t.Errorf("disconnect twice: %v", err)
	}
	_, err = transport.Output(t.Context(), s.Device(e.Addr()), "true", nil)
	var refused *adb.ServerError
	if !errors.As(err, &refused) || !transport.Retryable(err) {
		t.Errorf("a device that is not connected: got %v", err)
	}
	e.Close()
	if err := s.Connect(t.Context(), e.Addr()); err == nil || !strings.Contains(err.Error(), "failed to connect") {
		t.Errorf("connect to nothing: got %v", err)
	}
}

func TestServerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	o := phonetest.ServerOptions(t)
	cmd := exec.Command(os.Args[0], serverArg, o.Path, o.LibraryPath, o.Dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 100)
	n, _ := out.Read(line)
	if got := string(line[:n]); got != "true <nil>\n" {
		t.Fatalf("the server's parent said %q", got)
	}
	c := adb.NewClient("unix", o.Dir+"/adb.sock")
	if _, err := c.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := c.Version(t.Context()); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the server outlived its parent")
		}
	}
}

func TestServerThatCannotStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*adb.Options)
		want   string
	}{
		{"no program", func(o *adb.Options) { o.Path = "/nowhere/adb" }, "/nowhere/adb"},
		{"no libraries", func(o *adb.Options) { o.LibraryPath = "" }, "shared librar"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := phonetest.ServerOptions(t)
			c.change(&o)
			s, err := adb.Start(t.Context(), o)
			if err == nil {
				s.Close()
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want it to say %q", err, c.want)
			}
		})
	}
}

func TestServerInALongFolder(t *testing.T) {
	t.Parallel()
	o := phonetest.ServerOptions(t)
	o.Dir = filepath.Join(o.Dir, strings.Repeat("x", 120))
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := adb.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Version(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	for _, c := range []struct {
		name, command, stdin, out, err string
		code                           int
	}{
		{name: "output", command: "echo a; echo b >&2", out: "a\n", err: "b\n"},
		{name: "exit code", command: "exit 3", code: 3},
		{name: "signal", command: "kill -9 $$", code: 137},
		{name: "stdin", command: "cat", stdin: strings.Repeat("0123456789abcde\n", 20000), out: strings.Repeat("0123456789abcde\n", 20000)},
		{name: "stdin not wanted", command: "echo done", stdin: strings.Repeat("x", 4<<20), out: "done\n"},
		{name: "no such command", command: "nonesuch", code: 127, err: "/system/bin/sh: nonesuch: not found\n"},
		{name: "quoting", command: "printf %s " + transport.Quote("it's $HOME \"`\n\\"), out: "it's $HOME \"`\n\\"},
		{name: "binary", command: `printf '\000\377\r\n'`, out: "\x00\xff\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code, err := d.Shell(t.Context(), c.command, transport.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &errOut})
			if err != nil {
				t.Fatal(err)
			}
			if code != c.code || out.String() != c.out || errOut.String() != c.err {
				t.Errorf("code %d, stdout %.80q (%d bytes), stderr %q; want %d, %.80q (%d bytes), %q", code, out.String(), out.Len(), errOut.String(), c.code, c.out, len(c.out), c.err)
			}
		})
	}
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := d.Shell(ctx, "sleep 60", transport.Streams{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
	t.Run("local failure", func(t *testing.T) {
		broken := errors.New("broken pipe to the terminal")
		_, err := d.Shell(t.Context(), "echo x", transport.Streams{Stdout: failing{broken}})
		if !errors.Is(err, broken) || transport.Retryable(err) {
			t.Errorf("stdout: %v", err)
		}
		_, err = d.Shell(t.Context(), "cat", transport.Streams{Stdin: failing{broken}})
		if !errors.Is(err, broken) || transport.Retryable(err) {
			t.Errorf("stdin: %v", err)
		}
	})
	t.Run("a long command", func(t *testing.T) {
		_, err := transport.Output(t.Context(), d, ": "+strings.Repeat("x", 70000), nil)
		if err == nil || !strings.Contains(err.Error(), "at most 65535") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("failing output", func(t *testing.T) {
		_, err := transport.Output(t.Context(), d, "echo why >&2; exit 2", nil)
		if err == nil || !strings.HasSuffix(err.Error(), "exit code 2: why") {
			t.Errorf("got %v", err)
		}
	})
}

// TestHangUp: a program that ends with unread output leaves the link usable. The real server sends that output at
// once, without acknowledgments of the device.
func TestHangUp(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	for i := range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+10*i)*time.Millisecond)
		if _, err := transport.Output(ctx, d, "sleep 5", strings.NewReader(strings.Repeat("0123456789abcdef", 1<<17))); err == nil {
			t.Error("the command ended by itself")
		}
		cancel()
		if out, err := transport.Output(t.Context(), d, "echo well", nil); err != nil || out != "well\n" {
			t.Fatalf("after hanging up %d times: %q, %v", i+1, out, err)
		}
	}
}

func TestDeviceThatGoesAway(t *testing.T) {
	t.Parallel()
	var e *phone.Device
	s := phonetest.Server(t)
	e = phonetest.Start(t, phonetest.Image(t, nil), nil)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { e.Close() })
	_, err := s.Device(e.Addr()).Shell(t.Context(), "sleep 60", transport.Streams{})
	if !errors.Is(err, transport.ErrDropped) || !transport.Retryable(err) {
		t.Errorf("got %v", err)
	}
}

// failing is a reader and writer that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkShell(b *testing.B) {
	d := phonetest.Device(b, phonetest.Image(b, nil), nil)
	for b.Loop() {
		if _, err := transport.Output(b.Context(), d, "true", nil); err != nil {
			b.Fatal(err)
		}
	}
}
