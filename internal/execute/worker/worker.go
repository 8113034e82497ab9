// Package worker runs commands in processes that are made for that, and ends all that a command started.
//
// A worker is hexmage's own binary. It runs one command at a time and adopts orphans: each of its children is a process
// of the command. When the command has ended, the worker kills its children until none is left. When hexmage has ended,
// however it went, the worker reads the end of a socket, kills its children and ends, too.
//
// Start returns a Worker, and Main is the program of its process. The package knows processes and descriptors; it does
// not know actions, exec roots or the store.
package worker

import (
	"time"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// Tool is the name of the built-in tool that calls Main with the folder that Start was given.
const Tool = "worker"

// grace is how long a canceled command may take to end after SIGTERM, before all its processes are killed.
const grace = 2 * time.Second

// Command is a command to run.
type Command struct {
	Path string   // of the program
	Args []string // with its name
	Env  []string
	Dir  string

	DisableASLR bool // ask the kernel for the same addresses in each run

	Access  *sandbox.Access // nil: the command is not restricted
	Network bool            // a restricted command may use it
	Mounts  []sandbox.Mount
}

// Ended is how a command ended, when all its processes have.
type Ended struct {
	Code int // exit code, 128+n for signal n

	// Memory is the peak of the largest process, in bytes, 0 where that is not known.
	Memory int64

	RandomAddresses string // why addresses were not fixed; "": as they were asked for

	// StreamRefused and DatagramRefused report which sockets the sandbox refused to the command, if NetworkKnown.
	StreamRefused, DatagramRefused, NetworkKnown bool

	Restrict, Start string // why the command could not be restricted, or not be started
	Left            string // why processes of the command did not end
	Lost            bool   // the worker was killed, and the command with it
}
