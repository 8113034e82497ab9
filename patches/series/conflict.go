package series

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

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
