// Package phonetest starts simulated phones and private adb servers for a test. Both are real and end with the test.
// The package does not know the tests that use it.
package phonetest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// initArg makes a test binary run as the first process of a simulated device.
const initArg = "phone-init"

// Main runs the tests, or the device in a child process, and returns the exit code. If tests start phones, call Main in
// TestMain.
func Main(m *testing.M) int {
	if len(os.Args) == 2 && os.Args[1] == initArg {
		fmt.Fprintln(os.Stderr, phone.Init(os.Stdin, os.Stdout, os.NewFile(3, "listener")))
		return 1
	}
	return m.Run()
}

// Self returns phone.Options.Self for a test binary that uses Main.
func Self(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, initArg}
}

// SM8750 returns the SoC that most tests use.
func SM8750() phone.SoCProps {
	return phone.SoCProps{Model: "SM8750", SoCModel: 69, Arch: "v79", SoCID: 618, VTCMMB: 8}
}

// Image builds an image of an SM8750 in a temporary folder. The function change, if not nil, may change the image's
// description.
func Image(t testing.TB, change func(*phone.Image)) string {
	t.Helper()
	m := phone.Image{
		Busybox: filepath.Join(toolchaintest.Root(t, "busybox"), "bin/busybox"),
		Qemu:    filepath.Join(toolchaintest.Root(t, "qemu"), "usr/bin"),
		SoC:     SM8750(),
		Out:     t.TempDir(),
	}
	if change != nil {
		change(&m)
	}
	if err := phone.RunTool(t.Context(), m, tool.Env{}); err != nil {
		t.Fatal(err)
	}
	return m.Out
}

// Start starts a device from an image. If the test fails, Start logs the device's output.
func Start(t testing.TB, image string, change func(*phone.Options)) *phone.Device {
	t.Helper()
	log := &Log{}
	o := phone.Options{Self: Self(t), Image: image, Dir: t.TempDir(), Log: log}
	if change != nil {
		change(&o)
	}
	e, err := phone.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\ndevice log:\n%s", err, log)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("device log:\n%s", log)
		}
	})
	return e
}

// ServerOptions returns options for a private adb server in a temporary folder.
func ServerOptions(t testing.TB) adb.Options {
	t.Helper()
	root := toolchaintest.Root(t, "adb")
	lib := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	dir, err := os.MkdirTemp("", "adb") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return adb.Options{
		Path:        filepath.Join(root, "usr/lib/android-sdk/platform-tools/adb"),
		LibraryPath: filepath.Join(lib, "android") + ":" + lib,
		Dir:         dir,
	}
}

// Server starts a private adb server.
func Server(t testing.TB) *adb.Server {
	t.Helper()
	s, err := adb.Start(t.Context(), ServerOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("adb server:\n%s", s.Log())
		}
		s.Close()
	})
	return s
}

// Device starts a device and an adb server, and connects them.
func Device(t testing.TB, image string, change func(*phone.Options)) *adb.Device {
	t.Helper()
	e, s := Start(t, image, change), Server(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Connect(ctx, e.Addr()); err != nil {
		t.Fatal(err)
	}
	return s.Device(e.Addr())
}

// Calls is the start of an AArch64 program without a C library. It defines a system call and _start. The program must
// define run, which receives the address of argc.
const Calls = `
static long call(long n, long a, long b, long c) {
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}
void run(long *stack);
__asm__(".globl _start\n_start: mov x0, sp\n bl run\n");
`

// Compile compiles a freestanding static C program for "aarch64" or "hexagon" (-mv67) and returns the file's path.
func Compile(t testing.TB, machine, source string) string {
	t.Helper()
	args := map[string][]string{
		"aarch64": {"--target=aarch64-linux-gnu", "-mgeneral-regs-only"},
		"hexagon": {"--target=hexagon-unknown-none-elf", "-mv67", "-G0"},
	}[machine]
	dir := t.TempDir()
	in, out := filepath.Join(dir, "main.c"), filepath.Join(dir, "main")
	if err := os.WriteFile(in, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin")
	args = append(args, "-O1", "-ffreestanding", "-fno-builtin", "-nostdlib", "-nostdlibinc", "-static", "-fuse-ld=lld", "--ld-path="+filepath.Join(bin, "ld.lld-22"), "-o", out, in)
	if msg, err := exec.CommandContext(t.Context(), filepath.Join(bin, "clang-22"), args...).CombinedOutput(); err != nil {
		t.Fatalf("clang-22: %v\n%s", err, msg)
	}
	return out
}

// Log is a buffer that is safe for concurrent use.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns the log's content.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// DSPClient is the source of an AArch64 program for Compile. The program sends its standard input to the DSP and prints
// the answer.
const DSPClient = Calls + `
void run(long *stack) {
	(void)stack;
	static struct { unsigned short family; char path[108]; } at = { 1, "/dev/fastrpc-cdsp" };
	char c;
	long fd = call(198, 1, 1, 0);
	if (fd < 0) call(93, 2, 0, 0);
	if (call(203, fd, (long)&at, sizeof at) < 0) call(93, 3, 0, 0);
	while (call(63, 0, (long)&c, 1) == 1) call(64, fd, (long)&c, 1);
	call(210, fd, 1, 0);
	while (call(63, fd, (long)&c, 1) == 1) call(64, 1, (long)&c, 1);
	call(93, 0, 0, 0);
}
`
