package compat

import (
	"regexp"
	"strings"
)

// Compare compares two versions part by part: numbers as numbers, letters as letters, so that r28b comes after r27c and 19.0.07
// after 8.8.06. What is missing comes first: 2.37 is before 2.37.0.250724.
func Compare(a, b string) int {
	as, bs := parts(a), parts(b)
	for i := range max(len(as), len(bs)) {
		switch {
		case i >= len(as):
			return -1
		case i >= len(bs):
			return 1
		}
		x, y := as[i], bs[i]
		if number(x) && number(y) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(x) != len(y) {
				return sign(len(x) - len(y))
			}
		}
		if x != y {
			return sign(strings.Compare(x, y))
		}
	}
	return 0
}

// Older tells whether version a comes before b. A version that is not known ("") is neither older nor newer.
func Older(a, b string) bool { return a != "" && b != "" && Compare(a, b) < 0 }

// parts cuts a version into its runs of digits and of letters.
func parts(v string) []string {
	return regexp.MustCompile(`[0-9]+|[a-z]+`).FindAllString(strings.ToLower(v), -1)
}

func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// SDKVersion returns the version in a build id: "2.41.0" of "v2.41.0.251128145156_191518"; "" when it is none.
func SDKVersion(buildID string) string {
	if m := regexp.MustCompile(`^v?(\d+\.\d+\.\d+)\.\d{6}`).FindStringSubmatch(buildID); m != nil {
		return m[1]
	}
	return ""
}

// SameBuild tells whether two build ids can be of one SDK. Either may be cut short, as the name of an archive is: it knows the
// day of a build and not its minute.
func SameBuild(a, b string) bool {
	a, b = strings.TrimPrefix(a, "v"), strings.TrimPrefix(b, "v")
	a, _, _ = strings.Cut(a, "_")
	b, _, _ = strings.Cut(b, "_")
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}
