package atomicfile

import "syscall"

// WriteProgram calls write, which must write and close an executable file, and prevents forks of this process
// meanwhile. Otherwise a forked child could hold the file open for writing until the child's execve. Then the kernel
// would refuse to run the file ("text file busy"). The function write must not call WriteProgram.
func WriteProgram(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
}
