package atomicfile

import "syscall"

// WriteProgram calls write, and prevents forks of this process during the call. The function write must write and close
// an executable file, and must not call WriteProgram. Otherwise a forked child could keep the file open, and the kernel
// would refuse to run the file ("text file busy").
func WriteProgram(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
}
