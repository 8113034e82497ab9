package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/bytesize"
)

// area is a few lines at the bottom of a terminal that show the running actions and the progress. Finished steps scroll
// away above them.
type area struct {
	width int // columns
	drawn int // number of lines on the screen
	start time.Time
	left  func() (time.Duration, bool) // nil if no estimate exists
}

// maxLive is the maximum number of running actions shown; more would hide the finished steps.
const maxLive = 6

// maxBeat is the maximum number of running actions in the line after a silence.
const maxBeat = 2

// erase returns the control sequence that removes the lines from the screen.
func (a *area) erase() string {
	s := strings.Repeat("\x1b[1A\x1b[2K", a.drawn)
	a.drawn = 0
	return s
}

// draw returns the lines to show now.
func (a *area) draw(s *steps, now time.Time) string {
	rows := a.rows(s, now)
	a.drawn = len(rows)
	if len(rows) == 0 {
		return ""
	}
	return strings.Join(rows, "\n") + "\n"
}

func (a *area) rows(s *steps, now time.Time) []string {
	if len(s.running) == 0 {
		return nil
	}
	var rows []string
	for i, id := range slices.Sorted(maps.Keys(s.running)) {
		if i == maxLive {
			rows = append(rows, a.cut(fmt.Sprintf("  … and %d more", len(s.running)-maxLive)))
			break
		}
		r := s.running[id]
		rows = append(rows, a.cut(fmt.Sprintf("  %5.1fs   %s%s", now.Sub(r.start).Seconds(), bar(r.done, r.total), r)))
	}
	last := fmt.Sprintf("  %s of %s, %.0f s", thousands(s.ended), Count(s.total, "action"), now.Sub(a.start).Seconds())
	if a.left != nil {
		if left, ok := a.left(); ok {
			last += " · about " + about(left) + " left"
		}
	}
	return append(rows, a.cut(last))
}

// bar draws the progress, or returns "" if the total is unknown. It comes before the name, so that a narrow screen cuts
// the name and not the bar.
func bar(done, total int64) string {
	if total <= 0 {
		return ""
	}
	const wide = 10
	full := int(wide * min(1, max(0, float64(done)/float64(total))))
	return strings.Repeat("━", full) + strings.Repeat("─", wide-full) + "  "
}

// beat returns a line with the running actions and the progress, or "" if nothing runs.
func beat(s *steps, start, now time.Time) string {
	if len(s.running) == 0 {
		return ""
	}
	var running []string
	for i, id := range slices.Sorted(maps.Keys(s.running)) {
		if i == maxBeat {
			running = append(running, fmt.Sprintf("%d more", len(s.running)-maxBeat))
			break
		}
		r := s.running[id]
		running = append(running, fmt.Sprintf("%s, %s", plain(r.String()), Seconds(now.Sub(r.start))))
	}
	return fmt.Sprintf("  … after %s %s of %s; running: %s\n", Seconds(now.Sub(start)), thousands(s.ended),
		Count(s.total, "action"), strings.Join(running, "; "))
}

// about rounds an estimated time to its likely precision.
func about(d time.Duration) string {
	s := int(d.Seconds() + 0.5)
	switch {
	case s < 1:
		return "1 s"
	case s < 20:
		return fmt.Sprintf("%d s", s)
	case s < 120:
		return fmt.Sprintf("%d s", (s+2)/5*5)
	case s < 120*60:
		return fmt.Sprintf("%d min", (s+30)/60)
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// String describes a running action in a live line.
func (r *activity) String() string {
	text := r.step
	if r.text != "" {
		text += "  " + r.text
	}
	if r.total > 0 {
		text += fmt.Sprintf("  %d%%  %s of %s", int(100*float64(r.done)/float64(r.total)), bytesize.Binary(r.done),
			bytesize.Binary(r.total))
	}
	if r.progress != "" {
		text += "  " + r.progress
	}
	return text
}

// cut shortens a line to one row of the terminal, because a wrapped line cannot be erased. It leaves the last column
// free, because some terminals wrap after it. A character may take two columns.
func (a *area) cut(s string) string {
	s = plain(s)
	room := a.width - 1
	if columns(s) <= room {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if room -= wide(r); room < 1 {
			break
		}
		b.WriteRune(r)
	}
	if a.width > 1 {
		b.WriteString("…")
	}
	return b.String()
}

func columns(s string) int {
	n := 0
	for _, r := range s {
		n += wide(r)
	}
	return n
}

// wide returns the maximum number of columns of a character.
func wide(r rune) int {
	if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 ||
		r >= 0x1f300 && r <= 0x1faff ||
		r >= 0x20000 && r <= 0x3fffd) {
		return 2
	}
	return 1
}

// plain replaces characters that a terminal would interpret.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return '·'
		}
		return r
	}, s)
}
