// Package snapshot keeps what a build found out, so that the next one of the same request can do without planning, and, if
// nothing changed, costs one stat a file.
//
// A snapshot says what the plan was made from, which workspace files the actions read, with the Stamp and Digest of each, which
// actions there were, what each needs, its key and its outputs, and what was exported. It is only ever a shortcut: one that is
// missing, of another version or damaged counts as none, and the pipeline is planned and built the long way.
//
// The package knows what is in the file. It does not decide what is up to date, and it does not know the language or the store.
package snapshot

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
)

// Build is what is kept of a build.
type Build struct {
	Fn        digest.Function
	Title     Title
	Reads     []Read
	Globs     []Glob
	Lookups   []Lookup
	Hosts     []Host
	Instances []Instance // in dependency order
	Units     []Unit     // in dependency order; the units of one instance stand together
	Outputs   []Output   // in the order in which they are shown
	Checks    []Check    // likewise
}

// Title is what a snapshot says of the whole build.
type Title struct {
	Pipeline string
	Profile  string
	Always   bool          // some unit runs every time
	Exported digest.Digest // of the file in which it is remembered what stands at the outputs' places
}

// Read is a file or folder that the plan was made from.
type Read struct {
	Path   string        // as stat.Lstats takes it
	Stamp  stat.Stamp    // zero: it was not there
	Digest digest.Digest // of a file's content; zero for a folder and for what was not there
}

// Glob is a folder that was listed by patterns. What it found can only change when one of Dirs does.
type Glob struct {
	Dir      string // slash path, relative to the workspace or absolute
	Patterns []string
	Found    []string
	Dirs     []int // indices of Reads
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
	At          addrs.Instance
	After       []int // pairs: the first and the last of instances that have to be done before any of its units
	Description string
	Where       string
	Source      []string
	Level       int // length of the longest chain of instances that depend on it
	Retries     int
	Resources   map[string]int
	Cache       string
	Explains    bool // its kind has hints for a failure, which only a plan has
	Outputs     map[string]action.Artifact

	// What the instance's specs were made from, beside the pipeline: hosts and units whose content its Expand or Resolve
	// looked at. If any of it changes, the instance has to be planned again.
	AwaitHosts, AwaitUnits []int
}

// Unit is one action of an instance.
type Unit struct {
	Instance int
	Spec     action.Spec
	Hosts    []int // indices of Build.Hosts that it reads
	Needs    []int // indices of Build.Units whose outputs it reads
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

// Output is an output of the pipeline.
type Output struct {
	Name     string
	Show     string
	Class    action.Class
	Artifact action.Input
	Literal  string
	Hosts    []int
	Units    []int  // whose outputs it is made from
	Values   bool   // Literal is made from the content of outputs
	ID       string // what stands at its place: see build
}

// Check is what came of a check of the pipeline.
type Check struct {
	At, Description, Where, Severity string
	Result, Message                  string
	Hosts                            []int
	Units                            []int // whose outputs it depends on
}

// maxFile is how large a snapshot may be, in bytes.
const maxFile = 1 << 30
