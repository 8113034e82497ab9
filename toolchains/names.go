package toolchains

import (
	"strings"

	"github.com/hexmage/hexmage/internal/nearest"
)

// didYouMean returns ` (did you mean "x"?)` for the name in have that is nearest to name, "" when none is near. The last
// of those that name is the beginning of is nearest: "2.41" is the beginning of one release.
func didYouMean(name string, have []string) string {
	near := nearest.Name(name, have)
	for _, h := range have {
		if name != "" && strings.HasPrefix(h, name+".") {
			near = h
		}
	}
	if near == "" {
		return ""
	}
	return ` (did you mean "` + near + `"?)`
}
