package toolchains

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/qnn"
)

// PushSet is a set of files of a toolchain that a device needs together.
type PushSet struct {
	Name    string            `hcl:"name,label"`
	ForEach string            `hcl:"for_each,optional"` // "arch": a set for each Hexagon arch of the release; "": one set
	Files   map[string]string `hcl:"files"`             // name on the device → path below the root; in both {arch} is the arch's number
}

const (
	archHole = "{arch}" // as in layouts
	perArch  = "arch"
)

// For returns the set for an arch, "" for a set that is not of one.
func (s *PushSet) For(arch string) map[string]string {
	hole := strings.NewReplacer(archHole, strings.TrimPrefix(arch, "v"))
	out := make(map[string]string, len(s.Files))
	for name, from := range s.Files {
		out[hole.Replace(name)] = hole.Replace(from)
	}
	return out
}

// PerArch tells whether there is a set for each arch.
func (s *PushSet) PerArch() bool { return s.ForEach == perArch }

// check says what is wrong with the block, "" when nothing is.
func (s *PushSet) check() string {
	switch {
	case !hclsyntax.ValidIdentifier(s.Name):
		return "its name is no word that can stand in toolchain.NAME.SET"
	case slices.Contains([]string{"arches", "build_id", "dir", "source", "simulated", "tools_version", "version"}, s.Name):
		return "that is something else that toolchain.NAME has: choose another name"
	case s.ForEach != "" && s.ForEach != perArch:
		return `for_each is "` + s.ForEach + `": it can be "arch", or left out`
	}
	for name, from := range s.Files {
		switch {
		case s.ForEach == "" && strings.Contains(name+from, archHole):
			return name + ": {arch} needs for_each = \"arch\""
		case from == "" || path.IsAbs(from) || path.Clean(from) != from || strings.HasPrefix(from, ".."):
			return name + `: "` + from + `" is no path below the toolchain's root`
		}
	}
	return ""
}

// PushArches are the archs that a release has push sets for: those with an HTP that nobody knows it to lack. That it lacks one may be
// inferred only: then the rules of what goes together warn.
func (c *Catalogue) PushArches(t *Toolchain, r *Release) (arches []string) {
	for _, a := range c.Arches {
		if slices.Contains(r.Arches, a.Name) || a.HasHTP() && c.Without(t.Known(r.Release), a.Name).Confidence == qnn.Inferred {
			arches = append(arches, a.Name)
		}
	}
	return arches
}
