package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/report"
)

// graph is a drawing of steps: a band for each module, with a column for each level. Lengths are in the drawing's
// units.
type graph struct {
	Width, Height int
	Bands         []band
	Boxes         []box
	Lines         []curve
	Left          int // number of steps that are not drawn
}

type band struct {
	Y, Height int
	Name      string
}

type box struct {
	X, Y     int
	At       int
	Name     string
	Note     string
	Title    string
	State    string
	Critical bool
}

type curve struct {
	Path     string
	Critical bool
}

const (
	boxWidth, boxHeight = 210, 38
	gapX, gapY          = 56, 12
	bandHead            = 24
	margin              = 12
	nameLength          = 28 // characters per box
)

// draw lays out the steps with these sorted indexes.
func draw(d *history.Document, drawn []int) *graph {
	g := &graph{Left: len(d.Steps) - len(drawn)}
	level := map[int]int{}
	for _, i := range drawn { // dependencies come first
		column := 0
		for _, n := range d.Steps[i].Needs {
			if l, ok := level[n]; ok {
				column = max(column, l+1)
			}
		}
		level[i] = column
	}
	var modules []string
	for _, i := range drawn {
		if m := d.Steps[i].Module; !slices.Contains(modules, m) {
			modules = append(modules, m)
		}
	}
	slices.SortStableFunc(modules,
		func(a, b string) int { return cmp.Compare(strings.Count(a, "."), strings.Count(b, ".")) })
	at := map[int]box{}
	y := margin
	for _, m := range modules {
		rows := map[int]int{}
		most := 0
		for _, i := range drawn {
			s := &d.Steps[i]
			if s.Module != m {
				continue
			}
			column := level[i]
			b := box{X: margin + column*(boxWidth+gapX), Y: y + bandHead + rows[column]*(boxHeight+gapY), At: i,
				State: state(s), Critical: s.Critical}
			name := strings.TrimPrefix(s.Step, m+".")
			b.Name, b.Note, b.Title = report.Middle(name, nameLength), note(s), s.Step
			rows[column]++
			most = max(most, rows[column])
			g.Width = max(g.Width, b.X+boxWidth+margin)
			at[i] = b
			g.Boxes = append(g.Boxes, b)
		}
		height := bandHead + most*(boxHeight+gapY)
		g.Bands = append(g.Bands, band{y, height, cmp.Or(m, "pipeline")})
		y += height + gapY
	}
	g.Height = y + margin
	for _, i := range drawn {
		to := at[i]
		for _, n := range d.Steps[i].Needs {
			if from, ok := at[n]; ok {
				g.Lines = append(g.Lines, curve{way(from, to), from.Critical && to.Critical})
			}
		}
	}
	slices.SortStableFunc(g.Lines, func(a, b curve) int { return -first(a.Critical, b.Critical) })
	return g
}

// way returns a line between two boxes. A line that spans several columns passes between the rows, not behind other
// boxes.
func way(from, to box) string {
	x1, y1, x2, y2 := from.X+boxWidth, from.Y+boxHeight/2, to.X, to.Y+boxHeight/2
	bend := func(x, y, toX, toY int) string {
		return fmt.Sprintf("C%d %d %d %d %d %d", (x+toX)/2, y, (x+toX)/2, toY, toX, toY)
	}
	start := fmt.Sprintf("M%d %d", x1, y1)
	if x2 == x1+gapX {
		return start + bend(x1, y1, x2, y2)
	}
	lane := to.Y - gapY/2
	return start + bend(x1, y1, x1+gapX, lane) + fmt.Sprintf("H%d", x2-gapX) + bend(x2-gapX, lane, x2, y2)
}

// note returns a summary of the step's actions.
func note(s *history.Step) string {
	text := state(s)
	if s.Executed+s.Failed > 0 {
		text += ", " + Seconds(max(0, s.End-s.Start))
	}
	if n := len(s.Actions); n > 1 {
		text += fmt.Sprintf(", %d actions", n)
	}
	if s.Critical {
		text += ", critical"
	}
	return text
}

// bar is a line of the timeline.
type bar struct {
	At       int
	Name     string
	State    string
	Start    string
	Took     string
	Waited   string // its share of the critical path
	Critical bool
	Parts    []part
}

// part is a period in which actions of a step ran, in thousandths of the run.
type part struct {
	X, Width float64
	Outcome  event.Outcome
}

const (
	timeUnits = 1000.0
	leastPart = 1.5 // minimum visible width
)

func barOf(s *history.Step, at int, span float64, waited map[int]float64) bar {
	b := bar{At: at, Name: s.Step, State: state(s), Start: Seconds(s.Start), Took: Seconds(max(0, s.End-s.Start)),
		Critical: s.Critical}
	if w, ok := waited[at]; ok {
		b.Waited = Seconds(w)
	}
	if span <= 0 {
		return b
	}
	actions := slices.Clone(s.Actions)
	slices.SortStableFunc(actions, func(x, y history.Action) int { return cmp.Compare(x.Start, y.Start) })
	for _, a := range actions {
		p := part{X: tenth(timeUnits * a.Start / span), Width: max(leastPart, tenth(timeUnits*a.Seconds/span)),
			Outcome: a.Outcome}
		if n := len(b.Parts); n > 0 {
			last := &b.Parts[n-1]
			if p.X <= last.X+last.Width+0.5 && last.Outcome == p.Outcome { // the gap is invisible
				last.Width = max(last.Width, tenth(p.X+p.Width-last.X))
				continue
			}
		}
		b.Parts = append(b.Parts, p)
	}
	if len(b.Parts) > maxParts { // too many parts: gaps would be as wide as parts
		first, last := b.Parts[0], b.Parts[len(b.Parts)-1]
		b.Parts = []part{{first.X, tenth(last.X + last.Width - first.X), first.Outcome}}
	}
	return b
}

const maxParts = 200 // per line

func tenth(x float64) float64 { return math.Round(10*x) / 10 }
