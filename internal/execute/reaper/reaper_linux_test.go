package reaper

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary is also the reaper, and a process that has one.
func TestMain(m *testing.M) {
	if len(os.Args) < 4 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "reap":
		Main(os.Stdin, os.Args[3])
	case "work":
		os.Exit(work(os.Args[2], os.Args[3]))
	default:
		os.Exit(m.Run())
	}
}

// commands are what a parent leaves behind: each sleeps, and is told from all other processes by for how long.
// HEXMAGE_ROOT is set.
var commands = []string{
	"sleep $1 &",
	"setsid sleep $1 &",
	"env -i sleep $1 &",
	"env -i setsid sleep $1 &",
	"(env -i setsid sh -c 'cd /; exec sleep $1 <&- >&- 2>&-' sh $1 &)",
	"(env -i setsid sh -c 'trap \"\" HUP INT TERM QUIT; while :; do sleep $1; done' sh $1 &)",
	"exec sleep $1",
}

// work starts a reaper, and a command with each of the children.
func work(shell, dir string) int {
	self, _ := os.Executable()
	r, err := begin(shell, []string{self, "reap", "x"}, dir, nil)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for i, c := range commands {
		cmd := exec.Command("sh", "-c", c, "sh", fmt.Sprintf("%s.%d", filepath.Base(dir), i))
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HEXMAGE_ROOT=" + dir + "/exec-1/root"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println(r.Pid())
	time.Sleep(time.Hour)
	return 0
}

// number is a length of sleep that no other process has.
func number() string { return strconv.Itoa(100_000 + int(time.Now().UnixNano()%900_000_000)) }

// sleeping are the processes, running ones, that have the text among their arguments.
func sleeping(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		args := strings.ReplaceAll(string(b), "\x00", " ")
		if strings.Contains(args, text+".") && !strings.Contains(args, " work ") && !strings.Contains(args, " reap ") {
			found = append(found, filepath.Base(filepath.Dir(f))+": "+args)
		}
	}
	return found
}

func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v: not %s", within, what)
		}
	}
}

// Whatever commands have started, in sessions of their own, without their environment, with no file open, without a
// parent that lives, ends soon after the process that ran them was killed, as root and as a user, with a shell on the
// machine and without.
func TestKilled(t *testing.T) {
	users := []uint32{uint32(os.Getuid())}
	if os.Getuid() == 0 {
		users = append(users, 65534)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range users {
		for _, shell := range []string{shell, "/nowhere/sh"} {
			t.Run(fmt.Sprintf("user %d, shell %s", user, shell), func(t *testing.T) {
				base, err := os.MkdirTemp("", "reaper-") // where other users may look
				if err == nil {
					err = os.Chmod(base, 0o755)
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(base) })
				program := filepath.Join(base, "program")
				if err := copyProgram(self, program); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(base, number())
				cmd := exec.Command(program, "work", shell, dir)
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user},
					Setpgid: true}
				if user == uint32(os.Getuid()) {
					cmd.SysProcAttr.Credential = nil
				}
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				line, err := bufio.NewReader(out).ReadString('\n')
				pid, perr := strconv.Atoi(strings.TrimSpace(line))
				if err != nil || perr != nil {
					t.Fatalf("%q: %v", line, err)
				}
				mark := filepath.Base(dir)
				eventually(t, 10*time.Second,
					"all started", func() bool { return len(sleeping(mark)) >= len(commands) })
				// A child of somebody else, and one that is to stay.
				other := exec.Command("sh", "-c", "sleep 1000; :", mark+".other")
				other.Env = []string{"HEXMAGE_ROOT=" + dir + "-2/exec-1/root"}
				other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				if err := other.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = syscall.Kill(-other.Process.Pid, syscall.SIGKILL); _ = other.Wait() })
				if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil { // the group, too
					t.Fatal(err)
				}
				killed := time.Now()
				_ = cmd.Wait()
				eventually(t, 5*time.Second,
					"all gone", func() bool {
						left := sleeping(mark)
						return len(left) == 1 &&
							strings.Contains(left[0], ".other")
					})
				eventually(t, 5*time.Second, "the reaper gone", func() bool { return !runs(pid) })
				t.Logf("all gone after %v", time.Since(killed))
			})
		}
	}
}

func copyProgram(from, to string) error {
	b, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, b, 0o755))
}

// runs tells whether the process is there, and not only to be waited for.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// What the reaper holds for this process stays locked until the last of the processes is gone.
func TestLocksStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	path := filepath.Join(t.TempDir(), "lock")
	lock := func() (*os.File, bool) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Len: 1})
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			t.Fatal(err)
		}
		return f, err == nil
	}
	held, _ := lock()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, err := New([]string{self, "reap", "x"}, dir, held)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "1000") // has the mark
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	held.Close()
	if f, free := lock(); free {
		t.Error("nobody has the lock any more, and the process runs")
	} else {
		f.Close()
	}
	if err := unix.Setrlimit(unix.RLIMIT_RTTIME, &r.limit); err != nil { // this process is not to be ended
		t.Fatal(err)
	}
	unix.Close(r.alive) // as if it had ended
	eventually(t, 10*time.Second, "the lock is free", func() bool {
		f, free := lock()
		f.Close()
		return free
	})
	if runs(cmd.Process.Pid) {
		t.Error("the lock is free, and the process runs")
	}
	r.Wait()
}

// What is to outlive hexmage does; without a mark, and with that of another folder, nothing ends.
// TestEndSparesReapers: whoever else ends what a killed process has left leaves its reaper, which holds the locks
// until all of that is gone.
func TestEndSparesReapers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{shell, "/no/shell"} {
		dir := t.TempDir()
		r, err := begin(shell, []string{self, "reap", "x"}, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		left := exec.Command("sleep", number())
		if err := left.Start(); err != nil {
			t.Fatal(err)
		}
		End(dir)
		if state := left.Wait(); state == nil || !strings.Contains(state.Error(), "killed") {
			t.Errorf("%s: what was left ended with %v", shell, state)
		}
		if !runs(r.Pid()) {
			t.Errorf("%s: the reaper was ended, too", shell)
		}
		r.Stop()
		r.Wait()
	}
}

func TestEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start := func(env ...string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command("sleep", "1000")
		cmd.Env = env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	unmarked := start()
	root := start("HEXMAGE_ROOT="+dir+"/exec-1/root", Outlives) // an action does not decide that
	beside := start("HEXMAGE_ROOT=" + dir + "-other/exec-1/root")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, err := New([]string{self, "reap", "x"}, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	marked := start("HEXMAGE=1")
	spared := start(Outlives)
	End(dir)
	for cmd, want := range map[*exec.Cmd]bool{unmarked: true, root: false, beside: true, marked: false, spared: true} {
		if runs(cmd.Process.Pid) != want {
			t.Errorf("a process with the environment %q runs: %v", cmd.Env, !want)
		}
	}
	r.Stop()
	r.Wait()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &limit); err != nil || limit != r.limit || runs(r.Pid()) {
		t.Errorf("the reaper has left its mark %+v, or itself: %v", limit, err)
	}
	if _, err := begin("/nowhere/sh", []string{"/nowhere/hexmage"}, dir, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a reaper that cannot be started: %v", err)
	}
}

func TestMarks(t *testing.T) {
	seen := map[uint64]string{}
	for i := range 1000 {
		dir := fmt.Sprintf("/cache/tmp/run-%d-%d", i, i)
		m := mark(dir)
		if m < 1<<62 || m >= 1<<63 || seen[m] != "" || m != mark(dir+"/") {
			t.Fatalf("%s: %d, %q", dir, m, seen[m])
		}
		seen[m] = dir
	}
}
