package atomicfile

import "syscall"

// WriteProgram calls write, which writes a file that will be run as a program, and has it closed when write returns.
// This process starts no other meanwhile: a new process holds all open files until it runs its own program, and the
// kernel runs nothing that anybody has open for writing ("text file busy"). write must not call WriteProgram.
func WriteProgram(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
}
