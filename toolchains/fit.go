package toolchains

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Fit says what does not fit between a release and a target: texts for people, none when all is well. soc and arch may be
// "".
func (c *Catalogue) Fit(t *Toolchain, r *Release, soc, arch string) []string {
	var out []string
	if arch != "" && len(r.Arches) > 0 && !slices.Contains(r.Arches, arch) {
		text := fmt.Sprintf("%s %s has %s and not %s, which the target needs", t.Name, r.Version, strings.Join(r.Arches, ", "), arch)
		if first := t.firstWith(arch); first != "" {
			text += "; the first release of the catalogue with it is " + first
		}
		out = append(out, text)
	}
	if t.Name != "qairt" || soc == "" {
		return out
	}
	s, err := c.FindSoC(soc)
	if err != nil || s.MinSDK == "" || compareVersions(r.Version, s.MinSDK) >= 0 {
		return out
	}
	return append(out, fmt.Sprintf("QAIRT %s does not know %s (%s): on the phone it fails with \"SoC model is unknown\"; the first SDK said to know it is %s",
		r.Version, s.Name, s.Marketing, s.MinSDK))
}

func (t *Toolchain) firstWith(arch string) string {
	best := ""
	for _, r := range t.Releases {
		if slices.Contains(r.Arches, arch) && (best == "" || compareVersions(r.Version, best) < 0) {
			best = r.Version
		}
	}
	return best
}

// compareVersions compares dotted numbers; what is missing counts as zero.
func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		var x, y int
		if i < len(as) {
			x, _ = strconv.Atoi(as[i])
		}
		if i < len(bs) {
			y, _ = strconv.Atoi(bs[i])
		}
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return 0
}
