package example_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

func TestWrappers(t *testing.T) {
	s, dir := install(t, ""), t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("v73.cpp", "#include <hexagon_types.h>\nHVX_Vector f(HVX_Vector v) { return Q6_Vw_equals_Vsf(v); }\n")
	write("host.cpp", "#include <sys/socket.h>\n")
	write("two words.cpp", "const char *where() { return __FILE__; }\nconst char *what() { return WHAT; }\n")
	write("a.cpp", "int a() { return 1; }\n")
	hexagon, arm := s.linker("v79")[0], s.linker("aarch64")[0]
	for _, c := range []struct {
		name string
		argv []string
		fail string // a part of the message; "" when it must succeed in silence
	}{
		{"an instruction the emulator lacks", []string{hexagon, "-mv79", "-mhvx=v66", "-mhvx-length=128B", "-c", "v73.cpp", "-o", "x.o"}, "undeclared identifier 'Q6_Vw_equals_Vsf'"},
		{"the same for the real DSP", []string{hexagon, "-mv79", "-mhvx", "-mhvx-length=128B", "-mhmx", "-c", "v73.cpp", "-o", "x.o"}, ""},
		{"no header of the host, Hexagon", []string{hexagon, "-mv79", "-c", "host.cpp", "-o", "x.o"}, "'sys/socket.h' file not found"},
		{"no header of the host, AArch64", []string{arm, "--target=aarch64-none-linux-android21", "-c", "host.cpp", "-o", "x.o"}, "'sys/socket.h' file not found"},
		{"arguments with spaces and quotes", []string{hexagon, "-mv79", `-DWHAT="a 'b' $c"`, "-c", "two words.cpp", "-o", "two words.o"}, ""},
		{"the name says the target", []string{filepath.Join(filepath.Dir(arm), "aarch64-linux-android28-clang++"), "-c", "a.cpp", "-o", "arm.o"}, ""},
		{"an object of v73", []string{hexagon, "-mv73", "-c", "a.cpp", "-o", "v73.o"}, ""},
		{"an object of v81", []string{hexagon, "-mv81", "-DWHAT=0", "-c", "two words.cpp", "-o", "v81.o"}, ""},
		{"a library of both", []string{hexagon, "-shared", "-o", "libboth.so", "v73.o", "v81.o"}, ""},
		{"a library of objects of two machines", []string{hexagon, "-shared", "-o", "libno.so", "v73.o", "arm.o"}, "incompatible"},
	} {
		out, err := s.run(t, dir, c.argv...)
		if c.fail == "" && (err != nil || out != "") || c.fail != "" && (err == nil || !strings.Contains(out, c.fail)) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "two words.o"))
	if err != nil || !strings.Contains(string(text), "a 'b' $c") || strings.Contains(string(text), dir) {
		t.Errorf("two words.o: %v; its strings are not the sources'", err)
	}
	both, err := os.ReadFile(filepath.Join(dir, "libboth.so"))
	if err != nil || len(both) < 40 || both[36] != 0x81 {
		t.Errorf("a library of v73 and v81 does not have e_flags 0x81 (%v)", err)
	}
}

func TestWrapperWithoutCompiler(t *testing.T) {
	s := install(t, "")
	for _, target := range []string{"v79", "aarch64"} {
		cmd := exec.Command(s.linker(target)[0], "--version")
		cmd.Env = []string{"HEXMAGE_ROOT=/nowhere"}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 127 || !strings.Contains(string(out), "/nowhere/toolchains/llvm/usr/bin/clang-22") || !strings.Contains(string(out), "HEXMAGE_LLVM") {
			t.Errorf("%s: %v: %s", target, err, out)
		}
	}
	// A compiler that is only linked to, as one that is installed on the machine.
	linked := t.TempDir()
	if err := os.MkdirAll(filepath.Join(linked, "usr/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(toolchaintest.Root(t, "llvm"), "usr/lib/llvm-22/bin/clang"), filepath.Join(linked, "usr/bin/clang-22")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.cpp"), []byte("#include <stdint.h>\nint32_t a() { return 1; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := exec.Command(s.linker("v79")[0], "-mv79", "-shared", "-o", "a.so", "a.cpp")
	link.Dir, link.Env = dir, []string{"HEXMAGE_LLVM=" + linked}
	if out, err := link.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("a linked compiler: %v: %s", err, out)
	}
	// Where HEXMAGE_LLVM is not set, the compiler is a toolchain of the exec root.
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "toolchains"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(toolchaintest.Root(t, "llvm"), filepath.Join(root, "toolchains/llvm")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.linker("v79")[0], "--version")
	cmd.Env = []string{"HEXMAGE_ROOT=" + root}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Target: hexagon") {
		t.Errorf("%v: %s", err, out)
	}
}
