// Package series applies ordered unified diffs to a source tree, strictly and reversibly.
//
// A hunk applies if each of its lines agrees with the file at the place that the hunk names, blanks and line ends too. The
// package changes an srctree.Tree, so nothing is written before the whole series fits.
//
// The package does not know SDKs or what the sources are. It does not run git, and it rejects binary patches, symbolic
// links and copies.
package series

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/patches/srctree"
)

// MaxPatch bounds a patch, in bytes.
const MaxPatch = 16 << 20

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
	data, err := boundedfile.ReadAll(r, "it", MaxPatch)
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", name, err)
	}
	files, _, err := gitdiff.Parse(bytes.NewReader(data))
	if crlfHeader(data) {
		return nil, fmt.Errorf("patch %s: its own header lines end with CRLF: an editor or git's autocrlf has rewritten it; turn it back (dos2unix) and keep it so (.gitattributes: *.patch -text)", name)
	}
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

// crlfHeader says whether a line that names a file or places a hunk ends with CRLF. In hunks it is the file's line end.
func crlfHeader(data []byte) bool {
	for line := range bytes.Lines(data) {
		if bytes.HasSuffix(line, []byte("\r\n")) && (bytes.HasPrefix(line, []byte("diff --git ")) || bytes.HasPrefix(line, []byte("@@ -"))) {
			return true
		}
		if bytes.HasPrefix(line, []byte("@@ -")) {
			return false
		}
	}
	return false
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
		if name != "" && !srctree.Safe(name) {
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

// State says what became of a patch.
type State string

// The states of a patch in a tree.
const (
	Applied State = "applied"
	Already State = "already applied"
)

// Apply applies p to the tree. If p does not apply but its reverse does, the tree has it already and stays as it is. On
// an error, a *Conflict for each hunk where patch and tree disagree, the tree stays as it was.
func (p *Patch) Apply(t *srctree.Tree) (State, error) {
	next, err := p.try(t)
	if err != nil {
		if _, errBack := p.Reverse().try(t); errBack == nil {
			return Already, nil
		}
		return "", err
	}
	*t = *next
	return Applied, nil
}

// maxConflicts bounds how many conflicts an error shows.
const maxConflicts = 20

// try returns the tree with the patch applied, or a *Conflict for each hunk or file that does not fit.
func (p *Patch) try(t *srctree.Tree) (*srctree.Tree, error) {
	next := t.Clone()
	var errs []error
	for _, f := range p.files {
		errs = append(errs, p.applyFile(next, f)...)
		if len(errs) > maxConflicts {
			errs = append(errs[:maxConflicts], fmt.Errorf("patch %s: more hunks may not fit", p.Name))
			break
		}
	}
	return next, errors.Join(errs...)
}

func (p *Patch) applyFile(t *srctree.Tree, f *gitdiff.File) []error {
	conflict := func(path string, err error) []error { return []error{&Conflict{Patch: p.Name, File: path, Err: err}} }
	old := srctree.File{Mode: 0o644}
	if f.OldName != "" {
		var err error
		if old, err = t.File(f.OldName); err != nil {
			return conflict(f.OldName, err)
		}
	}
	if f.NewName != "" && f.NewName != f.OldName {
		if err := t.Free(f.NewName); err != nil {
			return conflict(f.NewName, err)
		}
	}
	out, errs := p.hunks(f, splitLines(old.Data))
	if len(errs) > 0 {
		return errs
	}
	if len(out) > srctree.MaxFile {
		return conflict(name(f), fmt.Errorf("it would be larger than %d bytes", srctree.MaxFile))
	}
	if f.OldName != "" && f.OldName != f.NewName {
		t.Set(f.OldName, srctree.File{Deleted: true})
	}
	if f.NewName == "" {
		if len(out) > 0 {
			return conflict(f.OldName, fmt.Errorf("the patch deletes the file, which has %d bytes more than the patch", len(out)))
		}
		return nil
	}
	mode := old.Mode
	if f.NewMode != 0 {
		mode = srctree.Mode(f.NewMode)
	}
	t.Set(f.NewName, srctree.File{Data: []byte(out), Mode: mode})
	return nil
}

// hunks returns a file's text with the hunks applied.
func (p *Patch) hunks(f *gitdiff.File, lines []string) (string, []error) {
	hunks := slices.Clone(f.TextFragments)
	slices.SortStableFunc(hunks, func(a, b *gitdiff.TextFragment) int { return int(a.OldPosition - b.OldPosition) })
	var out strings.Builder
	var errs []error
	done := 0 // lines
	for i, h := range hunks {
		if len(errs) > maxConflicts {
			break
		}
		old, new := sides(h)
		at := start(h)
		switch {
		case f.OldName != "" && len(old) == 0 && len(lines) > 0:
			errs = append(errs, p.conflict(f, i, h, lines, errors.New("the hunk has no context: write the diff without -U0")))
			continue
		case at < done || !matches(lines, old, at):
			errs = append(errs, p.conflict(f, i, h, lines, errors.New("the file has other lines there")))
			continue
		}
		for _, l := range slices.Concat(lines[done:at], new) {
			out.WriteString(l)
		}
		done = at + len(old)
	}
	for _, l := range lines[done:] {
		out.WriteString(l)
	}
	return out.String(), errs
}

// splitLines cuts text into lines with their ends; the last may have none.
func splitLines(data []byte) []string {
	var lines []string
	for line := range bytes.Lines(data) {
		lines = append(lines, string(line))
	}
	return lines
}

// start returns the index of the line at which a hunk says that it begins.
func start(h *gitdiff.TextFragment) int {
	if h.OldLines == 0 || h.OldPosition == 0 {
		return 0
	}
	return int(h.OldPosition) - 1
}

// sides returns the lines that a hunk expects and those that it leaves.
func sides(h *gitdiff.TextFragment) (old, new []string) {
	for _, l := range h.Lines {
		if l.Old() {
			old = append(old, l.Line)
		}
		if l.New() {
			new = append(new, l.Line)
		}
	}
	return old, new
}

// matches tells whether the lines at an index are these.
func matches(lines, want []string, at int) bool {
	return at >= 0 && at <= len(lines) && len(want) <= len(lines)-at && slices.Equal(lines[at:at+len(want)], want)
}

// Conflict says where a patch and a tree disagree, and shows both.
type Conflict struct {
	Patch    string   `json:"patch"`
	File     string   `json:"file"`               // slash path
	Hunk     int      `json:"hunk,omitempty"`     // counts from 1; 0 if the whole file is in the way
	At       string   `json:"at,omitempty"`       // the hunk's header
	Line     int      `json:"line,omitempty"`     // at which the hunk begins
	Expected []string `json:"expected,omitempty"` // lines that the hunk expects
	Found    []string `json:"found,omitempty"`    // lines of the file at the same place
	Reason   string   `json:"reason"`             // what Err says
	Err      error    `json:"-"`
}

func (e *Conflict) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "patch %s: %s", e.Patch, e.File)
	if e.Hunk > 0 {
		fmt.Fprintf(&b, ": hunk %d (%s)", e.Hunk, e.At)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	for i, l := range e.Expected {
		if i == 0 {
			b.WriteString("\n  the hunk expects (-), the file has (+):")
		}
		mark := "-"
		if i < len(e.Found) && e.Found[i] == l {
			mark = " "
		}
		fmt.Fprintf(&b, "\n  %s %5d | %s", mark, e.Line+i, l)
		if mark == "-" && i < len(e.Found) {
			fmt.Fprintf(&b, "\n  + %5d | %s", e.Line+i, e.Found[i])
		}
	}
	return b.String()
}

// Unwrap returns the reason.
func (e *Conflict) Unwrap() error { return e.Err }

// shown bounds how many lines of a hunk are shown, maxSearched how many pairs of lines are compared to find it elsewhere.
const (
	shown       = 40
	maxSearched = 20_000_000
)

// conflict shows both sides of a hunk that does not fit.
func (p *Patch) conflict(f *gitdiff.File, i int, h *gitdiff.TextFragment, lines []string, err error) *Conflict {
	old, new := sides(h)
	at := min(start(h), len(lines))
	found := lines[at:min(len(lines), at+len(old))]
	note := ""
	switch {
	case len(old) == 0 || len(lines)*len(old) > maxSearched:
	case len(found) == len(old) && slices.Equal(ends(found, "\n"), ends(old, "\n")):
		note = "only line ends differ: bring file and patch to LF, or both to CRLF"
	case elsewhere(lines, old) > 0:
		note = fmt.Sprintf("these lines are at line %d", elsewhere(lines, old))
	case len(new) > 0 && elsewhere(lines, new) > 0:
		note = fmt.Sprintf("the result of the hunk is already at line %d", elsewhere(lines, new))
	}
	if note != "" {
		err = fmt.Errorf("%w; %s", err, note)
	}
	return &Conflict{Patch: p.Name, File: name(f), Hunk: i + 1, At: header(h), Err: err, Reason: err.Error(), Line: start(h) + 1,
		Expected: ends(old[:min(len(old), shown)], ""), Found: ends(found[:min(len(found), shown)], "")}
}

// elsewhere returns the number of the line at which these lines begin in a file, 0 if they are not there.
func elsewhere(lines, want []string) int {
	for at := range lines {
		if matches(lines, want, at) {
			return at + 1
		}
	}
	return 0
}

// ends returns the lines with another line end. For "" it shows an unusual one.
func ends(lines []string, end string) []string {
	var out []string
	for _, l := range lines {
		text := strings.TrimRight(l, "\r\n")
		switch {
		case end != "":
			text += end
		case strings.HasSuffix(l, "\r\n"):
			text += "␍"
		case !strings.HasSuffix(l, "\n"):
			text += " (no line end)"
		}
		out = append(out, text)
	}
	return out
}
