package phone

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

// processes starts and reaps the processes of a device. This process is pid 1 on the device, so it inherits every
// orphan and must reap it. It must leave the exit codes of own processes to Wait.
type processes struct {
	mu  sync.Mutex
	own map[int]bool
}

func newProcesses() *processes {
	p := &processes{own: map[int]bool{}}
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	go func() {
		for range died {
			p.reap()
		}
	}()
	return p
}

// Start starts cmd. The caller must then call Wait.
func (p *processes) Start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := cmd.Start()
	if err == nil {
		p.own[cmd.Process.Pid] = true
	}
	return err
}

// idle reports whether all processes of Start have ended.
func (p *processes) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.own) == 0
}

// Wait waits until a process from Start ends.
func (p *processes) Wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.own, cmd.Process.Pid)
	return err
}

// reap reaps every orphan that has ended.
func (p *processes) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pid := range pids() {
		if pid == 1 || p.own[pid] || !isOrphanZombie(pid) {
			continue
		}
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}

// isOrphanZombie reads "PID (NAME) STATE PPID …". A name may contain any character, even a bracket.
func isOrphanZombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	return bytes.HasPrefix(b[bytes.LastIndexByte(b, ')')+1:], []byte(" Z 1 "))
}

// pids returns the processes of the device.
func pids() (all []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
