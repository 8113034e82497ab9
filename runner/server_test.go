//go:build linux

package runner_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// usersServer starts a real adb server that does not restart, like a user's. It returns a client and a function that
// kills the server.
func usersServer(t *testing.T) (*adb.Client, func()) {
	t.Helper()
	o := phonetest.ServerOptions(t)
	cmd := exec.Command(o.Path, "-L", "localfilesystem:adb.sock", "nodaemon", "server")
	cmd.Dir = o.Dir
	cmd.Env = []string{"HOME=" + o.Dir, "PATH=/usr/bin:/bin", "ADB_EMU=0", "ADB_MDNS=0", "ADB_USB=0", "LD_LIBRARY_PATH=" + o.LibraryPath}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	c := adb.NewClient("unix", filepath.Join(o.Dir, "adb.sock"))
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := c.Version(t.Context())
		if err == nil {
			return c, kill
		}
		if !errors.Is(err, transport.ErrDropped) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// killing calls a function at the first write.
type killing struct {
	bytes.Buffer
	kill func()
}

func (k *killing) Write(b []byte) (int, error) {
	k.kill()
	return k.Buffer.Write(b)
}

// If the user's adb server ends during a push or a command, the error names the server, not the device.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	e := phonetest.Start(t, phonetest.Image(t, nil), nil)
	check := func(t *testing.T, err error) {
		t.Helper()
		if !transport.Retryable(err) || !strings.Contains(err.Error(), "no adb server answers at ") {
			t.Errorf("the error is %v", err)
		}
	}
	connect := func(t *testing.T) (*session.Session, func()) {
		c, kill := usersServer(t)
		if err := c.Connect(t.Context(), e.Addr()); err != nil {
			t.Fatal(err)
		}
		return &session.Session{Device: c.Device(e.Addr()), Sums: push.Sums{Dir: t.TempDir()}, Wait: time.Second}, kill
	}
	t.Run("while files are pushed", func(t *testing.T) {
		s, kill := connect(t)
		noise := make([]byte, 32<<20)
		_, _ = rand.NewChaCha8([32]byte{7}).Read(noise)
		_, err := s.Run(t.Context(), session.Request{
			Files: map[string]push.File{"model.bin": file(string(noise), false)}, Args: []string{"true"},
			Report: func(done, total int64, op string) {
				if done > 0 {
					kill()
				}
			},
		})
		check(t, err)
	})
	t.Run("while the command runs", func(t *testing.T) {
		s, kill := connect(t)
		_, err := s.Run(t.Context(), session.Request{Args: []string{"sh", "-c", "echo begun; sleep 60"}, Stdout: &killing{kill: kill}, Stderr: io.Discard})
		check(t, err)
	})
	t.Run("before", func(t *testing.T) {
		s, kill := connect(t)
		kill()
		_, err := s.Run(t.Context(), session.Request{Args: []string{"true"}})
		check(t, err)
	})
}
