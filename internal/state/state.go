// Package state keeps a state file for each request. The state file lists the inputs that the last run read, and the
// outputs that it wrote.
//
// While the state file is valid, running the request again is a no-op, which costs one lstat per path. The package does
// not know plans, actions or digests of content.
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

// File is the content of a state file.
type File struct {
	Planning
	Boot    string                // boot ID of the machine that wrote the file; a reboot invalidates the file
	Inputs  []Seen                // files and folders that actions read
	Outputs []Output              // content of the output folder
	Checks  []event.CheckFinished // results of the pipeline's checks
	Always  bool                  // an action runs every time or has side effects: the file is never valid
	Build   event.BuildStarted    // pipeline, profile and number of actions
}

// Planning contains all inputs that planning read.
type Planning struct {
	Workspace string            // base of relative paths
	Program   string            // identity of hexmage, including kinds and the shipped catalog
	CPULevel  string            // level of the processor, which is part of actions
	Variables map[string]string // environment variables, with a hash of each value
	Reads     []Seen            // files and folders
	Globs     []Glob            // folders that fileset() listed
}

// Seen is a path with the Stamp that the file had when hexmage read it. The zero Stamp means that the path did not
// exist.
type Seen struct {
	Path  string
	Stamp stat.Stamp
	Racy  bool // changed just before reading, so that the Stamp may not show the next change
}

// See returns a Seen for a path with the Stamp s. The time in the parameter at must not be later than the time when
// hexmage read the path.
func See(path string, s stat.Stamp, at time.Time) Seen {
	return Seen{path, s, s.Exists() && s.Racy(at)}
}

// Glob is a folder, with patterns and the matching paths in the folder.
type Glob struct {
	Dir      string
	Patterns []string
	Found    []string
	Dirs     []Seen // folders that were listed
}

// Output is an output of the pipeline that hexmage wrote to the output folder.
type Output struct {
	event.OutputReady
	ID    string // identifies the content; equal IDs mean equal outputs
	Files []Seen // absolute paths: the file, or the folder and everything in it
}

// kind is that of state files. The names of requests and the paths in them belong to the user alone.
func kind() statefile.Kind { return statefile.Kind{Name: "request", Version: 2, Max: 1 << 30} }

// Read reads the state file at path. If the file is missing, the error is fs.ErrNotExist. After any error, hexmage must
// plan the request again.
func Read(path string) (*File, error) {
	f := &File{}
	if err := statefile.Read(path, kind(), f); err != nil {
		return nil, err
	}
	return f, nil
}

// Write replaces the state file at path. If a path in f is racy, the next run plans again, and finds all results in the
// cache.
func (f *File) Write(path string) error { return statefile.Write(path, kind(), f) }

// Machine provides the current state of the inputs of planning.
type Machine struct {
	Program  string
	CPULevel string
	Variable func(name string) string                                              // hash of the value
	Glob     func(dir string, patterns []string) (found, dirs []string, err error) // matches of fileset()
}

// ErrChanged means that something has changed since the last run, so hexmage must plan again.
var ErrChanged = errors.New("changed since the last run")

// Holds returns nil if the inputs of planning, the inputs of actions and the outputs are unchanged since the last run.
// Otherwise the error names the first difference.
func (f *File) Holds(m Machine) error {
	if f.Boot != atomicfile.Boot() {
		return fmt.Errorf("the machine restarted: %w", ErrChanged)
	}
	if f.Always {
		return fmt.Errorf("a step runs every time: %w", ErrChanged)
	}
	if err := f.Planning.Holds(m); err != nil {
		return err
	}
	if err := same(f.Workspace, f.Inputs); err != nil {
		return err
	}
	return f.OutputsHold()
}

// Holds returns nil if all files, environment variables and folders that planning reads are unchanged since the last
// run.
func (p *Planning) Holds(m Machine) error {
	switch {
	case p.Program != m.Program:
		return fmt.Errorf("hexmage itself: %w", ErrChanged)
	case p.CPULevel != m.CPULevel:
		return fmt.Errorf("the CPU level: %w", ErrChanged)
	}
	for name, was := range p.Variables {
		if m.Variable(name) != was {
			return fmt.Errorf("%s: %w", name, ErrChanged)
		}
	}
	for _, g := range p.Globs {
		if same(p.Workspace, g.Dirs) == nil {
			continue
		}
		found, dirs, err := m.Glob(g.Dir, g.Patterns)
		if err != nil || !slices.Equal(found, g.Found) ||
			!slices.EqualFunc(dirs, g.Dirs, func(dir string, s Seen) bool { return dir == s.Path }) {
			return fmt.Errorf("the files in %s: %w", g.Dir, ErrChanged)
		}
	}
	return same(p.Workspace, p.Reads)
}

// OutputsHold returns nil if every output is unchanged since the last run.
func (f *File) OutputsHold() error {
	for _, o := range f.Outputs {
		if err := o.Holds(); err != nil {
			return err
		}
	}
	return nil
}

// Output returns the output with the given name. If the last run did not write the output, it returns nil. It also
// returns nil after a reboot, because the system may have lost the content.
func (f *File) Output(name string) *Output {
	if f == nil || f.Boot != atomicfile.Boot() {
		return nil
	}
	for i := range f.Outputs {
		if f.Outputs[i].Name == name {
			return &f.Outputs[i]
		}
	}
	return nil
}

// Holds returns nil if the output is unchanged since the last run.
func (o *Output) Holds() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%s: %w", o.Path, ErrChanged)
	}
	return same("", o.Files)
}

// same compares the stamps of paths with those that were seen.
func same(root string, seen []Seen) error {
	paths := make([]string, len(seen))
	for i, s := range seen {
		paths[i] = s.Path
	}
	now, err := stat.Lstats(root, paths, 0)
	if err != nil {
		return err
	}
	for i, s := range seen {
		if s.Racy || s.Stamp != now[i] {
			return fmt.Errorf("%s: %w", s.Path, ErrChanged)
		}
	}
	return nil
}

// SeeTree returns the Seen of a file, or of a folder and everything in it. The path must be absolute. This process must
// have just written the files. SeeTree marks no file as racy, because it expects no change before the run ends.
func SeeTree(path string) ([]Seen, error) {
	var seen []Seen
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(p)
		if err == nil {
			seen = append(seen, Seen{Path: p, Stamp: stat.Of(info)})
		}
		return err
	})
	return seen, err
}
