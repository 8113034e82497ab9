// Package reaper ends the processes that actions started when the hexmage that runs them is killed.
//
// The kernel ends a command with its parent, but not what the command has started in turn: a shell's background
// children, daemons. So a small process of our own waits beside hexmage, in a session of its own, for the other end
// of a pipe to be closed, as happens when hexmage is gone, however it went, and then ends what is left. A hexmage
// that is done ends it before. That costs actions nothing: it stands in nobody's way.
//
// It knows the processes by two marks that children have of their parents. One is in the environment: HEXMAGE_ROOT is
// below the folder of this hexmage's exec roots. The other is a limit on time without sleep for real-time processes,
// of some hundred thousand years, which is another for each folder: it limits nothing, no program changes it, and one
// that throws its environment away, leaves its group and session, closes its files and loses its parents still has
// it.
//
// New is the way in, and Main for the reaper itself. The package knows processes and a folder; it does not know
// actions.
package reaper

import (
	"hash/fnv"
	"path/filepath"
)

// Outlives is a variable, NAME=value, that spares a process and what it starts: one that is to be there after
// hexmage.
const Outlives = "HEXMAGE_OUTLIVES=1"

// mark is the limit that stands for a folder: too long to matter, and too short to be no limit.
func mark(dir string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(filepath.Clean(dir)))
	return 1<<62 | h.Sum64()>>2
}
