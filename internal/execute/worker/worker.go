// Package worker runs commands in worker processes, and kills processes that a command leaves behind.
//
// A worker process runs hexmage's own binary. It runs one command at a time and adopts orphaned processes, so all
// children of the worker belong to the current command. When the command or hexmage ends, the worker kills all
// children.
//
// Start starts a worker process and returns a Worker. Main is the program that the worker process runs. The package
// knows processes and descriptors; it does not know actions, exec roots or the store.
package worker

import (
	"time"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// Tool is the name of the built-in tool that calls Main. The tool's argument is the parameter dir of Start.
const Tool = "worker"

// grace is the time between SIGTERM and SIGKILL for a canceled command.
const grace = 2 * time.Second

// Command is a command to run.
type Command struct {
	Path string   // path of the program
	Args []string // arguments, including argv[0]
	Env  []string
	Dir  string

	DisableASLR bool // ask the kernel for the same addresses in each run

	Access  *sandbox.Access // nil: the command is not restricted
	Network bool            // a restricted command may use the network
	Mounts  []sandbox.Mount
}

// Ended is the outcome of a command. A worker sends it after all processes of the command have ended.
type Ended struct {
	Code int // exit code, or 128+n after signal n

	// Memory is the peak memory of the largest process in bytes, or 0 if unknown.
	Memory int64

	RandomAddresses string // reason why DisableASLR had no effect, or ""

	// StreamRefused and DatagramRefused report which kinds of network sockets the sandbox refused to create. They are
	// valid only if NetworkKnown is true.
	StreamRefused, DatagramRefused, NetworkKnown bool

	Restrict, Start string // reason why the worker could not restrict or start the command, or ""
	Left            string // reason why processes of the command still run, or ""
	Lost            bool   // the worker process and the command were killed from outside
}
