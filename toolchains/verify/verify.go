// Package verify checks an unpacked toolchain: the layout, whole ELF files for the right machine and arch under their
// own names, version files and build ids that agree within the SDK, and programs that run.
//
// A hash says that an archive is the pinned one; it does not say that the pinned one is complete, or an installed copy
// unmixed. The package knows files; it does not know where they came from and changes nothing.
package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Checks are what a tree must hold. Patterns and paths are slash paths from its root.
type Checks struct {
	Layout   []string `hcl:"layout,optional" json:"layout,omitempty"` // patterns, each of which something must match
	Absent   []string `hcl:"absent,optional" json:"absent,omitempty"` // patterns that nothing may match
	ELF      []ELF    `hcl:"elf,block" json:"elf,omitempty"`
	BuildID  *BuildID `hcl:"build_id,block" json:"build_id,omitempty"`
	Identity bool     `hcl:"identity,optional" json:"identity,omitempty"` // version files and headers must agree
	Run      []Run    `hcl:"run,block" json:"run,omitempty"`
	Arches   []string `json:"arches,omitempty"` // "79": a pattern with "{arch}" is checked for each

	// With Identity: what the SDK's files must say of its version, and of that of its compilers; "" is not known.
	Version      string `json:"version,omitempty"`
	ToolsVersion string `json:"tools_version,omitempty"`
}

// ELF says what the ELF files that match Pattern must be. Each must be whole.
type ELF struct {
	Pattern   string   `hcl:"pattern,label" json:"pattern"`
	Machine   int      `hcl:"machine" json:"machine"`                          // e_machine: 183 AArch64, 164 Hexagon, 62 x86-64; 0 any
	Flags     string   `hcl:"flags,optional" json:"flags,omitempty"`           // e_flags is a number as hexadecimal: "folder": that after "hexagon-v" in the path; "name": that after "libQnnHtpV"
	Soname    bool     `hcl:"soname,optional" json:"soname,omitempty"`         // one that says its name must have the file's
	NotNeeded []string `hcl:"not_needed,optional" json:"not_needed,omitempty"` // patterns of libraries that only files for another system need
}

// BuildID says in which files the SDK's build id is. Where one is found it must start with Want, and all must agree.
type BuildID struct {
	Want  string   `json:"want,omitempty"`              // "v2.41.0.251128", or a whole id
	Files []string `hcl:"files" json:"files,omitempty"` // patterns
}

// Run is a program that must run and exit with 0.
type Run struct {
	Path  string            `hcl:"path,label" json:"path"`
	Args  []string          `hcl:"args,optional" json:"args,omitempty"`
	Env   map[string]string `hcl:"env,optional" json:"env,omitempty"`     // "${root}" is the tree's root
	Match string            `hcl:"match,optional" json:"match,omitempty"` // regular expression for what it prints
}

// Problem is one thing that is not as it should be.
type Problem struct {
	File   string `json:"file"` // path in the tree
	Found  string `json:"found"`
	Want   string `json:"want"`
	Remedy string `json:"remedy,omitempty"`
}

// Error returns the problem in one line.
func (p *Problem) Error() string {
	s := fmt.Sprintf("%s: found %s, want %s", p.File, p.Found, p.Want)
	if p.Remedy != "" {
		s += ": " + p.Remedy
	}
	return s
}

// Report is what an examination found.
type Report struct {
	Problems []*Problem `json:"problems"`
	Warnings []*Problem `json:"warnings"` // which spoil nothing by themselves
	Checked  Counts     `json:"checked"`
}

// Counts say how much was looked at.
type Counts struct {
	Paths    int `json:"paths"`     // patterns of the layout, and of what may not be there
	ELF      int `json:"elf"`       // files
	BuildIDs int `json:"build_ids"` // files that hold one, or the release's version
	Silent   int `json:"silent"`    // files that hold neither: of them a digest alone tells
	Programs int `json:"programs"`  // that were run
}

const (
	maxProblems = 100       // in the text of an error
	maxELF      = 512 << 20 // bytes of a library that is searched for a build id
)

// Tree checks the tree at root. It returns all problems joined (at most 100), each a *Problem. Warnings are not among them.
func Tree(ctx context.Context, root string, c Checks) error {
	r, err := Examine(ctx, root, c)
	if err != nil {
		return err
	}
	var errs []error
	for i, p := range r.Problems {
		if i == maxProblems {
			errs = append(errs, fmt.Errorf("and %d more", len(r.Problems)-i))
			break
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// Examine checks the tree at root and returns all that there is to say. The error is only that ctx has ended.
func Examine(ctx context.Context, root string, c Checks) (Report, error) {
	t := tree{root: root, fsys: os.DirFS(root), checks: c, report: Report{Problems: []*Problem{}, Warnings: []*Problem{}}}
	for _, check := range []func(){t.layout, t.absent, t.elf, t.identity, t.buildIDs} {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		check()
	}
	if len(t.report.Problems) == 0 { // programs of a damaged tree say nothing more
		t.run(ctx)
	}
	return t.report, ctx.Err()
}

type tree struct {
	root   string
	fsys   fs.FS
	checks Checks
	report Report
}

// add says a problem once: two checks may look at one file.
func (t *tree) add(file, found, want, remedy string) {
	p := Problem{File: file, Found: found, Want: want, Remedy: remedy}
	if !slices.ContainsFunc(t.report.Problems, func(have *Problem) bool { return *have == p }) {
		t.report.Problems = append(t.report.Problems, &p)
	}
}

// patterns returns the pattern for every arch when it speaks of one.
func (t *tree) patterns(p string) []string {
	if !strings.Contains(p, "{arch}") {
		return []string{p}
	}
	var out []string
	for _, a := range t.checks.Arches {
		out = append(out, strings.ReplaceAll(p, "{arch}", a))
	}
	return out
}

func (t *tree) glob(pattern string) []string {
	names, err := doublestar.Glob(t.fsys, pattern)
	if err != nil {
		t.add(pattern, "a pattern that is none", "a pattern", err.Error())
	}
	sort.Strings(names)
	return names
}

const again = "the tree is not complete, or of another release: remove it and fetch it again, or correct the catalogue"

func (t *tree) layout() {
	for _, l := range t.checks.Layout {
		for _, p := range t.patterns(l) {
			t.report.Checked.Paths++
			if len(t.glob(p)) == 0 {
				t.add(p, "nothing", "a file or folder", again)
			}
		}
	}
}

func (t *tree) absent() {
	for _, l := range t.checks.Absent {
		for _, p := range t.patterns(l) {
			t.report.Checked.Paths++
			for _, name := range t.glob(p) {
				t.add(name, "a file or folder that is in no release", "nothing",
					"something was copied or unpacked into the SDK: remove it, or get the release anew")
			}
		}
	}
}

var errNoFile = errors.New("not a regular file")

// openFile opens a regular file. What is none is not opened: a pipe would never end. A folder is no error: the file is nil.
func openFile(name string) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, nil
	case !info.Mode().IsRegular():
		return nil, errNoFile
	}
	return os.Open(name)
}

const runLimit = 60 * time.Second // for a program that prints its version, on a busy machine

func (t *tree) run(ctx context.Context) {
	for _, r := range t.checks.Run {
		for _, p := range t.patterns(r.Path) {
			t.runOne(ctx, p, r)
		}
	}
}

func (t *tree) runOne(ctx context.Context, p string, r Run) {
	t.report.Checked.Programs++
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(t.root, filepath.FromSlash(p)), r.Args...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent"}
	for k, v := range r.Env {
		cmd.Env = append(cmd.Env, k+"="+strings.ReplaceAll(v, "${root}", t.root))
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	if err != nil {
		t.add(p, fmt.Sprintf("a program that does not run (%v: %.200s)", err, line), "exit code 0",
			"the machine lacks a library that it needs, or is of another kind: `hexmage doctor` tells")
		return
	}
	if r.Match == "" {
		return
	}
	re, err := regexp.Compile(r.Match)
	if err != nil || !re.Match(out) {
		t.add(p, fmt.Sprintf("%.200q", line), "output like "+r.Match, "the program is another one, or of another version")
	}
}
