package measure

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/hexmage/hexmage/runner/sample"
)

// course has the samples of a run, and the run's name.
type course struct {
	name   string
	series sample.Series
}

// Sizes in pixels, and limits of runs and points in a panel: the run log keeps pictures of up to 256 kB.
const (
	plotWide   = 760
	plotLeft   = 64
	plotRight  = 16
	panelHigh  = 150
	panelGap   = 46
	plotRuns   = 64
	plotPoints = 4000
	plotOne    = 380 // of one run
)

// panel shows one quantity over time, with a line for each run.
type panel struct {
	title  string
	values func(sample.Series) []float64
}

func panels() []panel {
	megabytes := func(name string) func(sample.Series) []float64 {
		return func(s sample.Series) []float64 {
			out := s.Column(name)
			for i := range out {
				out[i] /= 1e6
			}
			return out
		}
	}
	return []panel{
		{"temperature of the hottest sensor, °C", sample.Series.Hottest},
		{"memory of the program (RSS), MB", megabytes("rss")},
		{"memory that the device has left, MB", megabytes("mem_available")},
	}
}

// plot draws temperature and memory over time as SVG. It has no panel without samples.
func (t *table) plot() []byte {
	var b strings.Builder
	runs, high := t.courses, 44
	title, last := t.Title, 0.0
	if t.Profile != "" {
		title += "   profile: " + t.Profile
	}
	for _, r := range runs {
		last = max(last, extent(r.series.Column("time"))[1])
	}
	for _, p := range panels() {
		lines, bounds := make([][]float64, len(runs)), [2]float64{math.Inf(1), math.Inf(-1)}
		for i, r := range runs {
			lines[i] = p.values(r.series)
			e := extent(lines[i])
			bounds = [2]float64{min(bounds[0], e[0]), max(bounds[1], e[1])}
		}
		if bounds[0] > bounds[1] {
			continue
		}
		drawPanel(&b, p.title, high, bounds, last, runs, lines)
		high += panelHigh + panelGap
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, `<text x="16" y="%d">No run sampled temperature or memory.</text>`+"\n", high+8)
		high += 24
	}
	foot := t.Note
	switch {
	case len(runs) == plotRuns:
		foot = fmt.Sprintf("Each line is one of the first %d runs. %s", plotRuns, foot)
	case len(runs) > 1:
		foot = "Each line is a run. " + foot
	}
	if foot != "" {
		fmt.Fprintf(&b, `<text x="16" y="%d" class="note">%s</text>`+"\n", high, html.EscapeString(foot))
		high += 20
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12" fill="#222">
<style>.note{fill:#555;font-size:11px}.grid{stroke:#ccc}.line{fill:none;stroke:#1f5fa8;stroke-width:1.2;stroke-linejoin:round}</style>
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="16" y="22" font-weight="bold">%s</text>
%s</svg>
`, plotWide, high, html.EscapeString(title), b.String())
}

// drawPanel draws a panel from top downward.
func drawPanel(b *strings.Builder, title string, top int, bounds [2]float64, last float64, runs []course, lines [][]float64) {
	low, high := bounds[0], bounds[1]
	if high-low < 1 { // a constant line is in the middle
		low, high = low-0.5, high+0.5
	}
	fmt.Fprintf(b, `<text x="16" y="%d">%s</text>`+"\n", top+4, html.EscapeString(title))
	top += 12
	last = max(last, 1e-3)
	x := func(t float64) float64 { return plotLeft + t/last*(plotWide-plotLeft-plotRight) }
	y := func(v float64) float64 { return float64(top) + (high-v)/(high-low)*panelHigh }
	for i := range 3 {
		v := low + (high-low)*float64(i)/2
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1[3]f" class="grid"/><text x="%d" y="%.1f" text-anchor="end" class="note">%s</text>`+"\n",
			plotLeft, plotWide-plotRight, y(v), plotLeft-6, y(v)+4, short(v))
		at := last * float64(i) / 2
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="%s" class="note">%s s</text>`+"\n", x(at), top+panelHigh+14, [...]string{"start", "middle", "end"}[i], short(at))
	}
	for i, values := range lines {
		times := runs[i].series.Column("time")
		step := 1 + len(values)/min(plotOne, plotPoints/len(lines))
		var points []string
		for at := 0; at < len(values); at += step {
			if !math.IsNaN(times[at]) && !math.IsNaN(values[at]) {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(times[at]), y(values[at])))
			}
		}
		if len(points) == 1 {
			points = append(points, points[0])
		}
		fmt.Fprintf(b, `<polyline class="line" stroke-opacity="%.2f" points="%s"><title>%s</title></polyline>`+"\n", max(0.25, 1-0.1*float64(len(lines)-1)), strings.Join(points, " "), html.EscapeString(runs[i].name))
	}
}

// extent returns the smallest and the largest value.
func extent(values []float64) [2]float64 {
	e := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		if !math.IsNaN(v) {
			e = [2]float64{min(e[0], v), max(e[1], v)}
		}
	}
	return e
}
