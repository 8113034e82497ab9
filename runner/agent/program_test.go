package agent_test

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/agent"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

var update = flag.Bool("update", false, "compile the program from src and put it into the package")

// The compiled program in the package must equal the compiled sources.
func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("src")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), agent.Name)
	args := buildArgs(t, toolchaintest.Path(t, "llvm", "usr/bin/clang-22"), out)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("hexmage-agent-aarch64", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, sum := agent.Program()
	if got != string(want) {
		t.Errorf("hexmage-agent-aarch64 (%d bytes) is not what src gives (%d bytes): run go test ./runner/agent -run Program -update", len(got), len(want))
	}
	if s := fmt.Sprintf("%x", sha256.Sum256([]byte(got))); s != sum {
		t.Errorf("SHA-256 %s, said to be %s", s, sum)
	}
	if len(got) > 32<<10 {
		t.Errorf("%d bytes are no few KB", len(got))
	}
}

// buildArgs returns the command line that compiles the program in a folder with the files of src. clang is the path
// of clang 22 with lld beside it, out the program's path.
func buildArgs(t *testing.T, clang, out string) []string {
	t.Helper()
	args := []string{
		clang, "--target=aarch64-unknown-linux-gnu", "-march=armv8-a", "-Os", "-std=c17", "-Wall", "-Wextra", "-Werror",
		"-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fno-ident",
		"-ffunction-sections", "-nostdlibinc", "-nostdlib", "-static", "-fuse-ld=lld",
		// Pages of newer phones have 16 KB.
		"-Wl,--strip-all,--build-id=none,--gc-sections,-z,max-page-size=16384,-z,noseparate-code,-z,norelro", "-o", out,
	}
	names, err := fs.Glob(os.DirFS("src"), "*.c")
	if err != nil {
		t.Fatal(err)
	}
	return append(args, names...)
}

// The program runs on any AArch64 Linux: it needs no libraries, and its segments fit pages of 16 KB.
func TestProgramNeedsNothing(t *testing.T) {
	t.Parallel()
	content, _ := agent.Program()
	f, err := elf.NewFile(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != elf.EM_AARCH64 || f.Type != elf.ET_EXEC || f.Class != elf.ELFCLASS64 {
		t.Errorf("%v, %v, %v", f.Machine, f.Type, f.Class)
	}
	for _, p := range f.Progs {
		switch {
		case p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC:
			t.Errorf("%v: it is not static", p.Type)
		case p.Type == elf.PT_LOAD && (p.Align < 16<<10 || p.Vaddr%p.Align != p.Off%p.Align):
			t.Errorf("a segment at %#x, offset %#x, is aligned to %#x", p.Vaddr, p.Off, p.Align)
		case p.Type == elf.PT_LOAD && p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X, p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X != 0:
			t.Errorf("%v can be written to and executed", p.Type)
		}
	}
}

// command returns the program under qemu.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := filepath.Join(t.TempDir(), agent.Name)
	content, _ := agent.Program()
	if err := os.WriteFile(program, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	qemu := toolchaintest.Path(t, "qemu", "usr/bin/qemu-aarch64-static")
	return exec.CommandContext(t.Context(), qemu, append([]string{program}, args...)...)
}

func TestSum(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	var names, want strings.Builder
	for _, size := range []int{0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 4096, 256<<10 - 1, 256 << 10, 256<<10 + 1, 3<<20 + 77} {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		name := filepath.Join(dir, fmt.Sprintf("file of %d", size))
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&names, name)
		fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(b), name)
	}
	for how, args := range map[string][]string{"instructions": {"sum"}, "portable": {"sum", "--portable"}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, args...)
			cmd.Stdin = strings.NewReader(names.String())
			out, err := cmd.Output()
			if err != nil || string(out) != want.String() {
				t.Errorf("%v\n%s\nwant\n%s", err, out, want.String())
			}
		})
	}
}

func TestSumOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "sum")
	cmd.Stdin = strings.NewReader("/no/such/file\n" + strings.Repeat("x", 5000) + "\n" + filepath.Dir(there) + "\n\n" + there) // without a final line end
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != 1 || out.String() != fmt.Sprintf("%x  %s\n", sha256.Sum256(nil), there) {
		t.Errorf("%v, %q", err, out.String())
	}
	for _, want := range []string{"cannot read /no/such/file: error 2\n", "too long a name: xxx", "cannot read " + filepath.Dir(there) + ": error 21\n"} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("standard error has no %q:\n%s", want, errOut.String())
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"dance"}, {"sum", "x"}, {"sample"}} {
		cmd := command(t, args...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !bytes.HasPrefix(out, []byte("usage: ")) && args[0] != "sum" {
			t.Errorf("%q: %v, %q", args, err, out)
		}
	}
}
