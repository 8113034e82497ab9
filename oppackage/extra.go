package oppackage

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Extra adds flags for some targets and sources of a package. They follow all other flags.
type Extra struct {
	Targets   []string `arg:"targets" json:"targets,omitempty"`       // empty for all
	Sources   []string `arg:"sources" json:"sources,omitempty"`       // slash paths in the package or path.Match patterns; empty for all
	Includes  []string `arg:"includes" json:"includes,omitempty"`     // folders in the package or below Rooted
	Defines   []string `arg:"defines" json:"defines,omitempty"`       // NAME or NAME=VALUE
	Flags     []string `arg:"flags" json:"flags,omitempty"`           // compiler flags
	LinkFlags []string `arg:"link_flags" json:"link_flags,omitempty"` // flags after the objects, whatever Sources is

	// Rooted lists outputs of other steps: folders outside the package, relative to the compiler's working directory.
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

// flags returns the compiler flags of the extra.
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

// extraFlags returns the package's own flags for a source. Flags for all sources come first, so that those for one
// source override them.
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

// Exact returns the package's extras with file names instead of patterns, for callers that do not have the files.
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

// validateExtras rejects flags that have no effect or an unintended one.
func (p Package) validateExtras() error {
	for _, e := range p.Extras {
		if err := e.Validate(); err != nil {
			return fmt.Errorf("op package %s: %w", p.Name, err)
		}
		for _, pattern := range e.Sources {
			alone := Extra{Sources: []string{pattern}}
			if !slices.ContainsFunc(p.Files, alone.matches) {
				return fmt.Errorf("op package %s: no source matches %s: correct `sources` in the package's flags", p.Name, pattern)
			}
		}
	}
	return nil
}

// Validate checks the extra itself. It does not check whether targets and sources exist.
func (e Extra) Validate() error {
	for _, s := range e.Sources {
		if _, err := path.Match(s, ""); err != nil {
			return fmt.Errorf("source %q: invalid path pattern: %w", s, err)
		}
	}
	for _, d := range e.Defines {
		if name, _, _ := strings.Cut(d, "="); !packageName.MatchString(name) {
			return fmt.Errorf("define %q: invalid format: use NAME or NAME=VALUE", d)
		}
	}
	for _, i := range e.Includes {
		if path.IsAbs(i) || i == ".." || strings.HasPrefix(path.Clean(i), "../") {
			return fmt.Errorf("include folder %q: outside the package: use a folder of the package or an output of a step", i)
		}
	}
	for _, f := range slices.Concat(e.Includes, e.Defines, e.Flags, e.LinkFlags) {
		if strings.ContainsAny(f, "\n\r\x00") || f == "" {
			return fmt.Errorf("flag %q is empty or contains a line break: pass a single flag", f)
		}
	}
	return nil
}
