//go:build linux

package promises_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	_ "github.com/hexmage/hexmage/cmd/hexmage/cli" // makes `go test` run the tests again when the program changes
)

// program is the path of hexmage.
var program string // set once, by TestMain

// envDial is a variable with an address: the test binary connects to it, in place of running tests.
const envDial = "HEXMAGE_PROMISES_DIAL"

func TestMain(m *testing.M) {
	if addr := os.Getenv(envDial); addr != "" {
		dial(addr)
		return
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("promises: not run: the race detector sees nothing of other processes")
		return
	}
	base, err := os.MkdirTemp("", "hexmage-promises-")
	if err == nil {
		program, err = build(base)
	}
	code := 1
	if err != nil {
		fmt.Println("promises:", err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(base)
	os.Exit(code)
}

// build compiles hexmage into the folder. internal/archtest/mutants has it take changed files by GOFLAGS.
func build(dir string) (string, error) {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", dir + "/"}
	cmd := exec.Command("go", append(args, "./cmd/hexmage")...)
	cmd.Dir, cmd.Env = filepath.Join("..", "..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build hexmage: %w\n%s", err, out)
	}
	return filepath.Join(dir, "hexmage"), nil
}

// dial is the command of an action that wants the network.
func dial(addr string) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		fmt.Println("no connection:", err)
		os.Exit(1)
	}
	conn.Close()
}

// world is a workspace with a cache. Actions append to files in logs, which they reach at sandbox level staged only.
type world struct {
	t                      *testing.T
	base, dir, cache, logs string
	env                    []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	w := &world{t: t, base: base, dir: at("ws"), cache: at("cache"), logs: at("logs")}
	for _, dir := range []string{w.dir, w.cache, w.logs} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // some folders of the cache are read-only
		_ = filepath.WalkDir(base, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(p, 0o755)
			}
			return nil
		})
	})
	return w
}

// write writes a file of the workspace. In the text, LOGS stands for the folder of logs.
func (w *world) write(name, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	text = strings.ReplaceAll(text, "LOGS", w.logs)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// pipeline writes pipelines/p.hcl.
func (w *world) pipeline(text string) {
	w.t.Helper()
	w.write("pipelines/p.hcl", text)
}

// toolchain writes release 1 of toolchain "ours", whose only file is version with the text.
func (w *world) toolchain(text string) {
	w.t.Helper()
	url, sum := w.archive(text+".tar", &tar.Header{Name: "version", Mode: 0o644}, text)
	w.write("toolchains/ours.hcl", fmt.Sprintf(`
toolchain "ours" {
  release "1" {
    source "archive" {
      urls   = ["%s"]
      sha256 = "%s"
    }
  }
}
`, url, sum))
}

// archive writes a tar archive with one entry, and returns its address and SHA-256.
func (w *world) archive(name string, h *tar.Header, content string) (url, sum string) {
	w.t.Helper()
	var b bytes.Buffer
	a := tar.NewWriter(&b)
	h.Size = int64(len(content))
	err := a.WriteHeader(h)
	_, werr := a.Write([]byte(content))
	file := filepath.Join(w.base, name)
	if err := errors.Join(err, werr, a.Close(), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		w.t.Fatal(err)
	}
	return "file://" + file, fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
}

func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = w.dir
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + w.base, "HEXMAGE_CACHE=" + w.cache},
		w.env...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// outcome is how a command of hexmage ended.
type outcome struct {
	code int
	text string // standard output and error
}

// hexmage runs a command to its end.
func (w *world) hexmage(args ...string) outcome {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("hexmage %q: %v", args, err)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String()}
}

// runs runs the pipeline, which must succeed.
func (w *world) runs(args ...string) {
	w.t.Helper()
	if o := w.hexmage(append([]string{"run", "p"}, args...)...); o.code != 0 {
		w.t.Fatalf("hexmage run: exit code %d\n%s", o.code, o.text)
	}
}

// out returns the content of an output.
func (w *world) out(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "out", "p", name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// wantOut checks the content of an output.
func (w *world) wantOut(name, want string) {
	w.t.Helper()
	if got := w.out(name); got != want {
		w.t.Errorf("output %s is %.200q, want %.200q", name, got, want)
	}
}

// lines returns how many lines actions wrote to a log.
func (w *world) lines(log string) int {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.logs, log))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

// wantLines checks how many lines there are in a log: how often a step ran.
func (w *world) wantLines(log string, want int) {
	w.t.Helper()
	if got := w.lines(log); got != want {
		w.t.Errorf("step %s ran %d times, want %d", log, got, want)
	}
}

// start starts hexmage. The function that it returns waits for the end.
func (w *world) start(args ...string) (*exec.Cmd, func() outcome) {
	w.t.Helper()
	cmd := w.command(w.t.Context(), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, func() outcome {
		_ = cmd.Wait()
		return outcome{cmd.ProcessState.ExitCode(), out.String()}
	}
}

// await waits until the condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 seconds", what)
		}
	}
}

// kill kills the process as `kill -9` does.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL) }

// strict skips the test on a kernel that has no Landlock, or one that is too old for sandbox level strict.
func strict(t *testing.T) {
	t.Helper()
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || abi < 3 {
		t.Skipf("sandbox level strict needs Landlock 3 (Linux 6.2), the kernel has %d", abi)
	}
}

const (
	stagedLevel = "--sandbox=staged"
	strictLevel = "--sandbox=strict"
)
