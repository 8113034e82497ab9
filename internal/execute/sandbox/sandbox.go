// Package sandbox blocks a command's access to undeclared files, the network and other processes.
//
// It restricts a thread with Landlock and a system call filter, and drops root privileges. A command that the thread
// starts inherits the restrictions. A supervisor in this process decides about the few system calls that change
// attributes of files or affect other processes. A thread may have a mount namespace with its own shared memory and
// mounted files.
//
// The package knows paths and threads. It does not know actions, exec roots or the store.
package sandbox

import (
	"errors"
	"fmt"

	"github.com/hexmage/hexmage/internal/stat"
)

// Level is the strictness of the sandbox around an action.
type Level uint8

const (
	// Staged gives an action its own environment and a folder that contains only the action's inputs. It does not
	// restrict the command.
	Staged Level = iota
	// Strict is like Staged, but the kernel also denies access to undeclared files.
	Strict
	// Off is like Staged, but a failed command gets no hints about undeclared files.
	Off
)

// String returns the name of the level. ParseLevel accepts this name.
func (l Level) String() string {
	switch l {
	case Strict:
		return "strict"
	case Off:
		return "off"
	}
	return "staged"
}

// ParseLevel returns the level with the given name: "strict", "staged" or "off".
func ParseLevel(name string) (Level, error) {
	for _, l := range []Level{Strict, Staged, Off} {
		if l.String() == name {
			return l, nil
		}
	}
	return Staged, fmt.Errorf("unknown sandbox level %q; use strict, staged or off", name)
}

// Access lists the files that a restricted thread may use in addition to the host's base system. Paths are absolute.
// Files may be missing.
type Access struct {
	Read  []string // files and folders that a command may read and run
	Write []string // folders to which a command has full access

	// Own is the only folder, besides /dev/shm, in which a command may change the mode, owner and times of files.
	// Shared reports whether a file with several hard links also belongs to another action or the cache. The supervisor
	// copies a shared file before the command changes it.
	Own    string
	Shared func(stat.Stamp) bool
}

// Mount shows a file read-only at another path, to one thread and the processes that the thread starts. Programs see a
// regular file with the owner, mode and times of File.
type Mount struct {
	File  string     // absolute
	At    string     // absolute path of an existing regular file, the mount point
	Stamp stat.Stamp // stamp of File
}

// ErrMoved reports that another file replaced the File of a Mount.
var ErrMoved = errors.New("the file was replaced by another file")
