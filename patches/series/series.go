// Package series applies ordered unified diffs to a source tree, strictly and reversibly.
//
// A hunk applies where every one of its lines agrees, blanks and line ends too. If it does not agree where it says, but in
// exactly one other place, it applies there and the distance is reported. Context lines are left out (fuzz) only when asked. After
// each patch its reverse must give the files before it. It changes an srctree.Tree, so nothing is written before the whole series fits.
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

// Options say how far a patch may be from fitting.
type Options struct {
	Fuzz int // how many lines of context at each end of a hunk may be left out
}

// Result is what became of a patch.
type Result struct {
	State State
	Moved []Shift // hunks that did not apply just as they say
}

// Shift is a hunk that was found in another place than it says, or only without some of its context.
type Shift struct {
	File   string `json:"file"`
	Hunk   int    `json:"hunk"`           // counts from 1
	Line   int    `json:"line"`           // of the file, where it was found; counts from 1
	Offset int    `json:"offset"`         // how many lines further down than it says
	Fuzz   int    `json:"fuzz,omitempty"` // how many lines of context were left out at an end
}

// Apply applies p to the tree. When p does not apply but its reverse does, the tree has it already and stays as it is.
// On an error, a *Conflict for each hunk where the two disagree, the tree stays as it was.
func (p *Patch) Apply(t *srctree.Tree, o Options) (Result, error) {
	next, at, err := p.try(t, search{})
	if err == nil {
		return p.accept(t, next, at)
	}
	reverse := p.Reverse()
	if _, _, errBack := reverse.try(t, search{}); errBack == nil {
		return Result{State: Already}, nil
	}
	elsewhere := search{anywhere: true}
	next, at, err = p.try(t, elsewhere)
	_, _, errBack := reverse.try(t, elsewhere)
	switch {
	case err == nil && errBack == nil:
		return Result{}, &Conflict{Patch: p.Name, File: p.Files()[0], Err: errors.New("it would apply, but the tree also has what it makes, each in another place than it says: nobody can tell whether it has been applied; make the patch anew")}
	case errBack == nil:
		return Result{State: Already}, nil
	}
	for fuzz := 1; err != nil && fuzz <= o.Fuzz; fuzz++ {
		var fuzzy error
		if next, at, fuzzy = p.try(t, search{anywhere: true, fuzz: fuzz}); fuzzy == nil {
			err = nil
		}
	}
	if err != nil {
		return Result{}, err
	}
	return p.accept(t, next, at)
}

// accept takes next as the tree, if the patch can be undone on it.
func (p *Patch) accept(t, next *srctree.Tree, at *placed) (Result, error) {
	back, _, err := (&Patch{Name: p.Name, files: at.files}).Reverse().try(next, search{})
	if err != nil {
		return Result{}, fmt.Errorf("patch %s cannot be undone: %w", p.Name, err)
	}
	for _, path := range p.Files() {
		was, errWas := t.File(path)
		is, errIs := back.File(path)
		if (errWas == nil) != (errIs == nil) || !was.Equal(is) {
			return Result{}, fmt.Errorf("patch %s cannot be undone: %s would not be as before", p.Name, path)
		}
	}
	*t = *next
	return Result{State: Applied, Moved: at.shifted}, nil
}

// placed is a patch with its hunks where they were found.
type placed struct {
	files   []*gitdiff.File
	shifted []Shift
}

// try returns the tree with the patch applied, or a *Conflict for each hunk or file that does not fit.
func (p *Patch) try(t *srctree.Tree, s search) (*srctree.Tree, *placed, error) {
	next, at := t.Clone(), &placed{}
	var errs []error
	for _, f := range p.files {
		if err := p.applyFile(next, f, s, at); err != nil {
			if errs = append(errs, err); len(errs) == maxConflicts {
				break
			}
		}
	}
	if len(errs) > 0 {
		return nil, nil, errors.Join(errs...)
	}
	return next, at, nil
}

func (p *Patch) applyFile(t *srctree.Tree, f *gitdiff.File, s search, at *placed) error {
	conflict := func(path string, err error) error { return &Conflict{Patch: p.Name, File: path, Err: err} }
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
	located, moved, err := p.locate(f, splitLines(old.Data), s)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := gitdiff.Apply(&out, bytes.NewReader(old.Data), located); err != nil {
		return conflict(name(f), err)
	}
	if out.Len() > srctree.MaxFile {
		return conflict(name(f), fmt.Errorf("it would be larger than %d bytes", srctree.MaxFile))
	}
	at.files, at.shifted = append(at.files, located), append(at.shifted, moved...)
	if f.OldName != "" && f.OldName != f.NewName {
		t.Set(f.OldName, srctree.File{Deleted: true})
	}
	if f.NewName == "" {
		if out.Len() > 0 {
			return conflict(f.OldName, fmt.Errorf("the patch deletes it, but %d bytes more than it knows are in it", out.Len()))
		}
		return nil
	}
	mode := old.Mode
	if f.NewMode != 0 {
		mode = srctree.Mode(f.NewMode)
	}
	t.Set(f.NewName, srctree.File{Data: bytes.Clone(out.Bytes()), Mode: mode})
	return nil
}

// Conflict says where a patch and a tree disagree, and shows both.
type Conflict struct {
	Patch    string `json:"patch"`
	File     string `json:"file"`               // slash path
	Hunk     int    `json:"hunk,omitempty"`     // counts from 1; 0 when the whole file is in the way
	At       string `json:"at,omitempty"`       // the hunk's header
	Expected []Line `json:"expected,omitempty"` // the lines that the hunk expects
	Found    []Line `json:"found,omitempty"`    // the lines of the file that are most like them
	Reason   string `json:"reason"`             // what Err says
	Err      error  `json:"-"`
}

// Line is one line of a side of a conflict.
type Line struct {
	Number int    `json:"number"` // in the file, counts from 1; of an expected line, where the hunk says it is
	Text   string `json:"text"`   // without its line end
	Differ bool   `json:"differ"` // the other side has no such line here
}

func (e *Conflict) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "patch %s: %s", e.Patch, e.File)
	if e.Hunk > 0 {
		fmt.Fprintf(&b, ": hunk %d (%s)", e.Hunk, e.At)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if len(e.Expected) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "\n  the hunk expects, from line %d:", e.Expected[0].Number)
	writeSide(&b, e.Expected)
	if len(e.Found) == 0 {
		b.WriteString("\n  the file is empty")
		return b.String()
	}
	fmt.Fprintf(&b, "\n  the file has, from line %d:", e.Found[0].Number)
	writeSide(&b, e.Found)
	return b.String()
}

func writeSide(b *strings.Builder, lines []Line) {
	for _, l := range lines {
		mark := ' '
		if l.Differ {
			mark = '!'
		}
		fmt.Fprintf(b, "\n  %c %5d | %s", mark, l.Number, l.Text)
	}
}

// Unwrap returns the reason.
func (e *Conflict) Unwrap() error { return e.Err }

// shown bounds how many lines of a side are shown, maxCompared how many pairs of lines are compared to find the nearest.
const (
	shown       = 40
	maxCompared = 20_000_000
)

// conflict shows both sides of a hunk that is not where it is to be.
func (p *Patch) conflict(f *gitdiff.File, i int, h *gitdiff.TextFragment, lines []string, from int, err error) *Conflict {
	old, new := sides(h)
	at, note := nearest(lines, old, start(h))
	if note != "" {
		err = fmt.Errorf("%w; %s", err, note)
	} else if done := places(lines, new, from); len(done) > 0 && len(new) > 0 {
		err = fmt.Errorf("%w; what it makes is there already, at line %d", err, done[0]+1)
	}
	c := &Conflict{Patch: p.Name, File: name(f), Hunk: i + 1, At: header(h), Err: err, Reason: err.Error()}
	end := min(len(lines), at+len(old)+1)
	have := lines[min(at, end):end]
	old, have = old[:min(len(old), shown)], have[:min(len(have), shown)]
	inOld, inHave := common(old, have)
	for j, l := range old {
		c.Expected = append(c.Expected, Line{start(h) + j + 1, text(l), !inOld[j]})
	}
	for j, l := range have {
		if j == len(old) && !inHave[j] {
			break // the one line more is shown when it tells that the rest has moved
		}
		c.Found = append(c.Found, Line{at + j + 1, text(l), !inHave[j]})
	}
	return c
}

// text shows a line: what cannot be seen is spelled out.
func text(l string) string {
	switch {
	case strings.HasSuffix(l, "\r\n"):
		return strings.TrimSuffix(l, "\r\n") + "␍"
	case !strings.HasSuffix(l, "\n"):
		return l + " (no line end)"
	}
	return strings.TrimSuffix(l, "\n")
}

// nearest returns the index of the lines that are most like those wanted, of equals the one nearest to where they were to be, and
// what there is to say when they are nearly the same.
func nearest(lines, want []string, at int) (int, string) {
	loose := func(l string) string { return strings.Join(strings.Fields(l), " ") }
	if len(want) == 0 || len(lines)*len(want) > maxCompared {
		return clamp(at, len(lines)), ""
	}
	looseWant, looseHave := make([]string, len(want)), make([]string, len(lines))
	for i, l := range want {
		looseWant[i] = loose(l)
	}
	for i, l := range lines {
		looseHave[i] = loose(l)
	}
	best, most := clamp(at, len(lines)), 0
	for i := range lines {
		score := 0
		for j := range want {
			if i+j < len(lines) && looseHave[i+j] == looseWant[j] && looseWant[j] != "" {
				score++
			}
		}
		if score > most || score == most && score > 0 && abs(i-at) < abs(best-at) {
			best, most = i, score
		}
	}
	if best+len(want) > len(lines) || !slices.Equal(looseHave[best:best+len(want)], looseWant) || slices.Equal(lines[best:best+len(want)], want) {
		return best, ""
	}
	for j, l := range want {
		if have := lines[best+j]; strings.TrimRight(have, "\r\n") != strings.TrimRight(l, "\r\n") {
			return best, "only blanks differ"
		} else if strings.HasSuffix(have, "\r\n") && !strings.HasSuffix(l, "\r\n") {
			return best, "the file's lines end with CRLF, the patch's with LF: bring the file to LF, or make the patch from a file with CRLF"
		} else if strings.HasSuffix(l, "\r\n") && !strings.HasSuffix(have, "\r\n") {
			return best, "the patch's lines end with CRLF, the file's with LF: bring the file to CRLF, or make the patch from a file with LF"
		}
	}
	return best, "only the line end at the end of the file differs"
}

func clamp(at, n int) int { return max(0, min(at, n-1)) }

func abs(n int) int { return max(n, -n) }

// common marks the lines of a longest common subsequence.
func common(a, b []string) (inA, inB []bool) {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}
