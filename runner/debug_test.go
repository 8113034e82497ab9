//go:build linux

package runner_test

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

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/debug"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// debugged is a program that calls answer with the number on its standard input, an environment variable, and its
// first argument.
const debugged = `static long call(long n, long a, long b, long c) {
  register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
int answer(int number, const char *greeting, const char *name) {
  return number + greeting[0] + name[0];
}
void run(const long *stack) {
  const char *const *argv = (const char *const *)(stack + 1), *greeting = "none";
  for (const char *const *env = argv + stack[0] + 1; *env; env++)
    if ((*env)[0] == 'G' && (*env)[1] == '=') greeting = *env + 2;
  char in[16];
  long n = call(63, 0, (long)in, sizeof in);
  int number = 0;
  for (long i = 0; i < n && in[i] >= '0' && in[i] <= '9'; i++) number = 10 * number + in[i] - '0';
  answer(number, greeting, argv[1]);
  call(64, 1, (long)"done\n", 5);
  call(94, 7, 0, 0);
}
__asm__(".globl _start\n_start: mov x0, sp\n and sp, x0, #-16\n b run\n");
`

// debuggedProgram compiles debugged and returns its path.
func debuggedProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program.c"), []byte(debugged), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), toolchaintest.Path(t, "llvm", "usr/bin/clang-22"), "--target=aarch64-none-linux-android21", "-g", "-ffreestanding", "-nostdlib", "-static",
		"-fuse-ld=lld", "--ld-path="+toolchaintest.Path(t, "llvm", "usr/bin/ld.lld-22"), "-o", "program", "program.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "program")
}

// simulatedServer stands for Android's lldb-server. It takes the same command line, and starts qemu's stub.
const simulatedServer = `#!/system/bin/sh
[ "$1" = gdbserver ] && [ "$3" = -- ] || { echo "lldb-server: $*"; exit 64; }
export QEMU_GDB="${2#unix://}" QEMU_UNSET_ENV=QEMU_GDB,QEMU_UNSET_ENV
shift 3
exec "$@"
`

func stub(devinfo.Info) (session.Server, error) {
	return session.Server{Env: phone.DebugStub(session.DebugSocket)}, nil
}

// LLDB stops the program on the simulated phone at a function, and reads the program's input, environment and
// arguments. It connects to qemu's stub, which a script starts by lldb-server's command line. The run leaves no file
// on the phone.
func TestDebug(t *testing.T) {
	t.Parallel()
	program := debuggedProgram(t)
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil)
	a := b.action(t, map[string]string{"push/program": string(content), "push/data": "data", "in.txt": "42\n"}, action.Command{ // not executable: the run makes it executable
		Args: []string{"program", "it's"}, Env: map[string]string{"G": "in $HEXMAGE_ROOT"}, Outputs: []string{"stdout.txt", "results"},
		Platform: map[string]string{action.PropertyStdin: "in.txt", action.PropertyStdout: "stdout.txt"},
	})
	target := debug.Target{Program: program, Folder: filepath.Dir(program)}
	for name, server := range map[string]func(devinfo.Info) (session.Server, error){
		"the emulator's stub": stub,
		"lldb-server": func(devinfo.Info) (session.Server, error) {
			return session.LLDBServer(file(simulatedServer, false)), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var printed bytes.Buffer
			err := b.device.Debug(t.Context(), &execute.Request{Action: a}, runner.Debugging{Server: server, Output: &printed, With: func(ctx context.Context, at runner.Stopped) error {
				commands := append(target.Commands(at.Address), "breakpoint set --name answer", "process continue", "thread backtrace", "process continue")
				argv := debug.Argv(toolchaintest.Path(t, "lldb", "usr/bin/lldb-22"), commands)
				cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], "--no-lldbinit", "--batch")...)
				cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir()}
				out, err := cmd.CombinedOutput()
				said := string(out)
				for _, want := range []string{`answer(number=42, greeting="in /data/local/tmp/hexmage/run/`, `name="it's") at program.c:7`, "exited with status = 7"} {
					if !strings.Contains(said, want) {
						t.Errorf("LLDB does not say %q", want)
					}
				}
				if !strings.Contains(said, "stop reason = breakpoint 1.1") || !at.Device.Simulated {
					t.Errorf("on %v", at.Device)
				}
				<-at.Ended
				if err != nil || t.Failed() {
					t.Errorf("%v\n%s", err, said)
				}
				return nil
			}})
			if err != nil || printed.String() != "done\n" {
				t.Errorf("%v; it printed %q", err, &printed)
			}
		})
	}
	again := execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"sh", "-c", "ls /data/local/tmp/hexmage/run | wc -l; cat /proc/net/unix | grep -c hexmage.debug"}})}
	if r, err := b.device.Execute(t.Context(), &again); err != nil || string(r.Stdout) != "1\n0\n" {
		t.Errorf("left on the phone, beside the run that looks: %q, %v", r.Stdout, err)
	}
}

// Debug returns errors of a server that ends, a missing program and a failing debugger. The program ends with the
// debugger.
func TestDebugFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	content, err := os.ReadFile(debuggedProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	run := func(args []string, server func(devinfo.Info) (session.Server, error), with func(context.Context, runner.Stopped) error) error {
		a := b.action(t, map[string]string{"push/program": "x:" + string(content)}, action.Command{Args: args})
		return b.device.Debug(t.Context(), &execute.Request{Action: a}, runner.Debugging{Server: server, Output: io.Discard, With: with})
	}
	never := func(context.Context, runner.Stopped) error { t.Error("there was something to debug"); return nil }
	fails := func(devinfo.Info) (session.Server, error) {
		return session.LLDBServer(file("#!/system/bin/sh\nexit 9\n", false)), nil
	}
	none := func(devinfo.Info) (session.Server, error) { return session.Server{}, errors.New("there is no server") }
	for _, c := range []struct {
		args   []string
		server func(devinfo.Info) (session.Server, error)
		says   string
	}{
		{[]string{"./program"}, fails, "cannot start ./program under the debug server: exit code 9"},
		{[]string{"./absent"}, stub, "the program is not in the push set"},
		{[]string{"./program"}, none, "there is no server"},
	} {
		if err := run(c.args, c.server, never); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.args, err, c.says)
		}
	}
	over, ended := errors.New("the debugger is over"), (<-chan struct{})(nil)
	if err := run([]string{"./program"}, stub, func(_ context.Context, at runner.Stopped) error { ended = at.Ended; return over }); !errors.Is(err, over) {
		t.Errorf("%v, want what the debugger returned", err)
	}
	select {
	case <-ended:
	default:
		t.Error("the program goes on without its debugger")
	}
}
