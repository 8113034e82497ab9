// Package snapshot keeps a plan and what a build of it found out, so that the next one of the same request need not plan, and, if
// nothing changed, costs one stat a file.
//
// A snapshot has the plan, whole; what it was made from; which workspace files the actions read, with the Stamp and Digest of each;
// what each action needs, its key and its outputs; and what was exported. It is read in place, record by record. One that is
// missing, of another version or damaged counts as none, and the pipeline is planned again.
//
// The package knows what is in the file. It does not decide what is up to date, and it does not know the language or the store.
package snapshot

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/stat"
)

// Title is what a snapshot says of the whole build.
type Title struct {
	Pipeline    string
	Description string
	Profile     string
	Always      bool          // some unit runs every time
	Awaiting    []int         // the Instances of which it was found out while building which specs they have
	Exported    digest.Digest // of the file in which it is remembered what stands at the outputs' places
}

// Read is a file or folder that the plan was made from.
type Read struct {
	Path   string        // as stat.Lstats takes it
	Stamp  stat.Stamp    // zero: it was not there
	Young  bool          // the Stamp may not show a change: it is the Digest, or what the Glob found, that tells
	Digest digest.Digest // of a file's content, or of the names in a folder; zero where only the Stamp tells
}

// Glob is a folder that was listed by patterns. What it found can only change when one of Dirs does.
type Glob struct {
	Dir      string // slash path, relative to the workspace or absolute
	Patterns []string
	Found    []string
	Dirs     []int // numbers of Reads
}

// Lookup is something else of the machine that the plan depends on, such as a variable of the environment. The value is
// kept as its Digest only.
type Lookup struct {
	Name  string
	Value digest.Digest
}

// Host is a file or folder of the machine that is an input of units.
type Host struct {
	Path       string // as in action.HostPath
	Globs      []string
	Dir        bool
	Executable bool          // of a file
	Digest     digest.Digest // of the file, or of the folder's root Directory
	Files      []File        // what was looked at: the file, with the target of a symlink; or all in the folder, with the folders
}

// File is one thing that was looked at for a Host.
type File struct {
	Path  string // as stat.Lstats takes it
	Stamp stat.Stamp
	Clean bool // the Stamp will show a change; false for what changed just before it was read
	Other bool // it is not the Host's, but a place where a program would be found instead of it
}

// Instance is one instance of a step.
type Instance struct {
	// Plan is the instance of the plan, without its Specs, which are the Units'. What it waited for is as it was planned, everything else as it was
	// extended.
	Plan  plan.Instance
	After []int // pairs: the first and the last of instances that have to be done before any of its units
	Level int   // length of the longest chain of instances that depend on it

	// What the instance's specs were made from, beside the pipeline: hosts and units in which was looked for what it waited for. If any of it changes,
	// the instance has to be extended again.
	AwaitHosts, AwaitUnits []int
}

// Unit is one action of an instance.
type Unit struct {
	Instance int
	Spec     action.Spec
	Hosts    []int // numbers of the hosts that it reads
	Needs    []int // numbers of the units whose outputs it reads
	Always   bool  // it runs every time
	Key      digest.Digest
	Root     digest.Digest // of its inputs
	Outs     []Out
}

// Out is an output of a unit.
type Out struct {
	Path       string
	Dir        bool
	Executable bool
	Digest     digest.Digest // of the file, or of the folder's root Directory
}

// Output is an output of the pipeline, as it was planned.
type Output struct {
	Plan  plan.Output
	Hosts []int
	Units []int  // whose outputs it is made from
	ID    string // what stands at its place: see build
}

// Check is a check of the pipeline, and what came of it.
type Check struct {
	Plan            plan.Check
	Result, Message string
	Hosts           []int
	Units           []int // whose outputs it depends on
}

// maxFile is how large a snapshot may be, in bytes.
const maxFile = 1 << 30
