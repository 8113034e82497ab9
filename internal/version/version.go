// Package version orders versions of any shape: 2.37.0.250724, r28b, 19.0.04, v15. One enters it with Compare. It
// does not know whose versions they are, nor what a valid one is: every text has its place.
package version

import (
	"cmp"
	"strings"
)

// Compare compares two versions part by part: numbers as numbers, letters as letters, so that r28b comes after r27c
// and 19.0.07 after 8.8.06. What is missing comes first: 2.37 is before 2.37.0.250724.
func Compare(a, b string) int {
	n, restA, restB := shared(a, b)
	return cmp.Or(n, cmp.Compare(len(restA), len(restB)))
}

// Older tells whether version a comes before b. A version that is not known ("") is neither older nor newer.
func Older(a, b string) bool { return a != "" && b != "" && Compare(a, b) < 0 }

// shared compares the parts that both have, and returns what is left of each: at least one has nothing left when they
// are equal.
func shared(a, b string) (n int, restA, restB string) {
	a, b = skip(strings.ToLower(a)), skip(strings.ToLower(b))
	for a != "" && b != "" {
		x, y := a[:run(a)], b[:run(b)]
		a, b = skip(a[len(x):]), skip(b[len(y):])
		if digit(x[0]) && digit(y[0]) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			n = cmp.Compare(len(x), len(y))
		}
		if n = cmp.Or(n, strings.Compare(x, y)); n != 0 {
			break
		}
	}
	return n, a, b
}

// skip drops what stands before the next part.
func skip(v string) string {
	return strings.TrimLeftFunc(v, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') })
}

// run is the length of the first part, a run of digits or of letters.
func run(v string) int {
	n := 1
	for n < len(v) && digit(v[n]) == digit(v[0]) && (digit(v[n]) || v[n] >= 'a' && v[n] <= 'z') {
		n++
	}
	return n
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
