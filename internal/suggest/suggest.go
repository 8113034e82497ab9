// Package suggest finds the known name that is most similar to a misspelled name, for messages such as "did you mean".
// It does not know the meaning of names.
package suggest

import (
	"strings"
	"unicode/utf8"
)

// maxLen is the length in bytes of the longest name that Name compares. The comparison takes quadratic time.
const maxLen = 200

// Name returns the candidate with the smallest edit distance to name, ignoring case. If several candidates have that
// distance, Name returns the first of them. If more than a third of the letters differ, it returns "".
func Name(name string, candidates []string) string {
	best, bestDist := "", 1<<30
	for _, c := range candidates {
		if len(name) > maxLen || len(c) > maxLen {
			continue
		}
		longest := max(utf8.RuneCountInString(name), utf8.RuneCountInString(c))
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDist && d*3 <= longest {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the number of runes to insert, delete, replace or swap with their neighbor (Damerau's, without
// overlapping swaps).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		cur[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(t)]
}
