package reaper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Reaper is a process that waits for the end of this one.
type Reaper struct {
	pid   int
	alive int         // the end of a pipe of which the reaper has the other, and waits for its end
	limit unix.Rlimit // this process's own, without the mark
}

// New starts a reaper for commands whose exec roots are below the folder: command is how it is started, and has to
// lead to Main with the folder as the last of its arguments. What this process starts from now on has the reaper's
// mark. The reaper has the file open, if it is not nil, until it has done its work: so locks of it outlive this
// process as long as what they stand for.
func New(command []string, dir string, holds *os.File) (*Reaper, error) {
	return begin(shell, command, dir, holds)
}

func begin(shell string, command []string, dir string, holds *os.File) (*Reaper, error) {
	r := &Reaper{}
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &r.limit); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	// Without the mark: another hexmage that ends what a killed one left would end the reaper first, and with it the
	// locks that it holds until all is gone.
	if err := r.start(shell, append(command[:len(command):len(command)], dir), holds); err != nil {
		return nil, fmt.Errorf("start the reaper: %w", err)
	}
	marked := r.limit
	if marked.Cur = mark(dir); marked.Cur <= marked.Max { // else there is a limit, and the environment has to do
		if err := unix.Setrlimit(unix.RLIMIT_RTTIME, &marked); err != nil {
			r.Stop()
			r.Wait()
			return nil, fmt.Errorf("start the reaper: %w", err)
		}
	}
	return r, nil
}

// shell and wait stand in for the reaper until there is something to do: a shell starts in a tenth of the time, of
// which a build that does little would notice the rest.
const (
	shell = "/bin/sh"
	wait  = `trap '' HUP INT QUIT TERM; while read -r line; do :; done; exec "$@"`
)

// start does without package os, which would first find out at some cost what this system can do.
func (r *Reaper) start(shell string, command []string, holds *os.File) error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(null)
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(ends[0])
	out := uintptr(null)
	if holds != nil { // a shell need not pass other descriptors on; neither prints anything
		out = holds.Fd()
	}
	attr := &syscall.ProcAttr{
		Dir: "/", Files: []uintptr{uintptr(ends[0]), out, uintptr(null)},
		Env: []string{"GOMAXPROCS=1"},           // it has little to do
		Sys: &syscall.SysProcAttr{Setsid: true}, // signals for this process and its group are not for it
	}
	for _, argv := range [][]string{append([]string{shell, "-c", wait, "reaper"}, command...), command} {
		if r.pid, err = syscall.ForkExec(argv[0], argv, attr); !errors.Is(err, fs.ErrNotExist) {
			break // else this machine has no shell
		}
	}
	if r.alive = ends[1]; err != nil {
		unix.Close(r.alive)
		err = fmt.Errorf("fork: %w", err)
	}
	if errors.Is(err, unix.EAGAIN) {
		err = fmt.Errorf("%w: this user may have no more processes (ulimit -u)", err)
	}
	return err
}

// Pid is the reaper's process id: of a child that is none of the actions'.
func (r *Reaper) Pid() int { return r.pid }

// Stop ends the reaper, when what it would have ended has ended. Wait is to be called after it.
func (r *Reaper) Stop() {
	_ = unix.Kill(r.pid, unix.SIGKILL) // rather than tell one that has not quite started
	unix.Close(r.alive)
	_ = unix.Setrlimit(unix.RLIMIT_RTTIME, &r.limit)
}

// Wait returns when the reaper is gone.
func (r *Reaper) Wait() {
	for {
		if _, err := unix.Wait4(r.pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Main is the reaper: it waits for the end of stdin, and ends what is left of commands whose exec roots were below
// the folder.
func Main(stdin io.Reader, dir string) {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT) // it ends when its work is done
	_ = os.WriteFile("/proc/self/comm", []byte("reaper"), 0)            // so that `killall hexmage` leaves it that
	_, _ = io.Copy(io.Discard, stdin)
	End(dir)
}

// patience is for how long processes are looked for that start others faster than they are found.
const patience = 10 * time.Second

// End ends the processes that are left of commands whose exec roots were below the folders. Nobody may run commands
// there.
func End(dirs ...string) {
	marks := map[string]bool{}
	for i, dir := range dirs {
		dirs[i] = filepath.Clean(dir)
		marks[strconv.FormatUint(mark(dir), 10)] = true
	}
	for clean, until := 0, time.Now().Add(patience); clean < 2 && time.Now().Before(until); clean++ {
		if clean > 0 {
			time.Sleep(5 * time.Millisecond) // for what was just being started
		}
		for _, pid := range processes() {
			if marked(pid, dirs, marks) && end(pid, func() bool { return marked(pid, dirs, marks) }) {
				clean = -1
			}
		}
	}
}

// end kills the process if it still is what it was taken for: its number may be another's by now.
func end(pid int, still func() bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return errors.Is(err, unix.ENOSYS) && unix.Kill(pid, unix.SIGKILL) == nil
	}
	defer unix.Close(fd)
	return still() && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// marked tells whether the process has one of the marks, and runs.
func marked(pid int, dirs []string, marks map[string]bool) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	env, _ := os.ReadFile(proc + "/environ")
	env = append([]byte{0}, env...)
	found := false
	for _, dir := range dirs {
		found = found || bytes.Contains(env, []byte("\x00HEXMAGE_ROOT="+dir+"/"))
	}
	if !found && (!marks[limit(proc)] || bytes.Contains(env, []byte("\x00"+Outlives+"\x00"))) {
		return false
	}
	stat, err := os.ReadFile(proc + "/stat")
	i := bytes.LastIndex(stat, []byte(") ")) // its name may have one, too
	if err != nil || i < 0 || i+2 == len(stat) {
		return false
	}
	if state := stat[i+2]; state != 'Z' && state != 'X' {
		return true
	}
	threads, _ := os.ReadDir(proc + "/task") // the first may have ended, and others not
	return len(threads) > 1
}

// limit is the process's limit on time without sleep, in decimal, or "".
func limit(proc string) string {
	b, err := os.ReadFile(proc + "/limits")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "\nMax realtime timeout ")
	soft, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	return soft
}

// processes are all that this process sees, but for itself.
func processes() []int {
	f, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	pids := make([]int, 0, len(names))
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
