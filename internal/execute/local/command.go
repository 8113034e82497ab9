package local

import (
	"context"
	"os"
	"time"
)

// grace is how long a cancelled command may take to end after it was asked to, before its whole process group is
// killed.
const grace = 2 * time.Second

// command is a process to run.
type command struct {
	path   string   // of the program
	args   []string // with its name
	env    []string
	dir    string
	stdin  *os.File
	stdout func([]byte) // told what comes, in the order it comes; the bytes are valid until it returns
	stderr func([]byte)

	// fixed asks for the same addresses in each run; random, which is set then, says why they are not.
	fixed  bool
	random error

	// number, if not nil, is how the thread that starts it names processes and groups to the kernel.
	number func(int) int

	// memory is set when the command has ended: what the largest of its processes took at its peak, in bytes, 0 where
	// that is not known.
	memory int64

	// left, if not nil, ends what the command left outside of its process group, and tells whether there was
	// anything.
	left func(pgid int) (bool, error)
}

// as is a number in the form in which the command's thread uses it.
func (c *command) as(n int) int {
	if c.number == nil {
		return n
	}
	return c.number(n)
}

// plain is a number as a thread uses it that is not restricted.
func plain(n int) int { return n }

// run starts the command in a process group of its own, waits for it and for nothing it left behind: when it ends, is
// cancelled or times out, the whole group ends. When hexmage itself is killed the command is, too, where the system
// can do that. It returns the exit code, 128+n for signal n.
func (x *Executor) run(ctx context.Context, c *command) (int, error) {
	return start(c, func(pid int) (forget func()) {
		x.mu.Lock()
		x.groups[pid] = true
		if x.killed {
			endGroup(pid, true, c.as)
		}
		x.mu.Unlock()
		stop := context.AfterFunc(ctx, func() {
			x.end(pid, false)
			time.Sleep(grace)
			x.end(pid, true)
		})
		return func() {
			stop()
			x.mu.Lock()
			delete(x.groups, pid)
			x.mu.Unlock()
		}
	})
}

// end ends a group that still runs. Its number is not given to another while it is known here.
func (x *Executor) end(pgid int, atOnce bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.groups[pgid] {
		endGroup(pgid, atOnce, plain)
	}
}

// idle tells whether no command runs.
func (x *Executor) idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.groups) == 0
}

// Kill ends all commands and what they started, at once, and also those that are just starting. It is for a process
// that is about to exit.
func (x *Executor) Kill() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.killed = true
	for pgid := range x.groups {
		endGroup(pgid, true, plain)
	}
}
