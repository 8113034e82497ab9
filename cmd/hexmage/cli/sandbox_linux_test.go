package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

const leveled = `
step "exec" "fine" {
  argv = ["sh", "-c", "echo fine > o"]
  output "o" { file = "o" }
}
step "exec" "beside" { argv = ["sh", "-c", "cat beside.txt"] }
output "o" { value = step.exec.fine.outputs.o }
`

// TestSandboxLevels: the level is what is asked for, is part of no key, and decides which hints there are.
func TestSandboxLevels(t *testing.T) {
	t.Parallel()
	if _, err := sandbox.Open(); err != nil {
		t.Skip(err)
	}
	run := leveledWorkspace(t)
	hint := "beside.txt is in the workspace but not an input of the step"
	for _, c := range []struct {
		level, step string
		code        int
		says, not   string
	}{
		{"strict", "exec.fine", 0, "1 executed, 0 cached", "not restricted"},
		{"staged", "exec.fine", 0, "0 executed, 1 cached", "not restricted"},
		{"off", "exec.fine", 0, "0 executed, 1 cached", "not restricted"},
		{"", "exec.fine", 0, "0 executed, 1 cached", "not restricted"},
		{"strict", "exec.beside", 1, hint, ""},
		{"staged", "exec.beside", 1, hint, ""},
		{"off", "exec.beside", 1, "exit code 1", hint},
		{"loose", "exec.fine", 2, "loose", "executed"},
	} {
		code, text := run(c.level, c.step)
		if code != c.code || !strings.Contains(text, c.says) || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%q, %s: exit code %d\n%s", c.level, c.step, code, text)
		}
	}
}

// TestSandboxWithoutLandlock: on a kernel without Landlock, which a filter of system calls stands in for, actions run
// staged, and hexmage says so. Who asks for more is told that there is none.
func TestSandboxWithoutLandlock(t *testing.T) {
	t.Parallel()
	run := leveledWorkspace(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends, and what it starts has its filter
		filter := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			t.Error(err)
			return
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
			uintptr(unsafe.Pointer(&prog))); errno != 0 {
			t.Error(errno)
			return
		}
		if code, text := run("strict", "exec.fine"); code != 2 ||
			!strings.Contains(text, "this machine does not support the strict sandbox: the kernel lacks Landlock") {
			t.Errorf("strict: exit code %d\n%s", code, text)
		}
		if code, text := run("", "exec.fine"); code != 0 ||
			!strings.Contains(text, `(sandbox level "staged"): the kernel lacks Landlock`) ||
			!strings.Contains(text, "1 executed") {
			t.Errorf("no level: exit code %d\n%s", code, text)
		}
		if code, text := run("staged", "exec.fine"); code != 0 || strings.Contains(text, "Landlock") {
			t.Errorf("staged: exit code %d\n%s", code, text)
		}
	}()
	<-done
}

// leveledWorkspace returns what runs a step of a workspace at a level.
func leveledWorkspace(t *testing.T) func(level, step string) (int, string) {
	t.Helper()
	dir, cache, program := t.TempDir(), t.TempDir(), binary(t)
	for name, text := range map[string]string{"pipelines/p.hcl": leveled, "beside.txt": "x"} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(level, step string) (int, string) {
		cmd := exec.Command(program, "run", "p", step)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEXMAGE_CACHE="+cache, "HOME="+dir, "HEXMAGE_SANDBOX="+level)
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			return -1, err.Error()
		}
		return cmd.ProcessState.ExitCode(), string(text)
	}
}

// TestSecretsOfOthers: an action that runs beside one with secrets finds them at strict neither in a file nor in the
// environment of a process; at staged it finds both, so it looks in the right places.
func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	if _, err := sandbox.Open(); err != nil {
		t.Skip(err)
	}
	for level, c := range map[string]struct{ tries, want string }{"strict": {"30", "00\n"}, "staged": {"600", "11\n"}} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			dir, cache, meet := t.TempDir(), t.TempDir(), t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "pipelines"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "pipelines", "p.hcl"),
				[]byte(strings.NewReplacer("MEET", meet, "TRIES", c.tries, "CACHE", cache).Replace(`
variable "token" { sensitive = true }
step "exec" "holder" {
  argv  = ["for i in $(seq TRIES); do test ! -e MEET/done || exit 0; sleep 0.1; done"]
  shell = true
  env   = { TOKEN = var.token }
  secret_file "FILE" { content = var.token }
}
step "exec" "spy" {
  argv = [<<-EOT
    environment=0 file=0
    for i in $(seq TRIES); do
      if grep -qs planted- /proc/[0-9]*/environ; then environment=1; fi
      if find CACHE/v3/tmp -type f 2> /dev/null | xargs grep -qs planted-; then file=1; fi
      if test $environment$file = 11; then break; fi
      sleep 0.1
    done
    echo $environment$file > o
    touch MEET/done || :
  EOT
  ]
  shell = true
  output "o" { file = "o" }
}
output "o" { value = step.exec.spy.outputs.o }
`)), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(binary(t), "run", "p", "-j", "2", "--sandbox", level)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEXMAGE_CACHE="+cache, "HOME="+dir,
				"HEXMAGE_VAR_token=planted-token", "XDG_RUNTIME_DIR=")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "out", "p", "o")); err != nil || string(got) != c.want {
				t.Errorf("another action finds of the secrets, environment and file: %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
