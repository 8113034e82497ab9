package execute

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// cause is a typical reason why two runs differ, and what it looks like near the first difference.
type cause struct {
	pattern string
	hint    string
}

// A date needs more than digits to be one; a time in seconds has the ten digits of this decade and the next.
func typical() []cause {
	return []cause{
		{`\b(19|20)\d\d-[01]\d-[0-3]\d|\b[0-2]\d:[0-5]\d:[0-5]\d([.,]\d+)?\b|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-3]\d\b`,
			"a date or time of day: take it out, or set SOURCE_DATE_EPOCH in the step's env where the tool heeds it"},
		{`\b(1[7-9]|20)\d{8}([.]?\d{3,9})?\b`, "what looks like the time in seconds since 1970: take it out, or set SOURCE_DATE_EPOCH"},
		{`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, "a random identifier (UUID): give the tool a fixed one or a seed"},
		{`/tmp/[^\s"'\x00]*\.[A-Za-z0-9_]{6,}`, "the name of a temporary file"},
	}
}

// causes guesses from what is around the first difference of both files. A cause counts when both have it, with another
// text.
func causes(a, b []byte, roots string) []string {
	var hints []string
	if p := []byte(roots); len(p) > 1 && bytes.Contains(a, p) && bytes.Contains(b, p) {
		hints = append(hints, "the path of the exec root, which is another each time: have the tool write relative paths "+
			"(compilers: -ffile-prefix-map=$HEXMAGE_ROOT=.)")
	}
	for _, c := range typical() {
		re := regexp.MustCompile(c.pattern)
		x, y := re.FindAll(a, -1), re.FindAll(b, -1)
		if len(x) > 0 && len(y) > 0 && !slices.EqualFunc(x, y, bytes.Equal) {
			hints = append(hints, c.hint)
		}
	}
	if len(hints) == 0 && digitsOnly(a, b) {
		hints = append(hints, "only digits differ: a time, a process id, a counter or a random number")
	}
	return hints
}

// digitsOnly tells whether the two are the same once their numbers are taken out.
func digitsOnly(a, b []byte) bool {
	const digits = "0123456789"
	drop := func(r rune) rune {
		if strings.ContainsRune(digits, r) {
			return -1
		}
		return r
	}
	x, y := bytes.Map(drop, a), bytes.Map(drop, b)
	n := min(len(x), len(y)) // a window ends somewhere
	return len(x) < len(a) && len(a)-len(x) < 256 && n >= 0 && bytes.Equal(x[:n], y[:n]) && max(len(x), len(y))-n < 32
}

// maxSorted is the most lines of a file that are sorted to see whether only their order differs.
const maxSorted = 1_000_000

// orderHint tells when two texts have the same lines in another order.
func orderHint(a, b []byte) []string {
	if len(a) != len(b) || !isText(a) || bytes.Count(a, []byte("\n")) > maxSorted {
		return nil
	}
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	if len(x) != len(y) || len(x) < 3 {
		return nil
	}
	slices.SortFunc(x, bytes.Compare)
	slices.SortFunc(y, bytes.Compare)
	if !slices.EqualFunc(x, y, bytes.Equal) {
		return nil
	}
	return []string{fmt.Sprintf("the same %d lines in another order: sort them (folders list their files in any order)", len(x)-1)}
}
