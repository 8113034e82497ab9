// Package sandbox keeps a process from what it was not given: files, the network, other processes.
//
// It uses what the Linux kernel lets any user do to himself: Landlock for files, a filter of system calls for the
// network and for what Landlock does not know, and giving up root's privileges. All three act on the calling thread
// and on what that thread starts, so the caller restricts a thread and starts the command from it; no other program
// is put in between, which keeps it cheap. Calls that change mode, owner or times of files, or other processes, are
// rare: the kernel has them wait until a supervisor in this process has looked at them, and done what they ask for or
// refused it. A thread can also be given files at other places than where they are, in a mount namespace of its own.
//
// The package knows paths and threads. It does not know actions, exec roots or the store.
package sandbox

import (
	"errors"
	"fmt"

	"github.com/hexmage/hexmage/internal/stat"
)

// Level is how far an action is kept from what it does not declare.
type Level uint8

const (
	// Staged gives an action a folder with its inputs and an environment of its own, and relies on it to stay there.
	Staged Level = iota
	// Strict has the kernel refuse everything else, too.
	Strict
	// Off is Staged, for commands that must see the machine as it is: nothing is looked for when one fails.
	Off
)

// String returns the level's name, which ParseLevel reads.
func (l Level) String() string {
	switch l {
	case Strict:
		return "strict"
	case Off:
		return "off"
	}
	return "staged"
}

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) {
	for _, l := range []Level{Strict, Staged, Off} {
		if l.String() == name {
			return l, nil
		}
	}
	return Staged, fmt.Errorf("no sandbox level %q: use strict, staged or off", name)
}

// Access is what a restricted thread may use beside the host's base system. Paths are absolute. Those of missing files
// have no effect.
type Access struct {
	Read  []string // files and folders to read and run
	Write []string // folders in which everything may be done

	// Own is a folder. What is below it may get another mode, owner and times, as far as modes let its
	// owner, and nothing else may but files in /dev/shm. Of a file with several names Shared says whether others have
	// it too: it is copied first.
	Own    string
	Shared func(stat.Stamp) bool
}

// Mount is a file that a thread, and what it starts, sees at another place, and cannot change there: nobody can,
// whatever his powers and the file's mode. To programs it is a file like any other, with the owner, mode and times of
// File.
type Mount struct {
	File  string     // absolute
	At    string     // absolute, something that is neither a folder nor a symlink; a thread without the mount sees that
	Stamp stat.Stamp // of File
}

// ErrMoved says that the File of a Mount has not the Stamp.
var ErrMoved = errors.New("it is another file than before")
