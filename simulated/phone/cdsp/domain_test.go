package cdsp_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/simulated/phone/cdsp"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

func clang(t testing.TB) string {
	return filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin/clang-22")
}

func run(t testing.TB, dir string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

// build compiles the shell as a pipeline does.
func build(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, cdsp.Sources()); err != nil {
		t.Fatal(err)
	}
	run(t, dir, cdsp.Args(clang(t), cdsp.Program)...)
	return filepath.Join(dir, cdsp.Program)
}

// library compiles testdata/package.cc for an arch.
func library(t testing.TB, arch string, flags ...string) string {
	t.Helper()
	source, err := filepath.Abs("testdata/package.cc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	argv := append([]string{
		clang(t), "--target=hexagon-unknown-none-elf", "-m" + arch, "-mhvx=v66", "-mhvx-length=128B", "-G0", "-O2", "-std=c++17", "-ffreestanding",
		"-nostdlibinc", "-nostdlib", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-fPIC", "-shared", "-fuse-ld=lld",
		"-o", "lib.so", source,
	}, flags...)
	run(t, dir, argv...)
	return filepath.Join(dir, "lib.so")
}

// domain is a running shell.
type domain struct {
	t        testing.TB
	in       io.WriteCloser
	out      io.Reader
	cmd      *exec.Cmd
	log      bytes.Buffer
	sequence uint32
}

func start(t testing.TB, shell, arch string) *domain {
	t.Helper()
	qemu := filepath.Join(toolchaintest.Root(t, "qemu"), "usr/bin/qemu-hexagon-static")
	d := &domain{t: t, cmd: exec.Command(qemu, "-cpu", "v67", shell, arch)}
	d.cmd.Stderr = &d.log
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if d.out, err = d.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.in.Close(); d.cmd.Wait() })
	return d
}

// call sends one frame and returns the status and the rest of the answer.
func (d *domain) call(kind uint32, payload []byte) (uint32, []byte) {
	d.t.Helper()
	d.sequence++
	return d.frame(0x31505246, kind, uint32(len(payload)), payload)
}

func (d *domain) frame(magic, kind, length uint32, payload []byte) (uint32, []byte) {
	d.t.Helper()
	if _, err := d.in.Write(append(words(magic, kind, d.sequence, length), payload...)); err != nil {
		d.t.Fatal(err)
	}
	head := make([]byte, 16)
	if _, err := io.ReadFull(d.out, head); err != nil {
		d.t.Fatalf("no answer: %v; log:\n%s", err, d.log.String())
	}
	want := words(0x31505246, kind|1<<31, d.sequence)
	if !bytes.Equal(head[:12], want) {
		d.t.Fatalf("answer's header % x, want % x", head[:12], want)
	}
	body := make([]byte, binary.LittleEndian.Uint32(head[12:]))
	if _, err := io.ReadFull(d.out, body); err != nil {
		d.t.Fatal(err)
	}
	return binary.LittleEndian.Uint32(body), body[4:]
}

// refused sends a frame whose answer must be an error with the text want.
func (d *domain) refused(kind uint32, payload []byte, code uint32, want string) {
	d.t.Helper()
	status, rest := d.call(kind, payload)
	d.wantError(status, rest, code, want)
}

func (d *domain) wantError(status uint32, rest []byte, code uint32, want string) {
	d.t.Helper()
	if status != code {
		d.t.Fatalf("status %#x %q, want %#x", status, rest, code)
	}
	if n := binary.LittleEndian.Uint32(rest); int(n) != len(rest)-4 || !strings.Contains(string(rest[4:]), want) {
		d.t.Errorf("error text %q, want one with %q", rest[4:], want)
	}
}

func (d *domain) open(path string) uint32 {
	d.t.Helper()
	status, rest := d.call(open, text(path))
	if status != 0 {
		d.t.Fatalf("OPEN %s: %#x %s", path, status, rest)
	}
	return binary.LittleEndian.Uint32(rest)
}

func words(w ...uint32) []byte {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func text(s string) []byte { return append(words(uint32(len(s))), s...) }

func tensor(dtype uint32, n, size int) []byte {
	return words(dtype, 1, 1, 1, uint32(n), math.Float32bits(1), 0, uint32(size))
}

// binaryOp executes an op with two inputs and one output of n 4-byte elements each.
func (d *domain) binaryOp(handle uint32, op string, dtype uint32, a, b []uint32) []uint32 {
	d.t.Helper()
	n := len(a)
	desc := tensor(dtype, n, 4*n)
	payload := slices.Concat(words(handle), text(op), words(1, 2), desc, desc, desc, words(a...), words(b...))
	status, rest := d.call(execute, payload)
	if status != 0 {
		d.t.Fatalf("%s: %#x %s", op, status, rest)
	}
	if len(rest) != 32+4*n || !bytes.Equal(rest[:32], desc) {
		d.t.Fatalf("%s: output descriptor % x, want % x", op, rest[:32], desc)
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(rest[32+4*i:])
	}
	return out
}
