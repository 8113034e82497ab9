package front

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/bytesize"
)

// A Go program cannot catch that it gets no more memory or threads: its runtime prints what all goroutines did, and ends with exit code 2.
// So where a limit is so low that this may happen, hexmage runs in a child, and the process that was started waits for it and says what was
// short. Elsewhere that would cost some milliseconds of every command for nothing.

// limitedTool is what the child is started as, before the arguments of its parent. Its standard error is descriptor 3, as the
// runtime prints to 2, where the parent looks when the child has ended.
const limitedTool = "limited"

// Limits up to which hexmage runs in a child. It takes some 50 MB and 20 threads for a small pipeline, and the processors' number of
// actions beside; the user's other processes count as threads, too.
const (
	lowMemory  = 1 << 30
	lowThreads = 4096 // RLIMIT_NPROC
	lowPids    = 512  // pids.max
)

// maxFault is how much is looked at of what a runtime prints as it ends.
const maxFault = 1 << 20

// lowLimits tells whether a limit is so low that the command line runs in a child.
func lowLimits() bool { return readLimits() != (limits{}) }

// limits are those low ones that this process has, 0 for none.
type limits struct {
	space, data uint64 // of this process, in bytes
	memory      uint64 // of its control group, in bytes
	threads     uint64 // of its user
	pids        uint64 // of its control group
	killed      string // file that counts the group's processes that were killed for want of memory
}

func readLimits() limits {
	var l limits
	l.space, l.data = softLimit(unix.RLIMIT_AS, math.MaxUint64), softLimit(unix.RLIMIT_DATA, math.MaxUint64)
	l.threads = softLimit(unix.RLIMIT_NPROC, lowThreads)
	l.groups(lowMemory)
	return l
}

// groups looks at the control groups of this process, and at limits of memory up to most.
func (l *limits) groups(most uint64) {
	for line := range strings.Lines(kernelFile("/proc/self/cgroup")) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ":")
		kind, at, _ := strings.Cut(line, ":")
		switch kind {
		case "": // version 2
			l.group("/sys/fs/cgroup", at, "memory.max", "memory.events", "pids.max", most)
		case "memory":
			l.group("/sys/fs/cgroup/memory", at, "memory.limit_in_bytes", "memory.oom_control", "", most)
		case "pids":
			l.group("/sys/fs/cgroup/pids", at, "", "", "pids.max", most)
		}
	}
}

// memory is how many bytes there are for this process and what it starts: this machine's, or its control group's if they are less. 0 where that is not known.
func memory() int64 {
	var total uint64
	for line := range strings.Lines(kernelFile("/proc/meminfo")) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kb, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
			total = kb << 10
		}
	}
	var l limits
	if l.groups(math.MaxInt64); total == 0 || l.memory > 0 && l.memory < total {
		total = min(l.memory, math.MaxInt64)
	}
	return int64(total)
}

// softLimit is one up to most, else 0.
func softLimit(which int, most uint64) uint64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(which, &r); err != nil || r.Cur == unix.RLIM_INFINITY || r.Cur > most {
		return 0
	}
	return r.Cur
}

// group looks at a control group and those around it, in which the same holds.
func (l *limits) group(root, at, memory, killed, pids string, most uint64) {
	for at = path.Clean("/" + at); ; at = path.Dir(at) {
		dir := root + at
		if n := groupLimit(dir, memory, most); n != 0 && (l.memory == 0 || n < l.memory) {
			l.memory, l.killed = n, path.Join(dir, killed)
		}
		if n := groupLimit(dir, pids, lowPids); n != 0 && (l.pids == 0 || n < l.pids) {
			l.pids = n
		}
		if at == "/" {
			return
		}
	}
}

// groupLimit is one up to most, else 0.
func groupLimit(dir, name string, most uint64) uint64 {
	if name == "" {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(kernelFile(dir+"/"+name)), 10, 64)
	if err != nil || n > most { // there is none, or "max"
		return 0
	}
	return n
}

// kernelFile is the text of a small file that the kernel makes, "" of one that cannot be read. Every command reads some: package os would ask for each whether
// it is one to be waited for, in six more system calls.
func kernelFile(name string) string {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	b := make([]byte, 0, 4096)
	for {
		b = slices.Grow(b, 512)
		n, err := unix.Read(fd, b[len(b):cap(b)])
		if err != nil {
			return ""
		}
		if b = b[:len(b)+n]; n == 0 {
			return string(b)
		}
	}
}

// kills is how many processes of the control group were killed for want of memory.
func (l *limits) kills() uint64 {
	if l.killed == "" {
		return 0
	}
	for line := range strings.Lines(kernelFile(l.killed)) {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}

// heap is about how far the heap may grow before garbage has to be collected, whatever that costs.
func (l *limits) heap() int64 {
	const least = 32 << 20
	heap := uint64(math.MaxInt64)
	if l.space != 0 {
		heap = min(heap, l.space-min(l.space, addresses()))
	}
	if l.data != 0 {
		heap = min(heap, l.data)
	}
	if l.memory != 0 {
		heap = min(heap, l.memory)
	}
	return max(least, int64(heap/2))
}

// addresses are the bytes of addresses that this process has taken. Go's runtime takes half a gigabyte or one as it begins, most of
// which never becomes memory.
func addresses() uint64 {
	first, _, _ := strings.Cut(kernelFile("/proc/self/statm"), " ")
	pages, _ := strconv.ParseUint(first, 10, 64)
	return pages * uint64(os.Getpagesize())
}

// Limited runs the command line in a child where a limit is low, and returns its exit code.
func Limited(args []string, env *Env) (code int, ok bool) {
	if env.Stderr != os.Stderr {
		return 0, false
	}
	l := readLimits()
	if (l == limits{}) {
		return 0, false
	}
	before := l.kills()
	runtime.LockOSThread() // the child ends with the thread that started it
	fault, err := unix.MemfdCreate("stderr", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, false
	}
	said := os.NewFile(uintptr(fault), "stderr")
	defer said.Close()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	child, err := os.StartProcess("/proc/self/exe", append([]string{args[0], "tool", limitedTool}, args[1:]...), &os.ProcAttr{
		Env: env.Vars, Files: []*os.File{os.Stdin, os.Stdout, said, os.Stderr}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 0, false // what is short will be seen
	}
	go func() {
		for s := range signals {
			if s != syscall.SIGQUIT {
				s = AskedToEnd
			}
			_ = child.Signal(s)
		}
	}()
	state, err := child.Wait()
	if err != nil {
		fmt.Fprintln(env.Stderr, "hexmage:", err)
		return ExitEngine, true
	}
	text, _ := io.ReadAll(io.NewSectionReader(said, 0, maxFault))
	status, _ := state.Sys().(syscall.WaitStatus)
	if why := l.fault(text, status, l.kills() > before); why != "" {
		if env.Terminal {
			fmt.Fprintln(env.Stderr) // after what was being shown
		}
		fmt.Fprintln(env.Stderr, "hexmage:", why)
		return ExitEngine, true
	}
	_, _ = env.Stderr.Write(text)
	switch {
	case status.Signaled() && status.Signal() == AskedToEnd: // before it listened
		return ExitInterrupted, true
	case status.Signaled():
		return 128 + int(status.Signal()), true
	}
	return status.ExitStatus(), true
}

// AskedToEnd is the signal that a parent sends on for any of those that end a command: the terminal sends its own to the child, too.
const AskedToEnd = syscall.SIGUSR1

// InChild makes of a child's arguments and environment those of its parent.
func InChild(args []string, env *Env) ([]string, bool) {
	if len(args) < 3 || args[1] != "tool" || args[2] != limitedTool {
		return args, false
	}
	env.Stderr = os.NewFile(3, "stderr")
	if env.Terminal = term.IsTerminal(3); env.Terminal {
		env.Width, _, _ = term.GetSize(3)
	}
	unix.CloseOnExec(3)
	l := readLimits()
	env.Heap = l.heap()
	return append([]string{args[0]}, args[3:]...), true
}

// fault says what was short when the child ended, "" if that was not why.
func (l *limits) fault(text []byte, status syscall.WaitStatus, oom bool) string {
	has := func(any ...string) bool {
		for _, s := range any {
			if bytes.Contains(text, []byte(s)) {
				return true
			}
		}
		return false
	}
	died := status.Signaled() || status.ExitStatus() == 2 // as Go's runtime ends
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL && oom:
		return l.noMemory()
	case !died || len(text) == 0:
		return ""
	case has("stack overflow", "stack exceeds"):
		return "its stack is full: something is nested deeper than hexmage can follow. This is a defect of hexmage: please report what you ran"
	case has("failed to create new OS thread", "newosproc", "pthread_create failed"):
		if has("errno=12") || l.threads == 0 && l.pids == 0 {
			return l.noMemory()
		}
		return l.noThreads()
	case has("out of memory", "cannot allocate memory", "failed to reserve", "cannot map pages", "runtime: cannot", "Cannot allocate memory"):
		return l.noMemory()
	}
	return ""
}

func (l *limits) noMemory() string {
	var have []string
	if l.space != 0 {
		have = append(have, fmt.Sprintf("%s of addresses (ulimit -v; with less than 2 GB little is left of what the runtime reserves)", bytesize.Decimal(int64(l.space))))
	}
	if l.data != 0 {
		have = append(have, fmt.Sprintf("%s of data (ulimit -d)", bytesize.Decimal(int64(l.data))))
	}
	if l.memory != 0 {
		have = append(have, fmt.Sprintf("%s with all processes of its control group (%s)", bytesize.Decimal(int64(l.memory)), ansi.Visible(path.Dir(l.killed), false)))
	}
	if len(have) == 0 {
		return "out of memory: end other programs, or run fewer actions at once with -j"
	}
	return "out of memory: it may have " + strings.Join(have, ", and ") + ". Allow more, or run fewer actions at once with -j"
}

func (l *limits) noThreads() string {
	var have []string
	if l.threads != 0 {
		have = append(have, fmt.Sprintf("this user's processes may have %d (ulimit -u)", l.threads))
	}
	if l.pids != 0 {
		have = append(have, fmt.Sprintf("this control group's processes may have %d (pids.max)", l.pids))
	}
	return "no more threads: " + strings.Join(have, ", and ") + ". Allow more, end other programs, or run fewer actions at once with -j"
}
