// Package state keeps one file for each request: what the last run of the request looked at, and what it left.
//
// While everything in the file holds, the request has nothing to do. Reading the file and comparing it costs one
// lstat for each path, and opens neither the language nor the store. The package does not know plans, actions or
// digests of content.
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

// File is the content of a state file.
type File struct {
	Planning
	Boot    string                // boot id of the machine that wrote the file; after a reboot the file does not hold
	Inputs  []Seen                // files and folders that actions read
	Outputs []Output              // what stands in the folder of outputs
	Checks  []event.CheckFinished // results of the pipeline's checks
	Always  bool                  // an action runs every time or has side effects: the file never holds
	Build   event.BuildStarted    // pipeline, profile and number of actions
}

// Planning is everything that a plan was made from.
type Planning struct {
	Workspace string            // relative paths start here
	Program   string            // identity of hexmage: kinds and the shipped catalog are part of it
	CPULevel  string            // level of the processor, which a plan has in actions
	Variables map[string]string // of the environment: hash of each value
	Reads     []Seen            // files and folders
	Globs     []Glob            // folders that fileset() listed
}

// Seen is a path that was looked at. The zero Stamp says that nothing was there.
type Seen struct {
	Path  string
	Stamp stat.Stamp
	Racy  bool `json:",omitempty"` // changed just before it was read, so that the Stamp may not show the next change
}

// See returns the Seen of a path that was read at or after the moment at.
func See(path string, s stat.Stamp, at time.Time) Seen {
	return Seen{path, s, s.Exists() && s.Racy(at)}
}

// Glob is a folder with what patterns found in it.
type Glob struct {
	Dir      string
	Patterns []string
	Found    []string
	Dirs     []Seen // folders that were listed
}

// Output is an output of the pipeline in the folder of outputs.
type Output struct {
	event.OutputReady
	ID    string // names the content; equal IDs are equal outputs
	Files []Seen // absolute paths: the file, or the folder and everything in it
}

// kind is that of state files. The names of requests and the paths in them belong to the user alone.
func kind() statefile.Kind { return statefile.Kind{Name: "request", Version: 1, Max: 1 << 30} }

// Read reads the file at path. The error is fs.ErrNotExist when there is none. After any error, the run plans.
func Read(path string) (*File, error) {
	f := &File{}
	if err := statefile.Read(path, kind(), f); err != nil {
		return nil, err
	}
	return f, nil
}

// Write replaces the file at path. A path that is racy stays so: the next run plans, and finds everything cached.
func (f *File) Write(path string) error { return statefile.Write(path, kind(), f) }

// Machine answers what a plan was made from, as it is now.
type Machine struct {
	Program  string
	CPULevel string
	Variable func(name string) string                                              // hash of the value
	Glob     func(dir string, patterns []string) (found, dirs []string, err error) // what fileset() finds
}

// ErrChanged says that something in the file no longer holds. It is no failure.
var ErrChanged = errors.New("changed since the last run")

// Holds returns nil while a run of the same request would plan the same, read the same and leave the same. Else the
// error names the first difference.
func (f *File) Holds(m Machine) error {
	if f.Boot != Boot() {
		return fmt.Errorf("the machine was started anew: %w", ErrChanged)
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

// Holds returns nil while planning would read what it read then.
func (p *Planning) Holds(m Machine) error {
	switch {
	case p.Program != m.Program:
		return fmt.Errorf("hexmage itself: %w", ErrChanged)
	case p.CPULevel != m.CPULevel:
		return fmt.Errorf("the level of the processor: %w", ErrChanged)
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

// OutputsHold returns nil while every output stands as the last run left it.
func (f *File) OutputsHold() error {
	for _, o := range f.Outputs {
		if err := o.Holds(); err != nil {
			return err
		}
	}
	return nil
}

// Output returns the output with the name, or nil if the last run did not leave it or the machine was started anew
// since: the system may have lost what was written.
func (f *File) Output(name string) *Output {
	if f == nil || f.Boot != Boot() {
		return nil
	}
	for i := range f.Outputs {
		if f.Outputs[i].Name == name {
			return &f.Outputs[i]
		}
	}
	return nil
}

// Holds returns nil while the output stands as the last run left it.
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

// SeeTree returns the Seen of a file or of a folder with everything in it, which this process has just written:
// nothing in it is racy, because the run that put it there ends after it. Paths are absolute.
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

// Boot returns the boot id of the machine, or "" where the system has none.
func Boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // elsewhere than on Linux there is none
	return strings.TrimSpace(string(b))
}
