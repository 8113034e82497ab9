// Package series applies ordered unified diffs to a source tree, strictly and reversibly.
//
// A hunk applies if its lines, including blanks and line ends, match the file at the given place. The package
// changes an srctree.Tree, so that nothing is written before the whole series fits.
//
// The package does not know SDKs or the meaning of the sources. It does not run git, and it rejects binary patches,
// symbolic links and copies.
package series

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/patches/srctree"
)

const MaxPatch = 16 << 20

// Patch is one patch file of a series.
type Patch struct {
	Name  string // such as "0001-op-names.patch"
	files []*gitdiff.File
}

// Parse parses a unified diff from git or diff -u. File names in the diff begin with a/ and b/.
func Parse(name string, data []byte) (*Patch, error) {
	files, _, err := gitdiff.Parse(bytes.NewReader(data))
	if bytes.HasSuffix(headerLine.Get().Find(data), []byte("\r")) {
		return nil, fmt.Errorf("patch %s: header lines end with CRLF, added by an editor or git's autocrlf: "+
			"convert the file with dos2unix, and add `*.patch -text` to .gitattributes", name)
	}
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", name, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("patch %s: no changed file found: use a unified diff", name)
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

// headerLine matches the first line with a file name or a hunk's position. CRLF inside hunks belongs to the changed
// file.
var headerLine = lazyregexp.New(`(?m)^(?:diff --git |@@ -).*`)

// strip removes a/ or b/ from a name in a patch without git's headers.
func strip(name string) string {
	if strings.HasPrefix(name, "a/") || strings.HasPrefix(name, "b/") {
		return name[2:]
	}
	return name
}

// check rejects changes that this package cannot apply.
func check(f *gitdiff.File) error {
	if f.IsNew {
		f.OldName = ""
	}
	if f.IsDelete {
		f.NewName = ""
	}
	for _, name := range []string{f.OldName, f.NewName} {
		if name != "" && !srctree.Safe(name) {
			return fmt.Errorf("%q: path outside the source tree", name)
		}
	}
	switch {
	case f.OldName == "" && f.NewName == "":
		return errors.New("missing file name")
	case f.IsBinary:
		return fmt.Errorf("%s: binary patch: write a text patch", name(f))
	case f.IsCopy:
		return fmt.Errorf("%s: file copies are not supported: write the copy as a new file (git format-patch "+
			"--no-renames)", name(f))
	}
	for _, mode := range []fs.FileMode{f.OldMode, f.NewMode} {
		if m := uint32(mode); m > 0o7777 && m&0o170000 != 0o100000 { // git's modes, unlike Go's
			return fmt.Errorf("%s: invalid mode %o for a regular file", name(f), m)
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

// Apply applies p to the tree. If hunks do not fit, the tree is unchanged, and the error shows all such hunks.
func (p *Patch) Apply(t *srctree.Tree) error {
	next := t.Clone()
	var errs []error
	for _, f := range p.files {
		for _, err := range applyFile(next, f) {
			if len(errs) == maxConflicts {
				errs = append(errs, fmt.Errorf("patch %s: more hunks may not fit", p.Name))
				return errors.Join(errs...)
			}
			errs = append(errs, fmt.Errorf("patch %s: %s: %w", p.Name, name(f), err))
		}
	}
	if len(errs) == 0 {
		*t = *next
	}
	return errors.Join(errs...)
}

// maxConflicts limits the conflicts in an error.
const maxConflicts = 20

// applyFile returns an error for each hunk that does not fit.
func applyFile(t *srctree.Tree, f *gitdiff.File) []error {
	old := srctree.File{Mode: 0o644}
	if f.OldName != "" {
		var err error
		if old, err = t.File(f.OldName); err != nil {
			return []error{err}
		}
	}
	if f.NewName != "" && f.NewName != f.OldName {
		if err := t.Free(f.NewName); err != nil {
			return []error{err}
		}
	}
	if errs := conflicts(f, old.Data); len(errs) > 0 {
		return errs
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(old.Data), f); err != nil {
		return []error{err}
	}
	if out.Len() > srctree.MaxFile {
		return []error{fmt.Errorf("the patched file exceeds %d bytes", srctree.MaxFile)}
	}
	if f.OldName != "" && f.OldName != f.NewName {
		t.Set(f.OldName, srctree.File{Deleted: true})
	}
	if f.NewName == "" {
		if out.Len() > 0 {
			return []error{fmt.Errorf("the patch deletes the file, but the file has %d more bytes than the patch", out.Len())}
		}
		return nil
	}
	mode := old.Mode
	if f.NewMode != 0 {
		mode = srctree.Mode(f.NewMode)
	}
	t.Set(f.NewName, srctree.File{Data: out.Bytes(), Mode: mode})
	return nil
}

// conflicts returns an error for each hunk that does not fit, up to one more than the limit.
func conflicts(f *gitdiff.File, data []byte) (errs []error) {
	var lines []string
	for line := range bytes.Lines(data) {
		lines = append(lines, string(line))
	}
	for i, h := range f.TextFragments {
		old, _ := sides(h)
		reason := "the file has other lines there"
		switch {
		case f.OldName != "" && len(old) == 0 && len(lines) > 0:
			reason = "the hunk has no context: write the diff without -U0"
		case len(errs) > maxConflicts || matches(lines, old, start(h)):
			continue
		}
		errs = append(errs, fmt.Errorf("hunk %d (%s): %s%s", i+1, header(h), reason, comparison(h, lines)))
	}
	return errs
}

// start returns the index of a hunk's first line.
func start(h *gitdiff.TextFragment) int { return max(0, int(h.OldPosition)-1) }

// sides returns a hunk's old and new lines.
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

// matches reports whether the lines at an index equal want.
func matches(lines, want []string, at int) bool {
	return at <= len(lines) && len(want) <= len(lines)-at && slices.Equal(lines[at:at+len(want)], want)
}

// shown limits the lines of a hunk in an error. maxSearched limits the pairs of lines compared to find the hunk
// elsewhere.
const (
	shown       = 40
	maxSearched = 20_000_000
)

// comparison shows both sides of a hunk that does not fit, with a hint if it nearly fits.
func comparison(h *gitdiff.TextFragment, lines []string) string {
	old, new := sides(h)
	if len(old) == 0 {
		return ""
	}
	at := min(start(h), len(lines))
	found := lines[at:min(len(lines), at+len(old))]
	lf := func(lines []string) string { return strings.ReplaceAll(strings.Join(lines, ""), "\r\n", "\n") }
	var b strings.Builder
	switch {
	case len(lines)*len(old) > maxSearched:
	case lf(found) == lf(old):
		b.WriteString("; only line ends differ: convert file and patch to LF, or both to CRLF")
	case elsewhere(lines, old) > 0:
		fmt.Fprintf(&b, "; these lines are at line %d", elsewhere(lines, old))
	case len(new) > 0 && elsewhere(lines, new) > 0:
		fmt.Fprintf(&b, "; the result of the hunk is already at line %d", elsewhere(lines, new))
	}
	b.WriteString("\n  the hunk expects (-), the file has (+):")
	for i, l := range old[:min(len(old), shown)] {
		same := i < len(found) && found[i] == l
		mark := "-"
		if same {
			mark = " "
		}
		fmt.Fprintf(&b, "\n  %s %5d | %s", mark, start(h)+1+i, visible(l))
		if !same && i < len(found) {
			fmt.Fprintf(&b, "\n  + %5d | %s", start(h)+1+i, visible(found[i]))
		}
	}
	return b.String()
}

// elsewhere returns the number of the line at which want begins in a file, or 0.
func elsewhere(lines, want []string) int {
	for at := range lines {
		if matches(lines, want, at) {
			return at + 1
		}
	}
	return 0
}

// visible returns a line without its line end, unless that is unusual.
func visible(line string) string {
	text := strings.TrimRight(line, "\r\n")
	switch {
	case strings.HasSuffix(line, "\r\n"):
		text += "␍"
	case !strings.HasSuffix(line, "\n"):
		text += " (no line end)"
	}
	return text
}
