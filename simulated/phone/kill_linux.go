package phone

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// kill kills a process in qemu, and logs that in the words of Android's low memory killer.
func (d *device) kill(pid int) {
	name := "?"
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		if args := strings.Split(string(b), "\x00"); len(args) > 1 { // the first is qemu
			name = filepath.Base(args[1])
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	d.say("lowmemorykiller", 'I', "Kill '%s' (%d), uid 0, oom_score_adj 0", name, pid)
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
