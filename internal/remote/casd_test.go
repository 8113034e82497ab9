//go:build linux

package remote_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

func startCasd(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	program := toolchaintest.Casd(t)
	args := []string{"--bind=" + address, "--log-level=warning", "--reserved=1M", "--jobs=4", "--buildbox-run=" + filepath.Join(filepath.Dir(program), "buildbox-run")}
	for _, p := range []string{"/usr", "/bin", "/lib", "/lib64"} {
		if from, err := filepath.EvalSymlinks(p); err == nil {
			args = append(args, "--runner-arg=--ro-bind-mount="+from+":"+p)
		}
	}
	cmd := exec.Command(program, append(args, t.TempDir())...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(toolchaintest.Path(t, "bubblewrap", "usr/bin/bwrap"))+":"+filepath.Dir(program)+":/usr/bin:/bin")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%.6000s", log.Bytes())
		}
	})
	for range 200 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("casd does not listen")
	return ""
}

func TestCasd(t *testing.T) {
	address := startCasd(t)
	executetest.Run(t, "*remote.Executor", func(t *testing.T) executetest.Setup {
		root := t.TempDir()
		blobs, err := disk.NewBlobs(root)
		if err != nil {
			t.Fatal(err)
		}
		c, err := remote.Dial(remote.Options{Name: "team", Address: "grpc://" + address, Timeout: 10 * time.Second, Retries: 2, Execute: true, Say: func(s string) { t.Log(s) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		far := remote.NewBlobs(blobs, c, nil)
		files := store.WithHostFiles(far)
		x := remote.NewExecutor(c, remote.ExecutorOptions{Inputs: files, Blobs: far})
		return executetest.Setup{Executor: x, Store: files, Fn: digest.SHA256, NoSecrets: true, Silent: true, Alive: executetest.ProcessAlive}
	})
}
