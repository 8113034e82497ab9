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

// area is a few lines at the bottom of a terminal that are kept up to date: what runs now, how far it is. Finished
// steps scroll away above them.
type area struct {
	width int // columns
	drawn int // lines now on the screen
	start time.Time
	left  func() (time.Duration, bool) // nil: nobody knows
}

// maxLive is how many running actions are shown; more than a few would hide the finished ones.
const maxLive = 6

// maxBeat is how many of them the line after a silence names.
const maxBeat = 2

// erase returns what removes the lines on the screen.
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

// bar draws how much is done, before the name, so that a narrow screen cuts the name and not the bar; "" if it is not
// known of how much.
func bar(done, total int64) string {
	if total <= 0 {
		return ""
	}
	const wide = 10
	full := int(wide * min(1, max(0, float64(done)/float64(total))))
	return strings.Repeat("━", full) + strings.Repeat("─", wide-full) + "  "
}

// beat returns a line that says what runs and how far all is, "" if nothing runs.
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

// about rounds a time to what a guess deserves.
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

// String is what a live line says of a running action.
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

// cut makes a line that takes one row of the terminal: one that wraps could not be erased. The last column stays
// free, as some terminals wrap when it is written to. A character may be two columns wide.
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

// wide is how many columns a character takes, at most.
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

// plain replaces what a terminal would not print but obey.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return '·'
		}
		return r
	}, s)
}
