package toolchains

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// InstalledCandidate is an SDK that may be installed on a machine.
type InstalledCandidate struct {
	Path      string    // where it is looked for
	Variables []string  // that name it; none for a place where copies are usual
	Found     Installed // what it says it is
	Err       error     // why it is none
}

// Name is how people know the copy: by the variables that name it, or by its path.
func (c InstalledCandidate) Name() string {
	if len(c.Variables) == 0 {
		return c.Path
	}
	return strings.Join(c.Variables, "=") + "=" + c.Path
}

// Copies looks for copies of the toolchain: at each place that a variable of its installed source names, set or not a folder,
// and at those of the usual places for the release where there is a folder. Variables that lead to one folder make one InstalledCandidate.
func (t *Toolchain) Copies(r *Release, m Machine) []InstalledCandidate {
	s := r.Source("installed")
	if s == nil {
		return nil
	}
	var out []InstalledCandidate
	at := map[string]int{} // by where the path leads to
	for _, c := range s.candidates(r, m) {
		m.looksAt(c.path)
		for _, name := range sdk.FileNames() {
			m.looksAt(filepath.Join(c.path, name))
		}
		real, err := filepath.EvalSymlinks(c.path)
		if err != nil {
			real = c.path
		}
		if i, ok := at[real]; ok {
			if c.variable != "" {
				out[i].Variables = append(out[i].Variables, c.variable)
			}
			continue
		}
		found := InstalledCandidate{Path: c.path}
		if c.variable != "" {
			found.Variables = []string{c.variable}
		}
		if info, err := os.Stat(c.path); err != nil || !info.IsDir() {
			if c.variable == "" && !s.Named {
				continue
			}
			found.Err = fmt.Errorf("%s is no folder", found.Name())
			if c.variable == "" {
				found.Err = fmt.Errorf("%w: correct the path", found.Err)
			}
		} else if found.Found, err = sdk.Identify(c.path); err != nil {
			found.Err = err
			if c.variable != "" {
				found.Err = fmt.Errorf("%s: %w", c.variable, err)
			}
		}
		at[real] = len(out)
		out = append(out, found)
	}
	return out
}

// is tells whether the copy is the release.
func (c InstalledCandidate) is(t *Toolchain, r *Release) bool {
	return c.Err == nil && c.Found.Name == t.Name && (c.Found.Version == r.Version || c.Found.Version == r.Revision)
}

// called is what people call the copy's release: the NDK's own files say another name than its downloads have.
func (t *Toolchain) called(c InstalledCandidate) string {
	for _, r := range t.Releases {
		if c.is(t, r) && r.Version != c.Found.Version {
			return fmt.Sprintf("%s %s (%s)", c.Found.Name, r.Version, c.Found.Version)
		}
	}
	return c.Found.Name + " " + c.Found.Version
}

// installed takes an installed copy: programs in PATH, or the SDK of the release that is asked for.
func (ch *Choice) installed(q Request, spec sources.Spec) (bool, string, error) {
	t, r, s := ch.Toolchain, ch.Release, ch.Source
	if len(s.Programs) > 0 {
		return ch.programs(q, spec)
	}
	copies := t.Copies(r, q.Machine)
	var tried []string
	if i := slices.IndexFunc(copies, func(c InstalledCandidate) bool { return c.is(t, r) && (q.simulated() || !c.Found.Simulated) }); i >= 0 {
		c := copies[i]
		spec.Kind, spec.File = sources.KindCheck, c.Path
		ch.Spec, ch.Host, ch.Found = spec, c.Path, c.Found
		return true, "", nil
	}
	for _, c := range copies {
		switch {
		case c.Err != nil:
			tried = append(tried, c.Err.Error())
		case c.Found.Simulated && !q.simulated():
			tried = append(tried, fmt.Sprintf("%s is hexmage's simulated %s, which profile %s refuses: set the variable to the vendor's, or unset it", c.Name(), t.called(c), q.Profile))
		case c.Found.Name != t.Name:
			tried = append(tried, fmt.Sprintf("%s has %s, wanted is %s %s", c.Name(), t.called(c), t.Name, r.Version))
		default:
			tried = append(tried, fmt.Sprintf("%s has %s, wanted is %s %s (to use it, write version = %q in the toolchain block)",
				c.Name(), t.called(c), t.Name, r.Version, t.versionOf(c)))
		}
	}
	if len(tried) == 0 {
		return false, "", nil
	}
	return false, "installed copies: " + strings.Join(tried, ", "), nil
}

// versionOf is the version by which the catalogue, or at least the copy, knows what it is.
func (t *Toolchain) versionOf(c InstalledCandidate) string {
	for _, r := range t.Releases {
		if c.is(t, r) {
			return r.Version
		}
	}
	return c.Found.Version
}

type candidate struct{ path, variable string }

func (s *Source) candidates(r *Release, m Machine) []candidate {
	var cs []candidate
	for _, v := range s.Env {
		dir := m.getenv(v)
		if dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			m.getenv("PWD") // which says where Dir is
			dir = filepath.Join(m.Dir, dir)
		}
		cs = append(cs, candidate{dir, v})
	}
	for _, p := range s.Paths {
		p = r.fill(p)
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			m.getenv("HOME") // what Home was taken from
			if m.Home == "" {
				continue
			}
			p = filepath.Join(m.Home, rest)
		}
		cs = append(cs, candidate{p, ""})
	}
	return cs
}

// Learn returns the catalogue with the release, where it does not have it and a copy that is installed says it is that one: at one of
// the paths, or without any where copies of the toolchain are looked for. It is checked for what holds for all releases.
func (c *Catalogue) Learn(name, version string, m Machine, paths ...string) *Catalogue {
	t := c.toolchain(name)
	if t == nil || version == "" || slices.ContainsFunc(t.Releases, func(r *Release) bool { return r.Version == version }) {
		return c
	}
	s := &Source{Kind: "installed", Paths: paths}
	for _, have := range t.Sources {
		if have.Kind == s.Kind && len(paths) == 0 {
			s.Env, s.Paths = have.Env, have.Paths
		}
	}
	for _, copied := range t.Copies(&Release{Release: &qnn.Release{Version: version}, Sources: []*Source{s}}, m) {
		if copied.Err != nil || copied.Found.Name != name || copied.Found.Version != version {
			continue
		}
		_, r, _, err := c.ReleaseOf(copied.Found, copied.Path)
		if err != nil {
			continue
		}
		r.Sources = []*Source{s}
		own := *t
		own.Releases = append(slices.Clone(t.Releases), r)
		out := *c
		out.Toolchains = slices.Clone(c.Toolchains)
		out.Toolchains[slices.Index(c.Toolchains, t)] = &own
		return &out
	}
	return c
}
