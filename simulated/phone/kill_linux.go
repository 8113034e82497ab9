package phone

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killPoll is how often programs are looked at that are to be killed.
const killPoll = 20 * time.Millisecond

// killOne kills the AArch64 program with the most memory of those that have run for so long, as a phone that runs out of memory does.
func (d *device) killOne(after time.Duration) {
	seen := map[int]time.Time{}
	for {
		time.Sleep(killPoll)
		victim, most := 0, int64(-1)
		for _, pid := range pids() {
			if !d.isProgram(pid) {
				continue
			}
			if _, ok := seen[pid]; !ok {
				seen[pid] = time.Now()
			}
			if s, ok := readStat(pid); ok && time.Since(seen[pid]) >= after && s.rss > most {
				victim, most = pid, s.rss
			}
		}
		if victim != 0 {
			d.kill(victim)
			return
		}
	}
}

// isProgram reports whether the process is an AArch64 program, which is one that qemu runs.
func (d *device) isProgram(pid int) bool {
	fi, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && os.SameFile(fi, d.aarch64)
}

// kill kills a process and says so in the log, in the words of Android's low memory killer.
func (d *device) kill(pid int) {
	s, _ := readStat(pid)
	name := s.name
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		if args := strings.Split(string(b), "\x00"); len(args) > 1 && d.isProgram(pid) { // the first is qemu
			name = filepath.Base(args[1])
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	d.say("lowmemorykiller", 'I', "Kill '%s' (%d), uid 0, oom_score_adj 0 to free %dkB rss", name, pid, s.rss>>10)
}

// peer returns the process at the other end of a socket.
func peer(c *net.UnixConn) (pid int) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}
