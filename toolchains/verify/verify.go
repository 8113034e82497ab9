// Package verify checks an unpacked toolchain. It checks the layout, and whether ELF files are complete, correctly
// named, and for the right machine and arch. It compares version files and build ids within the SDK, and runs programs.
//
// A hash shows that an archive is the pinned one. It does not show that the pinned archive is complete, or that an
// installed copy contains only one release. The package does not know the origin of the files and changes nothing.
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

	"github.com/hexmage/hexmage/qnn/sdk"
)

// Checks describe the required contents of a tree. Patterns and paths are slash paths from its root.
type Checks struct {
	Layout   []string `hcl:"layout,optional" json:"layout,omitempty"` // patterns that each need a match
	Absent   []string `hcl:"absent,optional" json:"absent,omitempty"` // patterns that must have no match
	ELF      []ELF    `hcl:"elf,block" json:"elf,omitempty"`
	BuildID  *BuildID `hcl:"build_id,block" json:"build_id,omitempty"`
	Identity bool     `hcl:"identity,optional" json:"identity,omitempty"` // whether version files and headers must agree
	Run      []Run    `hcl:"run,block" json:"run,omitempty"`
	Arches   []string `json:"arches,omitempty"` // "79": values of "{arch}" in patterns

	// With Identity: the version of the SDK and of its compilers in the SDK's files; "": unknown.
	Version      string `json:"version,omitempty"`
	ToolsVersion string `json:"tools_version,omitempty"`
}

// ELF describes checks for files whose paths match Pattern. Truncated files always fail.
type ELF struct {
	Pattern   string   `hcl:"pattern,label" json:"pattern"`
	Machine   int      `hcl:"machine" json:"machine"`                          // e_machine: 183 AArch64, 164 Hexagon, 62 x86-64; 0 any
	Flags     string   `hcl:"flags,optional" json:"flags,omitempty"`           // source of e_flags, a hexadecimal number: "folder": after "hexagon-v" in the path; "name": after "libQnnHtpV"
	Soname    bool     `hcl:"soname,optional" json:"soname,omitempty"`         // whether a soname must be the file's name
	NotNeeded []string `hcl:"not_needed,optional" json:"not_needed,omitempty"` // patterns of libraries that only files for another system need
}

// BuildID lists files that contain the SDK's build id. The ids must be equal and start with Want.
type BuildID struct {
	Want  string   `json:"want,omitempty"`              // "v2.41.0.251128", or a complete id
	Files []string `hcl:"files" json:"files,omitempty"` // patterns
}

// Run describes a program that must exit with code 0.
type Run struct {
	Path  string            `hcl:"path,label" json:"path"`
	Args  []string          `hcl:"args,optional" json:"args,omitempty"`
	Env   map[string]string `hcl:"env,optional" json:"env,omitempty"`     // "${root}" is the tree's root
	Match string            `hcl:"match,optional" json:"match,omitempty"` // regular expression for its output
}

// Problem describes one failed check.
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
		s += "; " + p.Remedy
	}
	return s
}

// Report is the result of Examine.
type Report struct {
	Problems []*Problem `json:"problems"`
	Warnings []*Problem `json:"warnings"` // harmless on their own
	Checked  Counts     `json:"checked"`
}

// Counts holds the number of checks of each kind.
type Counts struct {
	Paths    int `json:"paths"`     // patterns of Layout and Absent
	ELF      int `json:"elf"`       // files
	BuildIDs int `json:"build_ids"` // files with a build id, or the release's version
	Silent   int `json:"silent"`    // files without a build id or version, which only a digest can check
	Programs int `json:"programs"`  // programs that ran
}

const (
	maxProblems = 100       // in the text of an error
	maxELF      = 512 << 20 // bytes of a library that is searched for a build id
)

// Cut returns the checks for a tree with only the files that the function keep accepts.
func (c Checks) Cut(keep func(path string) bool) Checks {
	t := tree{checks: c}
	c.Layout = nil
	for _, l := range t.checks.Layout {
		c.Layout = append(c.Layout, slices.DeleteFunc(t.patterns(l), func(p string) bool { return !keep(p) })...)
	}
	c.Run = slices.DeleteFunc(slices.Clone(c.Run), func(r Run) bool { return !keep(r.Path) })
	c.Identity = c.Identity && slices.ContainsFunc(sdk.FileNames(), keep)
	if c.BuildID != nil && !slices.ContainsFunc(c.BuildID.Files, func(pattern string) bool {
		return slices.ContainsFunc(c.Layout, func(p string) bool { return doublestar.MatchUnvalidated(pattern, p) })
	}) {
		c.BuildID = nil // no required file has a build id
	}
	return c
}

// Tree checks the tree at root. It returns at most 100 problems, each a *Problem, joined into one error. The error
// omits warnings.
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

// Examine checks the tree at root and returns problems, warnings and counts. It returns an error only if ctx ends.
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

// add adds a problem once, because two checks may cover one file.
func (t *tree) add(file, found, want, remedy string) {
	p := Problem{File: file, Found: found, Want: want, Remedy: remedy}
	if !slices.ContainsFunc(t.report.Problems, func(have *Problem) bool { return *have == p }) {
		t.report.Problems = append(t.report.Problems, &p)
	}
}

// patterns returns the pattern for every arch if it contains {arch}.
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
		t.add(pattern, "an invalid pattern", "a pattern", err.Error())
	}
	sort.Strings(names)
	return names
}

const again = "the tree is incomplete, or belongs to another release; remove the tree and fetch the toolchain again"

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
				t.add(name, "a file or folder that no release has", "nothing",
					"a file or folder was added to the SDK; remove the addition")
			}
		}
	}
}

var errNoFile = errors.New("not a regular file")

// openFile opens a regular file. It does not open other files, because reading a pipe would never end. For a folder it
// returns nil without an error.
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
			"this machine cannot run the program, or lacks one of its libraries; run `hexmage doctor`")
		return
	}
	if r.Match == "" {
		return
	}
	re, err := regexp.Compile(r.Match)
	if err != nil || !re.Match(out) {
		t.add(p, fmt.Sprintf("%.200q", line), "output like "+r.Match, "the file is another program or version; get "+
			"the release again")
	}
}
