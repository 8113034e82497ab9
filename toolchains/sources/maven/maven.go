// Package maven knows how a Maven repository is laid out: which address an artifact has, by its coordinates, and which repositories the machine's own
// configuration names.
//
// It asks no server. A version that names another file tomorrow (a snapshot, a range, "LATEST") is refused. Which
// repository to ask, and whether what comes is the right file, is not its business.
package maven

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Coordinates name one artifact.
type Coordinates struct {
	Group      string `json:"group"`
	Artifact   string `json:"artifact"`
	Version    string `json:"version"`
	Classifier string `json:"classifier,omitempty"` // "" is none
	Extension  string `json:"extension"`            // "aar", "jar"
}

// word is what a part may be; "${…}" is a placeholder that is filled in later.
var word = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

var placeholder = lazyregexp.New(`\$\{[a-z_]+\}`)

// Parse reads GROUP:ARTIFACT:VERSION[:CLASSIFIER][@EXTENSION]. The extension is aar when it is not said.
func Parse(text string) (Coordinates, error) {
	fail := func(why string) (Coordinates, error) {
		return Coordinates{}, fmt.Errorf("no Maven coordinates: %q: %s; "+
			"the form is group:artifact:version[:classifier][@aar]", text, why)
	}
	rest, ext, said := strings.Cut(text, "@")
	if !said {
		ext = "aar"
	}
	parts := strings.Split(rest, ":")
	if len(parts) < 3 || len(parts) > 4 {
		return fail("want three or four parts")
	}
	for _, p := range append(parts[:len(parts):len(parts)], ext) {
		if !word.MatchString(placeholder.ReplaceAllString(p, "0")) || strings.Contains(p, "..") {
			return fail(fmt.Sprintf("%q can be no part of it", p))
		}
	}
	c := Coordinates{Group: parts[0], Artifact: parts[1], Version: parts[2], Extension: ext}
	if len(parts) == 4 {
		c.Classifier = parts[3]
	}
	switch v := strings.ToUpper(c.Version); {
	case strings.HasSuffix(v, "-SNAPSHOT"), v == "LATEST", v == "RELEASE", strings.HasSuffix(v, "+"):
		return fail("its version is another file tomorrow: name a release")
	}
	return c, nil
}

// URL is the artifact's address in the repository whose root is repo.
func (c Coordinates) URL(repo string) string {
	return strings.Join([]string{strings.TrimSuffix(repo, "/"), strings.ReplaceAll(c.Group, ".", "/"), c.Artifact, c.Version, c.File()}, "/")
}

// File is the artifact's name.
func (c Coordinates) File() string {
	file := c.Artifact + "-" + c.Version
	if c.Classifier != "" {
		file += "-" + c.Classifier
	}
	return file + "." + c.Extension
}

// URLs is URL for each repository.
func (c Coordinates) URLs(repos []string) []string {
	urls := make([]string, len(repos))
	for i, r := range repos {
		urls[i] = c.URL(r)
	}
	return urls
}

// Sidecars are what a repository puts after an artifact's address for a file with its digest, the strongest first.
func Sidecars() []string { return []string{".sha512", ".sha256", ".sha1", ".md5"} }
