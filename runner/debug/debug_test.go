//go:build linux

package debug_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/debug"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

const source = `static int twice(int number) {
  volatile int seen = number;
  return 2 * seen;
}
int answer(int number) {
  return twice(number) + 1;
}
void _start(void) {
  answer(20);
  for (;;) {}
}
`

// compile compiles src/program.c of the folder into program and, without symbols, into stripped. It returns the
// folder.
func compile(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "src/program.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	clang := toolchaintest.Path(t, "llvm", "usr/bin/clang-22")
	args = append([]string{"--target=aarch64-none-linux-android21", "-ffreestanding", "-nostdlib", "-static", "-fuse-ld=lld",
		"--ld-path=" + toolchaintest.Path(t, "llvm", "usr/bin/ld.lld-22"), "src/program.c"}, args...)
	for _, more := range [][]string{{"-o", "program"}, {"-s", "-o", "stripped"}} {
		cmd := exec.CommandContext(t.Context(), clang, append(slices.Clone(args), more...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

func read(t *testing.T, path string) *debug.Program {
	t.Helper()
	p, err := debug.Read(path)
	if err != nil || p == nil {
		t.Fatalf("%s: %v, %v", path, p, err)
	}
	return p
}

// lldb runs the commands in LLDB, up to the first that fails.
func lldb(t *testing.T, commands ...string) string {
	t.Helper()
	argv := debug.Argv(toolchaintest.Path(t, "lldb", "usr/bin/lldb-22"), commands)
	cmd := exec.CommandContext(t.Context(), argv[0], append(argv[1:], "--no-lldbinit", "--no-use-colors", "--batch")...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

// A pushed program without symbols is recognized by its code. The file with symbols may have any name. A program from
// another compilation differs.
func TestSameCode(t *testing.T) {
	t.Parallel()
	dir := compile(t, "-g", "-ffile-prefix-map=/nowhere=.", "-fdebug-compilation-dir=.")
	with, without := read(t, filepath.Join(dir, "program")), read(t, filepath.Join(dir, "stripped"))
	if !with.Info || without.Info || !with.SameCode(without) || !slices.Equal(with.Folders, []string{"."}) {
		t.Errorf("%+v, %+v", with, without)
	}
	if other := read(t, filepath.Join(compile(t, "-g", "-O2"), "stripped")); other.SameCode(with) {
		t.Error("a program that does something else has the same code")
	}
	text := filepath.Join(dir, "src/program.c")
	if p, err := debug.Read(text); p != nil || err != nil {
		t.Errorf("a text is the program %+v, %v", p, err)
	}
}

// LLDB finds the sources by the map, whatever working directory the debug information names. Without the map it does
// not.
func TestSources(t *testing.T) {
	t.Parallel()
	const text = "static int twice(int number)"
	for name, args := range map[string][]string{
		"nothing":      {"-g"},
		"the folder":   {"-g", "-fdebug-compilation-dir=."},
		"another root": {"-g", "-fdebug-compilation-dir=/proc/self/cwd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := compile(t, args...)
			elsewhere := filepath.Join(t.TempDir(), "it is here")
			if err := os.Rename(filepath.Join(dir, "src"), elsewhere); err != nil { // an exec root disappears after its action
				t.Fatal(err)
			}
			p := read(t, filepath.Join(dir, "program"))
			target := debug.Target{Program: p.Path, Folder: dir}
			load := func() []string { // all commands but the connection
				all := target.Commands("")
				return append(all[:len(all)-1], "source list --name twice")
			}
			if out := lldb(t, load()...); strings.Contains(out, text) {
				t.Errorf("without a map: %s", out)
			}
			target.Sources = debug.Sources(p.Folders, map[string]string{"src": elsewhere, "toolchains/llvm": t.TempDir()})
			if out := lldb(t, load()...); !strings.Contains(out, text) {
				t.Errorf("with %v: %s", target.Sources, out)
			}
		})
	}
}

// Special characters in a path or a name do not become a command.
func TestCommands(t *testing.T) {
	t.Parallel()
	target := debug.Target{
		Program: "/x/a b/r\"`un", Libraries: []string{"/x/a b/lib/libM.so"}, Folder: "/x/a b",
		Sources: debug.Sources([]string{".", "/e"}, map[string]string{"toolchains/mllm": "/t/1", "src": "/w/src"}),
	}
	want := []string{
		`settings set target.source-map "/e/toolchains/mllm" "/t/1" "/e/src" "/w/src" "toolchains/mllm" "/t/1" "src" "/w/src"`,
		`settings set target.exec-search-paths "/x/a b"`,
		"target create \"/x/a b/r\\\"\\`un\"",
		`target modules add "/x/a b/lib/libM.so"`,
		`gdb-remote 127.0.0.1:5039`,
	}
	if got := target.Commands("127.0.0.1:5039"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// The folder has the layout of an NDK.
func TestInNDK(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if lldb, server := debug.InNDK(root); lldb != "" || server != "" {
		t.Errorf("in an empty folder: %q, %q", lldb, server)
	}
	llvm := filepath.Join(root, "toolchains/llvm/prebuilt/linux-x86_64")
	for _, at := range []string{"bin/lldb", "bin/lldb.sh", "lib/clang/19/lib/linux/aarch64/lldb-server", "lib/clang/19/lib/linux/arm/lldb-server"} {
		if err := os.MkdirAll(filepath.Join(llvm, filepath.Dir(at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(llvm, at), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if lldb, server := debug.InNDK(root); lldb != filepath.Join(llvm, "bin/lldb.sh") || server != filepath.Join(llvm, "lib/clang/19/lib/linux/aarch64/lldb-server") {
		t.Errorf("%q, %q", lldb, server)
	}
}
