package toolchains

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/qnn"
)

// PushSet is a set of toolchain files that a device needs together.
type PushSet struct {
	Name    string            `hcl:"name,label"`
	ForEach string            `hcl:"for_each,optional"` // "arch": one set per Hexagon arch of the release; "": one set
	Files   map[string]string `hcl:"files"`             // name on the device → path below the root; {arch} in either is the arch's number
}

const (
	archHole = "{arch}" // spelled as in layouts
	perArch  = "arch"
)

// For returns the set's files for an arch: name on the device → path in the toolchain. If PerArch is false, pass "".
func (s *PushSet) For(arch string) map[string]string {
	hole := strings.NewReplacer(archHole, strings.TrimPrefix(arch, "v"))
	out := make(map[string]string, len(s.Files))
	for name, from := range s.Files {
		out[hole.Replace(name)] = hole.Replace(from)
	}
	return out
}

// PerArch reports whether each arch has a separate set.
func (s *PushSet) PerArch() bool { return s.ForEach == perArch }

// check returns the problem with the block, or "".
func (s *PushSet) check() string {
	switch {
	case !hclsyntax.ValidIdentifier(s.Name):
		return "invalid name; use letters, digits, - and _"
	case slices.Contains([]string{"arches", "build_id", "dir", "source", "simulated", "tools_version", "version"}, s.Name):
		return "toolchain.NAME already has an attribute of this name; choose another name"
	case s.ForEach != "" && s.ForEach != perArch:
		return `invalid for_each "` + s.ForEach + `": use "arch", or remove it`
	}
	for name, from := range s.Files {
		switch {
		case s.ForEach == "" && strings.Contains(name+from, archHole):
			return name + ": {arch} needs for_each = \"arch\""
		case from == "" || path.IsAbs(from) || path.Clean(from) != from || strings.HasPrefix(from, ".."):
			return name + `: invalid path "` + from + `": use a path below the toolchain's root`
		}
	}
	return ""
}

// PushArches returns the archs for which the toolchain has push sets. It includes archs that the release may not
// support: the compatibility rules then warn.
func (c *Catalog) PushArches(t *Toolchain, r *Release) (arches []string) {
	for _, a := range c.Arches {
		if slices.Contains(r.Arches, a.Name) || a.HasHTP() && c.Without(t.Known(r.Release), a.Name).Confidence == qnn.Inferred {
			arches = append(arches, a.Name)
		}
	}
	return arches
}
