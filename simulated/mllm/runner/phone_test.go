package runner_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	devrunner "github.com/hexmage/hexmage/simulated/mllm/runner"
	"github.com/hexmage/hexmage/simulated/phone/cdsp"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

var le = binary.LittleEndian

// buildID is the SDK's.
const buildID = "v2.41.0.251128000000_0"

func program(t testing.TB, toolchain, name string) string {
	return filepath.Join(toolchaintest.Root(t, toolchain), "usr/bin", name)
}

func compile(t testing.TB, dir string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

// handset is a folder with the files that a pipeline pushes, and a DSP behind a socket.
type handset struct {
	t      testing.TB
	dir    string // the working directory on the device
	system string // root that the runner sees in front of the host's
	env    map[string]string

	program, folder string // default: the runner in dir
}

// programs are compiled once for all tests.
type programs struct{ runner, shell, library string }

// compileArgs returns the command line that compiles the runner in a folder of its sources. clang is the path of
// clang++ 20 or newer.
func compileArgs(t testing.TB, clang, out string) []string {
	t.Helper()
	args := []string{
		clang, "--target=aarch64-none-linux-android21", "-O2", "-std=c++17", "-Wall", "-Wextra", "-ffreestanding", "-fno-builtin", "-ffp-contract=off",
		"-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector", "-nostdlibinc", "-nostdlib", "-static", "-fuse-ld=lld", "-o", out,
	}
	names, err := fs.Glob(devrunner.Sources(), "*.cc")
	if err != nil {
		t.Fatal(err)
	}
	return append(args, names...)
}

func build(t testing.TB) programs {
	t.Helper()
	dir, dsp := t.TempDir(), t.TempDir()
	for from, to := range map[string]string{dir: "runner", dsp: "cdsp"} {
		sources := devrunner.Sources()
		if to == "cdsp" {
			sources = cdsp.Sources()
		}
		if err := os.CopyFS(from, sources); err != nil {
			t.Fatal(err)
		}
	}
	wire, err := fs.ReadFile(cdsp.Sources(), cdsp.Wire)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, cdsp.Wire), wire, 0o644); err != nil {
		t.Fatal(err)
	}
	compile(t, dir, compileArgs(t, program(t, "llvm", "clang++-22"), devrunner.Program)...)
	compile(t, dsp, cdsp.Args(program(t, "llvm", "clang-22"), cdsp.Program)...)
	source, err := filepath.Abs("testdata/rmsnorm.cc")
	if err != nil {
		t.Fatal(err)
	}
	compileOp(t, dsp, source, "rmsnorm.so")
	return programs{filepath.Join(dir, devrunner.Program), filepath.Join(dsp, cdsp.Program), filepath.Join(dsp, "rmsnorm.so")}
}

// compileOp compiles an op package of one source.
func compileOp(t testing.TB, dir, source, out string) {
	t.Helper()
	compile(t, dir, program(t, "llvm", "clang++-22"), "--target=hexagon-unknown-none-elf", "-mv79", "-mhvx=v66", "-G0", "-O2", "-std=c++17",
		"-ffreestanding", "-nostdlibinc", "-nostdlib", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-shared", "-fuse-ld=lld", "-o", out, source)
}

func newPhone(t testing.TB, p programs, arch string, m chained) *handset {
	t.Helper()
	ph := &handset{t: t, dir: t.TempDir(), system: t.TempDir(), env: map[string]string{
		"LD_LIBRARY_PATH": ".", "ADSP_LIBRARY_PATH": ";dsp;/vendor/lib/rfsa/adsp", "OPEN_FASTRPC_DEVICE": "cdsp.sock", "OPEN_RUNNER_RESULTS": "results/tokens.json",
	}}
	library, err := os.ReadFile(p.library)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := os.ReadFile(p.runner)
	if err != nil {
		t.Fatal(err)
	}
	ph.write("qwen3.bin", m.context)
	ph.write("config.json", m.config)
	ph.write("tokenizer.json", m.tokenizer)
	ph.write("dsp/libQnnLLaMAPackage_HTP.so", library)
	ph.write("libQnnHtp.so", []byte("\177ELF\x00v2.41\x00v1.2.3.4\x00"+buildID+"\x00v2.9.9.999999999999\x00"))
	ph.write("libQnnLLaMAPackage_CPU.so", opPackage(183))
	ph.write("libQnnHtpV"+arch[1:]+"Stub.so", []byte("\x00"+buildID+"\x00"))
	ph.write("dsp/libQnnHtpV"+arch[1:]+"Skel.so", []byte("\x00"+buildID+"\x00"))
	ph.write("runner", runner)
	if err := os.MkdirAll(filepath.Join(ph.system, "vendor/etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ph.system, "vendor/etc/open_soc"), []byte("soc=SM8750\narch="+arch+"\nsoc_model=69\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ph.serveDSP(p.shell, arch)
	return ph
}

// opPackage is the checked beginning of an op package's library.
func opPackage(machine byte) []byte {
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x01\x01")
	head[18], head[20] = machine, 1
	return append(head, "\x00LLaMAPackageInterfaceProvider\x00"...)
}

// runtime replaces libQnnHtp.so, stub and skel by files of another SDK.
func (ph *handset) runtime(buildID string) {
	for _, name := range []string{"libQnnHtp.so", "libQnnHtpV79Stub.so", "dsp/libQnnHtpV79Skel.so"} {
		ph.write(name, []byte("\x00"+buildID+"\x00"))
	}
}

// vendor puts a file below the device's /vendor.
func (ph *handset) vendor(name string, data []byte) {
	ph.t.Helper()
	path := filepath.Join(ph.system, "vendor", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		ph.t.Fatal(err)
	}
}

func (ph *handset) write(name string, data []byte) {
	ph.t.Helper()
	path := filepath.Join(ph.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o755)); err != nil {
		ph.t.Fatal(err)
	}
}

func (ph *handset) remove(name string) {
	ph.t.Helper()
	if err := os.Remove(filepath.Join(ph.dir, name)); err != nil {
		ph.t.Fatal(err)
	}
}

// serveDSP starts a protection domain for each connection, as the simulated phone does.
func (ph *handset) serveDSP(shell, arch string) {
	ph.t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(ph.dir, "cdsp.sock"), Net: "unix"})
	if err != nil {
		ph.t.Fatal(err)
	}
	qemu := program(ph.t, "qemu", "qemu-hexagon-static")
	done := make(chan struct{})
	ph.t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			f, err := c.File()
			c.Close()
			if err != nil {
				return
			}
			f.Fd() // sets the socket to blocking, which the shell needs
			cmd := exec.Command(qemu, "-cpu", "v67", shell, arch)
			cmd.Dir, cmd.Stdin, cmd.Stdout = "/", f, f
			cmd.Run() // some tests want a failing domain; the runner reports it
			f.Close()
		}
	}()
}

// lieDSP serves the device node with a fake DSP. It reads the first header, answers with the given bytes and closes
// the connection.
func (ph *handset) lieDSP(answer func(header []byte) []byte) {
	ph.t.Helper()
	ph.env["OPEN_FASTRPC_DEVICE"] = "liar.sock"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(ph.dir, "liar.sock"), Net: "unix"})
	if err != nil {
		ph.t.Fatal(err)
	}
	ph.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			header := make([]byte, 16)
			if _, err := io.ReadFull(c, header); err == nil {
				io.CopyN(io.Discard, c, int64(le.Uint32(header[12:])))
				c.Write(answer(header))
			}
			c.Close()
		}
	}()
}

// run starts the runner and returns its output and exit code.
func (ph *handset) run(prompt string, args ...string) (string, int) {
	ph.t.Helper()
	cmd := exec.Command(program(ph.t, "qemu", "qemu-aarch64-static"), append([]string{"-L", ph.system, cmp.Or(ph.program, "./runner")}, args...)...)
	cmd.Dir = filepath.Join(ph.dir, ph.folder)
	for k, v := range ph.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin = strings.NewReader(prompt)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), exit.ExitCode()
	}
	if err != nil {
		ph.t.Fatal(err)
	}
	return out.String(), 0
}
