//go:build linux

package failures_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/steps/failures"
)

// What really goes wrong between this machine and a simulated phone, over the real adb server, says so in words that the catalog of failures
// knows.
func TestProvokedFailures(t *testing.T) {
	t.Parallel()
	known, diags := failures.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	big := map[string]push.File{"in": {
		Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Repeat("abcdefgh", 2<<20))), nil
		}, Size: 16 << 20,
	}}
	for _, c := range []struct {
		id, mistake string
		provoke     func(t *testing.T) string
	}{
		{"disk-full", "the phone's /data is full", func(t *testing.T) string {
			s := newSession(t, func(o *phone.Options) { o.DiskBytes = 8 << 20 })
			_, err := s.Run(t.Context(), session.Request{Files: big, Args: []string{"true"}})
			return words(err)
		}},
		{"usb-dropped", "the link drops while files are pushed, and for longer than anybody waits nothing can connect", func(t *testing.T) string {
			s := newSession(t, func(o *phone.Options) { o.DropAfterBytes, o.Refuse = 1<<20, time.Hour })
			s.Wait = time.Second
			_, err := s.Run(t.Context(), session.Request{Files: big, Args: []string{"true"}})
			return words(err)
		}},
		{"usb-dropped", "the phone goes while files are pushed, and does not come back", func(t *testing.T) string {
			e, server := phonetest.Start(t, phonetest.Image(t, nil), func(o *phone.Options) { o.SlowBytesPerSecond = 8 << 20 }), phonetest.Server(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := server.Connect(ctx, e.Addr()); err != nil {
				t.Fatal(err)
			}
			s := &session.Session{Device: server.Device(e.Addr()), Wait: time.Second}
			gone := false
			_, err := s.Run(ctx, session.Request{Files: big, Args: []string{"true"}, Report: func(done, _ int64, _ string) {
				if done > 1<<20 && !gone { // unplugged, for good
					gone = true
					_ = e.Close()
				}
			}})
			return words(err)
		}},
		{"no-device", "the adb client is asked for a phone, and there is none", func(t *testing.T) string {
			return client(t, phonetest.Server(t), "shell", "true")
		}},
		{"several-devices", "the adb client is asked for a phone, and there are two", func(t *testing.T) string {
			return client(t, servedBy(t, 2, nil), "shell", "true")
		}},
		{"usb-dropped", "the adb client is asked for a phone that went", func(t *testing.T) string {
			return client(t, servedBy(t, 1, nil), "-s", "3C1A0YEA", "push", filepath.Join(hostDir(t), "f"), "/data/local/tmp/f")
		}},
		{"usb-dropped", "the link drops under the adb client's push", func(t *testing.T) string {
			return client(t, servedBy(t, 1, func(o *phone.Options) { o.DropAfterBytes, o.Refuse = 1<<20, time.Hour }), "push", filepath.Join(hostDir(t), "f"), "/data/local/tmp/f")
		}},
		{"disk-full", "the adb client pushes more than there is room for", func(t *testing.T) string {
			return client(t, servedBy(t, 1, func(o *phone.Options) { o.DiskBytes = 4 << 20 }), "push", filepath.Join(hostDir(t), "f"), "/data/local/tmp/f")
		}},
		{"segfault", "a program on the phone crashes", func(t *testing.T) string {
			var out bytes.Buffer
			_, err := newSession(t, nil).Run(t.Context(), session.Request{Args: []string{"sh", "-c", "sh -c 'kill -SEGV $$'; exit 1"}, Stdout: &out, Stderr: &out})
			return out.String() + words(err)
		}},
		{"merges-missing", "a script reads merges that nobody pushed", func(t *testing.T) string {
			var out bytes.Buffer
			_, err := newSession(t, nil).Run(t.Context(), session.Request{Args: []string{"sh", "-c", "cat /data/local/tmp/qwen_merges.txt"}, Stdout: &out, Stderr: &out})
			return out.String() + words(err)
		}},
	} {
		t.Run(c.id+"/"+c.mistake, func(t *testing.T) {
			t.Parallel()
			said := c.provoke(t)
			r := known.Text([]byte(said))
			if len(r.Findings) == 0 || r.Findings[0].ID != c.id || len(r.Hints()) != 1 {
				t.Errorf("%q is diagnosed as %q", said, r.Hints())
			}
		})
	}
}

func TestMain(m *testing.M) { os.Exit(phonetest.Main(m)) }

func newSession(t *testing.T, change func(*phone.Options)) *session.Session {
	t.Helper()
	return &session.Session{Device: phonetest.Device(t, phonetest.Image(t, nil), change)}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// hostDir has a file of 8 MB.
func hostDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), bytes.Repeat([]byte("abcdefgh"), 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// servedBy is a real adb server to which n phones are connected.
func servedBy(t *testing.T, n int, change func(*phone.Options)) *adb.Server {
	t.Helper()
	s, image := phonetest.Server(t), phonetest.Image(t, nil)
	for range n {
		if err := s.Connect(t.Context(), phonetest.Start(t, image, change).Addr()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// client runs the distribution's adb, as people's scripts do, and wants it to fail.
func client(t *testing.T, s *adb.Server, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := phonetest.ServerOptions(t)
	cmd := exec.CommandContext(ctx, o.Path, append([]string{"-L", "localfilesystem:" + s.Address()}, args...)...)
	cmd.Env = []string{"LD_LIBRARY_PATH=" + o.LibraryPath, "HOME=" + o.Dir, "TMPDIR=" + o.Dir}
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || !exit.Exited() {
		t.Fatalf("adb %q: %v\n%s", args, err, out)
	}
	return string(out)
}
