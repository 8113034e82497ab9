package toolchains

import "strings"

// didYouMean returns ` (did you mean "x"?)` for the name in have that is nearest to name, "" when none is near. The last
// of those that name is the beginning of is nearest.
func didYouMean(name string, have []string) string {
	best, cost := "", 3+len(name)/6
	for _, h := range have { // "2.41" is the beginning of one release
		if name != "" && strings.HasPrefix(h, name+".") {
			best, cost = h, 0
		}
	}
	for _, h := range have {
		if d := distance(strings.ToLower(name), strings.ToLower(h)); d < cost {
			best, cost = h, d
		}
	}
	if best == "" {
		return ""
	}
	return ` (did you mean "` + best + `"?)`
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
