package series

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// search says where a hunk may be found.
type search struct {
	anywhere bool // also in another place than it says, if there is only one
	fuzz     int  // without so many lines of context at each end
}

// maxSearched bounds for how many pairs of a hunk and a line it is looked further than where the hunk says, maxConflicts how many
// conflicts of a file are shown.
const (
	maxSearched  = 200_000_000
	maxConflicts = 20
)

// splitLines cuts text into lines with their ends; the last may have none.
func splitLines(data []byte) []string {
	var lines []string
	for line := range bytes.Lines(data) {
		lines = append(lines, string(line))
	}
	return lines
}

// locate returns f with its hunks where they are found in a file's lines.
func (p *Patch) locate(f *gitdiff.File, lines []string, s search) (*gitdiff.File, []Shift, error) {
	out := *f
	out.TextFragments = nil
	var moved []Shift
	var errs []error
	if len(f.TextFragments)*len(lines) > maxSearched {
		s.anywhere = false // it would take too long to look through the file for each hunk
	}
	from, drift, delta := 0, 0, 0 // lines taken, how far off the hunks were, how much longer the file has become
	for i, h := range sorted(f.TextFragments) {
		if len(errs) == maxConflicts {
			errs = append(errs, fmt.Errorf("patch %s: %s: and perhaps more hunks", p.Name, name(f)))
			break
		}
		if f.OldName != "" && h.OldLines == 0 && len(lines) > 0 {
			errs = append(errs, p.conflict(f, i, h, lines, 0, errors.New("it adds lines without saying between which: make the diff with context (git diff, without -U0)")))
			continue
		}
		at, g, fuzz, err := find(h, lines, from, drift, s)
		if err != nil {
			errs = append(errs, p.conflict(f, i, h, lines, from, err))
			continue
		}
		if off := at - start(g); off != 0 || fuzz > 0 {
			drift = off
			moved = append(moved, Shift{File: name(f), Hunk: i + 1, Line: at + 1, Offset: off, Fuzz: fuzz})
		}
		// The library takes the position of a hunk without old lines for that of the line behind it.
		g.OldPosition, g.NewPosition = int64(at+1), int64(at+delta+1)
		if f.OldName == "" {
			g.OldPosition = 0
		}
		if f.NewName == "" {
			g.NewPosition = 0
		}
		out.TextFragments = append(out.TextFragments, g)
		from, delta = at+int(g.OldLines), delta+int(g.NewLines-g.OldLines)
	}
	return &out, moved, errors.Join(errs...)
}

// sorted returns the hunks in order of position.
func sorted(hunks []*gitdiff.TextFragment) []*gitdiff.TextFragment {
	hunks = slices.Clone(hunks)
	slices.SortStableFunc(hunks, func(a, b *gitdiff.TextFragment) int { return int(a.OldPosition - b.OldPosition) })
	return hunks
}

// start returns the index of the line at which a hunk says that it begins.
func start(h *gitdiff.TextFragment) int {
	if h.OldLines == 0 || h.OldPosition == 0 {
		return int(h.OldPosition)
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

// find returns the index of the first line of a hunk, and a copy of the hunk without the context that was left out.
func find(h *gitdiff.TextFragment, lines []string, from, drift int, s search) (int, *gitdiff.TextFragment, int, error) {
	g, fuzz := trim(h, s.fuzz)
	old, _ := sides(g)
	if len(old) == 0 && len(lines) == 0 {
		return 0, g, 0, nil
	}
	if at := start(g); at >= from && matches(lines, old, at) {
		return at, g, fuzz, nil
	}
	if !s.anywhere {
		return 0, nil, 0, errors.New("the file has other lines there")
	}
	if at := start(g) + drift; drift != 0 && at >= from && matches(lines, old, at) {
		return at, g, fuzz, nil
	}
	found := places(lines, old, from)
	switch {
	case len(found) == 1:
		return found[0], g, fuzz, nil
	case len(found) > 1:
		text := "it fits in several places, and not where it says: at lines"
		for i, at := range found {
			if i == 5 {
				text += fmt.Sprintf(" … (%d)", len(found))
				break
			}
			text += fmt.Sprintf(" %d", at+1)
		}
		return 0, nil, 0, errors.New(text)
	}
	return 0, nil, 0, errors.New("the file has these lines nowhere")
}

// matches says whether the lines at an index are these.
func matches(lines, want []string, at int) bool {
	return at >= 0 && at <= len(lines) && len(want) <= len(lines)-at && slices.Equal(lines[at:at+len(want)], want)
}

// places returns where these lines are, from an index on. Blank lines alone are nowhere: they would be anywhere.
func places(lines, want []string, from int) (found []int) {
	telling := slices.IndexFunc(want, func(l string) bool { return len(bytes.TrimSpace([]byte(l))) > 1 })
	if telling < 0 {
		return nil
	}
	for at := from; at+len(want) <= len(lines); at++ {
		if lines[at+telling] == want[telling] && matches(lines, want, at) {
			found = append(found, at)
		}
	}
	return found
}

// trim returns a copy of a hunk without up to n lines of context at each end, and how many it took at most.
func trim(h *gitdiff.TextFragment, n int) (*gitdiff.TextFragment, int) {
	g := *h
	lead, trail := 0, 0
	for lead < n && lead < len(h.Lines) && h.Lines[lead].Op == gitdiff.OpContext {
		lead++
	}
	for trail < n && trail < len(h.Lines)-lead && h.Lines[len(h.Lines)-1-trail].Op == gitdiff.OpContext {
		trail++
	}
	if int64(lead+trail) >= h.OldLines { // something must be left to look for
		return &g, 0
	}
	g.Lines = h.Lines[lead : len(h.Lines)-trail]
	g.OldPosition, g.NewPosition = h.OldPosition+int64(lead), h.NewPosition+int64(lead)
	g.OldLines, g.NewLines = h.OldLines-int64(lead+trail), h.NewLines-int64(lead+trail)
	g.LeadingContext, g.TrailingContext = max(0, h.LeadingContext-int64(lead)), max(0, h.TrailingContext-int64(trail))
	return &g, max(lead, trail)
}
