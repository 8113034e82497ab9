// Package version orders versions of any form, such as 2.37.0.250724, r28b, 19.0.04 and v15. It accepts every text as a
// version, and does not know the products.
package version

import (
	"cmp"
	"strings"
)

// Compare compares two versions part by part. It compares numbers by value and letters alphabetically, so r28b comes
// after r27c, and 19.0.07 comes after 8.8.06. A version with fewer parts comes first, so 2.37 comes before
// 2.37.0.250724.
func Compare(a, b string) int {
	n, restA, restB := shared(a, b)
	return cmp.Or(n, cmp.Compare(len(restA), len(restB)))
}

// Older reports whether version a comes before version b. If a or b is unknown (""), Older returns false.
func Older(a, b string) bool { return a != "" && b != "" && Compare(a, b) < 0 }

// shared compares the parts that both versions have, and returns the rest of each. If the parts are equal, at least one
// rest is empty.
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
