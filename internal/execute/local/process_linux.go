package local

import "syscall"

// processAttributes puts a command into a process group of its own and has the kernel kill it when hexmage dies, however
// that happens: what nobody waits for would only take time and memory from the next run.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
