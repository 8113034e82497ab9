package oppackage

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Extra are flags of a package's own, for some of its targets and sources. They come after the table's.
type Extra struct {
	Targets   []string `arg:"targets" json:"targets,omitempty"`       // none: all
	Sources   []string `arg:"sources" json:"sources,omitempty"`       // slash paths in the package, as path.Match patterns; none: all
	Includes  []string `arg:"includes" json:"includes,omitempty"`     // folders, relative to the package; those below Rooted are taken as they are
	Defines   []string `arg:"defines" json:"defines,omitempty"`       // NAME or NAME=VALUE
	Flags     []string `arg:"flags" json:"flags,omitempty"`           // of the compiler
	LinkFlags []string `arg:"link_flags" json:"link_flags,omitempty"` // after the objects; Sources does not matter

	// Rooted are folders, from where the compiler runs, that are not the package's: outputs of other steps.
	Rooted []string `json:"rooted,omitempty"`
}

func (e Extra) hasTarget(target string) bool {
	return len(e.Targets) == 0 || slices.Contains(e.Targets, target)
}

func (e Extra) matches(src string) bool {
	return slices.ContainsFunc(e.Sources, func(pattern string) bool {
		ok, err := path.Match(pattern, src)
		return err == nil && ok
	})
}

// flags spells the extra for the compiler.
func (e Extra) flags(dir string) []string {
	var out []string
	for _, i := range e.Includes {
		rooted := slices.ContainsFunc(e.Rooted, func(r string) bool { return i == r || strings.HasPrefix(i, r+"/") })
		if !rooted {
			i = path.Join(dir, i)
		}
		out = append(out, "-I"+i)
	}
	for _, d := range e.Defines {
		out = append(out, "-D"+d)
	}
	return append(out, e.Flags...)
}

// extraFlags are the package's own flags for a source: those for all sources first, so that one source's can take them back.
func (p Package) extraFlags(target, src string) []string {
	var all, own []string
	for _, e := range p.Extras {
		switch {
		case !e.hasTarget(target):
		case len(e.Sources) == 0:
			all = append(all, e.flags(p.Dir)...)
		case e.matches(src):
			own = append(own, e.flags(p.Dir)...)
		}
	}
	return append(all, own...)
}

// Exact returns the package's extras with patterns replaced by the sources that they match: what whoever does not know the
// files needs.
func (p Package) Exact() []Extra {
	out := slices.Clone(p.Extras)
	for i, e := range out {
		if len(e.Sources) > 0 {
			out[i].Sources = slices.DeleteFunc(slices.Clone(p.Files), func(f string) bool { return !e.matches(f) })
			slices.Sort(out[i].Sources)
		}
	}
	return out
}

func (p Package) linkFlags(target string) []string {
	var out []string
	for _, e := range p.Extras {
		if e.hasTarget(target) {
			out = append(out, e.LinkFlags...)
		}
	}
	return out
}

// validateExtras says what would be silently without effect, or mean something else than it says.
func (p Package) validateExtras() error {
	for _, e := range p.Extras {
		if err := e.Validate(); err != nil {
			return fmt.Errorf("op package %s: %w", p.Name, err)
		}
		for _, pattern := range e.Sources {
			alone := Extra{Sources: []string{pattern}}
			if !slices.ContainsFunc(p.Files, alone.matches) {
				return fmt.Errorf("op package %s: flags for %s, but the package has no such source", p.Name, pattern)
			}
		}
	}
	return nil
}

// Validate checks what can be checked without the package's files and the table of targets.
func (e Extra) Validate() error {
	for _, s := range e.Sources {
		if _, err := path.Match(s, ""); err != nil {
			return fmt.Errorf("source %q is no path and no pattern: %w", s, err)
		}
	}
	for _, d := range e.Defines {
		if name, _, _ := strings.Cut(d, "="); !packageName.MatchString(name) {
			return fmt.Errorf("define %q is not NAME or NAME=VALUE", d)
		}
	}
	for _, i := range e.Includes {
		if path.IsAbs(i) || i == ".." || strings.HasPrefix(path.Clean(i), "../") {
			return fmt.Errorf("include folder %q is not below the package: take an output of a step, or a folder of the package", i)
		}
	}
	for _, f := range slices.Concat(e.Includes, e.Defines, e.Flags, e.LinkFlags) {
		if strings.ContainsAny(f, "\n\r\x00") || f == "" {
			return fmt.Errorf("%q is not one flag", f)
		}
	}
	return nil
}
