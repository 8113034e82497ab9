package pypi

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// wheelRE matches project, version and tags of a wheel's file name, by PEP 427. A build number is not part of the tags.
var wheelRE = lazyregexp.New(`^([A-Za-z0-9][A-Za-z0-9._]*)-([0-9A-Za-z][0-9A-Za-z.!+_]*)(?:-\d{1,9}[A-Za-z0-9_.]*)?` +
	`-([a-z0-9_.]+-[a-z0-9_.]+-[A-Za-z0-9_.]+)\.whl$`)

// parseName returns the normalized project, the version and the tags of a wheel's file name.
func parseName(file string) (project, version, tags string, ok bool) {
	m := wheelRE.FindStringSubmatch(file)
	if m == nil || len(file) > 300 || strings.Contains(file, "..") {
		return "", "", "", false
	}
	return Normalize(m[1]), m[2], m[3], true
}

// ParseFile parses a wheel's file name. It normalizes the project name.
func ParseFile(name string) (Wheel, error) {
	project, version, _, ok := parseName(name)
	if !ok {
		return Wheel{}, fmt.Errorf("invalid wheel file name %.200q", name)
	}
	w := Wheel{Project: project, Version: version, File: name}
	return w, w.Check()
}

var separators = lazyregexp.New(`[-_.]+`)

// Normalize returns the normalized name of a project: lower case, with "-" between words.
func Normalize(name string) string {
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

// sameVersion compares versions as file names spell them: 1.0 and 1.0.0 are equal.
func sameVersion(a, b string) bool {
	plain := func(v string) string {
		v, local, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(v, "v")), "+")
		for strings.HasSuffix(v, ".0") {
			v = strings.TrimSuffix(v, ".0")
		}
		return v + "+" + separators.ReplaceAllString(local, ".")
	}
	return plain(a) == plain(b)
}
