package qnn

import (
	"regexp"
	"strings"
)

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
