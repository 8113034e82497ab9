// Package series applies ordered unified diffs to a source tree, strictly and reversibly.
//
// A hunk applies exactly where it says and where every one of its lines agrees, or not at all: no offsets, no fuzz. After
// each patch its reverse must give the file before it. A Tree keeps changes in memory over a read-only base, so that a
// check and an application are the same work.
//
// It knows nothing of SDKs or of what the sources are, it does not run git, and it refuses binary patches, symbolic links
// and copies.
package series

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// MaxPatch and MaxFile bound, in bytes, a patch and a file that one changes.
const (
	MaxPatch = 16 << 20
	MaxFile  = 64 << 20
)

// Patch is one file of a series.
type Patch struct {
	Name  string // such as "0001-op-names.patch"
	files []*gitdiff.File
}

// Files returns the slash paths that the patch touches, in its order.
func (p *Patch) Files() []string {
	var names []string
	for _, f := range p.files {
		if f.OldName != "" && f.OldName != f.NewName {
			names = append(names, f.OldName)
		}
		if f.NewName != "" {
			names = append(names, f.NewName)
		}
	}
	return names
}

// Parse reads a unified diff, as git or diff -u writes it with names that begin with a/ and b/.
func Parse(name string, r io.Reader) (*Patch, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxPatch+1))
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", name, err)
	}
	if len(data) > MaxPatch {
		return nil, fmt.Errorf("patch %s: larger than %d bytes", name, MaxPatch)
	}
	files, _, err := gitdiff.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", name, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("patch %s: it changes no file; is it a unified diff?", name)
	}
	git := bytes.HasPrefix(data, []byte("diff --git ")) || bytes.Contains(data, []byte("\ndiff --git "))
	for _, f := range files {
		if !git {
			f.OldName, f.NewName = strip(f.OldName), strip(f.NewName)
		}
		if err := check(f); err != nil {
			return nil, fmt.Errorf("patch %s: %w", name, err)
		}
	}
	return &Patch{Name: name, files: files}, nil
}

// strip takes the a/ or b/ from a name in a patch without git's headers.
func strip(name string) string {
	if strings.HasPrefix(name, "a/") || strings.HasPrefix(name, "b/") {
		return name[2:]
	}
	return name
}

// check refuses what this package does not apply.
func check(f *gitdiff.File) error {
	if f.IsNew {
		f.OldName = ""
	}
	if f.IsDelete {
		f.NewName = ""
	}
	for _, name := range []string{f.OldName, f.NewName} {
		if name != "" && !safe(name) {
			return fmt.Errorf("%q is no path inside a source tree", name)
		}
	}
	switch {
	case f.OldName == "" && f.NewName == "":
		return errors.New("a file without a name")
	case f.IsBinary:
		return fmt.Errorf("%s: binary patches are refused; write a text patch", name(f))
	case f.IsCopy:
		return fmt.Errorf("%s: copies are refused; write it as a new file (git format-patch --no-renames)", name(f))
	}
	for _, mode := range []fs.FileMode{f.OldMode, f.NewMode} {
		if m := uint32(mode); m > 0o7777 && m&0o170000 != 0o100000 { // git's modes, not Go's
			return fmt.Errorf("%s: mode %o is not a regular file's", name(f), m)
		}
	}
	for i, h := range f.TextFragments {
		if err := h.Validate(); err != nil {
			return fmt.Errorf("%s: hunk %d (%s): %w", name(f), i+1, header(h), err)
		}
	}
	return nil
}

// safe says whether a name stays inside the tree and outside its version control.
func safe(name string) bool {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return false
	}
	for elem := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(elem, ".git") {
			return false
		}
	}
	return true
}

func name(f *gitdiff.File) string {
	if f.NewName != "" {
		return f.NewName
	}
	return f.OldName
}

func header(h *gitdiff.TextFragment) string {
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldPosition, h.OldLines, h.NewPosition, h.NewLines)
}

// Reverse returns the patch that undoes p.
func (p *Patch) Reverse() *Patch {
	r := &Patch{Name: p.Name + " (reversed)"}
	for i := len(p.files) - 1; i >= 0; i-- {
		f := *p.files[i]
		f.OldName, f.NewName = f.NewName, f.OldName
		f.OldMode, f.NewMode = f.NewMode, f.OldMode
		f.IsNew, f.IsDelete = f.IsDelete, f.IsNew
		f.TextFragments = nil
		for _, h := range p.files[i].TextFragments {
			g := *h
			g.OldPosition, g.NewPosition = h.NewPosition, h.OldPosition
			g.OldLines, g.NewLines = h.NewLines, h.OldLines
			g.LinesAdded, g.LinesDeleted = h.LinesDeleted, h.LinesAdded
			g.Lines = make([]gitdiff.Line, len(h.Lines))
			for j, line := range h.Lines {
				switch line.Op {
				case gitdiff.OpAdd:
					line.Op = gitdiff.OpDelete
				case gitdiff.OpDelete:
					line.Op = gitdiff.OpAdd
				}
				g.Lines[j] = line
			}
			f.TextFragments = append(f.TextFragments, &g)
		}
		r.files = append(r.files, &f)
	}
	return r
}

// Conflict says where a patch and a tree disagree.
type Conflict struct {
	Patch string
	File  string // slash path
	Hunk  int    // counts from 1; 0 when the whole file is in the way
	At    string // the hunk's header
	Line  int    // of the file, counts from 1; 0 if unknown
	Want  string // the line the patch expects there
	Have  string // the line that is there
	Err   error
}

func (e *Conflict) Error() string {
	text := fmt.Sprintf("patch %s: %s", e.Patch, e.File)
	if e.Hunk > 0 {
		text += fmt.Sprintf(": hunk %d (%s)", e.Hunk, e.At)
	}
	if e.Line > 0 {
		text += fmt.Sprintf(": line %d", e.Line)
	}
	text += ": " + e.Err.Error()
	if e.Want != e.Have {
		text += fmt.Sprintf("\n  expected: %s\n  found:    %s", e.Want, e.Have)
	}
	return text
}

func (e *Conflict) Unwrap() error { return e.Err }

// State says what became of a patch.
type State string

// The states of a patch in a tree.
const (
	Applied State = "applied"
	Already State = "already applied"
)

// Apply applies p to the tree. When p does not apply but its reverse does, the tree has it already and stays as it is.
// On an error, a *Conflict where the two disagree, the tree stays as it was.
func (p *Patch) Apply(t *Tree) (State, error) {
	next := t.clone()
	err := p.apply(next)
	if err != nil {
		if p.Reverse().apply(t.clone()) == nil {
			return Already, nil
		}
		return "", err
	}
	back := next.clone()
	if err := p.Reverse().apply(back); err != nil {
		return "", fmt.Errorf("patch %s cannot be undone: %w", p.Name, err)
	}
	for _, path := range p.Files() {
		was, errWas := t.read(path)
		is, errIs := back.read(path)
		if (errWas == nil) != (errIs == nil) || was.same(is) != nil {
			return "", fmt.Errorf("patch %s cannot be undone: %s would not be as before", p.Name, path)
		}
	}
	*t = *next
	return Applied, nil
}

func (p *Patch) apply(t *Tree) error {
	for _, f := range p.files {
		if err := p.applyFile(t, f); err != nil {
			return err
		}
	}
	return nil
}

func (p *Patch) applyFile(t *Tree, f *gitdiff.File) error {
	conflict := func(path string, err error) error { return &Conflict{Patch: p.Name, File: path, Err: err} }
	old := File{Mode: 0o644}
	if f.OldName != "" {
		var err error
		if old, err = t.read(f.OldName); err != nil {
			return conflict(f.OldName, err)
		}
	}
	if f.NewName != "" && f.NewName != f.OldName {
		if err := t.free(f.NewName); err != nil {
			return conflict(f.NewName, err)
		}
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(old.Data), f); err != nil {
		return p.explain(f, old.Data, err)
	}
	if out.Len() > MaxFile {
		return conflict(name(f), fmt.Errorf("it would be larger than %d bytes", MaxFile))
	}
	if f.OldName != "" && f.OldName != f.NewName {
		t.changes[f.OldName] = File{Deleted: true}
	}
	if f.NewName == "" {
		if out.Len() > 0 {
			return conflict(f.OldName, fmt.Errorf("the patch deletes it, but %d bytes more than it knows are in it", out.Len()))
		}
		return nil
	}
	mode := old.Mode
	if f.NewMode != 0 {
		mode = 0o644
		if f.NewMode&0o100 != 0 {
			mode = 0o755
		}
	}
	t.changes[f.NewName] = File{Data: bytes.Clone(out.Bytes()), Mode: mode}
	return nil
}

// explain turns the library's error into a Conflict with the lines that disagree.
func (p *Patch) explain(f *gitdiff.File, old []byte, err error) error {
	c := &Conflict{Patch: p.Name, File: name(f), Err: err}
	var at *gitdiff.ApplyError
	if !errors.As(err, &at) {
		return c
	}
	c.Err = errors.Unwrap(at)
	c.Line = int(at.Line)
	if at.Fragment < 1 || at.Fragment > len(f.TextFragments) {
		return c
	}
	h := f.TextFragments[at.Fragment-1]
	c.Hunk, c.At = at.Fragment, header(h)
	if at.FragmentLine >= 1 && at.FragmentLine <= len(h.Lines) {
		c.Want = strings.TrimRight(h.Lines[at.FragmentLine-1].Line, "\r\n")
		c.Have = "(end of file)"
		if lines := bytes.Split(old, []byte("\n")); c.Line >= 1 && c.Line <= len(lines) {
			c.Have = strings.TrimRight(string(lines[c.Line-1]), "\r")
		}
	}
	return c
}
