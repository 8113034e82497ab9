// Package maven knows the layout of Maven repositories. It converts an artifact's coordinates to an address, and reads
// from the machine's configuration which repositories to use.
//
// It does not ask a server, and rejects versions whose file may change, such as snapshots, ranges and "LATEST". It does
// not choose a repository or verify files.
package maven

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Coordinates identifies one artifact.
type Coordinates struct {
	Group      string `json:"group"`
	Artifact   string `json:"artifact"`
	Version    string `json:"version"`
	Classifier string `json:"classifier,omitempty"` // "": none
	Extension  string `json:"extension"`            // "aar", "jar"
}

// word matches a valid part. "${…}" is a placeholder for a later value.
var word = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

var placeholder = lazyregexp.New(`\$\{[a-z_]+\}`)

// Parse parses GROUP:ARTIFACT:VERSION[:CLASSIFIER][@EXTENSION]. The default extension is aar.
func Parse(text string) (Coordinates, error) {
	fail := func(why string) (Coordinates, error) {
		return Coordinates{}, fmt.Errorf("invalid Maven coordinates %q (%s); write "+
			"group:artifact:version[:classifier][@aar]", text, why)
	}
	rest, ext, said := strings.Cut(text, "@")
	if !said {
		ext = "aar"
	}
	parts := strings.Split(rest, ":")
	if len(parts) < 3 || len(parts) > 4 {
		return fail("expected three or four parts")
	}
	for _, p := range append(parts[:len(parts):len(parts)], ext) {
		if !word.MatchString(placeholder.ReplaceAllString(p, "0")) || strings.Contains(p, "..") {
			return fail(fmt.Sprintf("invalid part %q", p))
		}
	}
	c := Coordinates{Group: parts[0], Artifact: parts[1], Version: parts[2], Extension: ext}
	if len(parts) == 4 {
		c.Classifier = parts[3]
	}
	switch v := strings.ToUpper(c.Version); {
	case strings.HasSuffix(v, "-SNAPSHOT"), v == "LATEST", v == "RELEASE", strings.HasSuffix(v, "+"):
		return fail("a snapshot can change")
	}
	return c, nil
}

// URL returns the artifact's address in the repository with the root address repo.
func (c Coordinates) URL(repo string) string {
	return strings.Join([]string{strings.TrimSuffix(repo, "/"), strings.ReplaceAll(c.Group, ".", "/"), c.Artifact, c.Version, c.File()}, "/")
}

// File returns the artifact's file name.
func (c Coordinates) File() string {
	file := c.Artifact + "-" + c.Version
	if c.Classifier != "" {
		file += "-" + c.Classifier
	}
	return file + "." + c.Extension
}

// URLs returns the artifact's address in each repository.
func (c Coordinates) URLs(repos []string) []string {
	urls := make([]string, len(repos))
	for i, r := range repos {
		urls[i] = c.URL(r)
	}
	return urls
}

// Sidecars returns the suffixes of the digest files beside an artifact, the strongest digest first.
func Sidecars() []string { return []string{".sha256", ".sha1", ".md5"} }
