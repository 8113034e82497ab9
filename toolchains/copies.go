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

// installedCopy is an SDK that may be installed on a machine.
type installedCopy struct {
	name  string // how people know it: VARIABLE=path, or its path
	path  string
	found Installed // what it says it is
	err   error     // why it is none
}

// copies looks for an SDK at each place that a variable of the source names, and at those of the usual places for the
// release where there is a folder.
func (s *Source) copies(r *Release, m Machine) (out []installedCopy) {
	seen := map[string]bool{} // by where the path leads to
	look := func(variable, path string) {
		m.looksAt(path)
		for _, name := range sdk.FileNames() {
			m.looksAt(filepath.Join(path, name))
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			real = path
		}
		info, err := os.Stat(path)
		there := err == nil && info.IsDir()
		if seen[real] || !there && variable == "" && !s.Named {
			return
		}
		seen[real] = true
		c := installedCopy{name: path, path: path}
		if variable != "" {
			c.name = variable + "=" + path
		}
		switch c.found, err = sdk.Identify(path); {
		case !there && variable == "":
			c.err = fmt.Errorf("%s is no folder: correct the path", path)
		case !there:
			c.err = fmt.Errorf("%s is no folder", c.name)
		case err != nil && variable != "":
			c.err = fmt.Errorf("%s: %w", variable, err)
		default:
			c.err = err
		}
		out = append(out, c)
	}
	for _, v := range s.Env {
		if dir := m.getenv(v); filepath.IsAbs(dir) {
			look(v, dir)
		} else if dir != "" {
			m.getenv("PWD") // which says where Dir is
			look(v, filepath.Join(m.Dir, dir))
		}
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
		look("", p)
	}
	return out
}

// releaseOf returns the release that an SDK says it is, nil if the toolchain does not have it. One that learn added has
// the version of the SDK's own files, which may be the revision of another.
func (t *Toolchain) releaseOf(is Installed) *Release {
	i := slices.IndexFunc(t.Releases, func(r *Release) bool { return is.Version == r.Version })
	if i < 0 {
		i = slices.IndexFunc(t.Releases, func(r *Release) bool { return r.Revision != "" && is.Version == r.Revision })
	}
	if i < 0 || is.Name != t.Name {
		return nil
	}
	return t.Releases[i]
}

// installed takes an installed copy: programs in PATH, or the SDK of the release that is asked for.
func (ch *Choice) installed(q Request, spec sources.Spec) (bool, string, error) {
	t, r, s := ch.Toolchain, ch.Release, ch.Source
	if len(s.Programs) > 0 {
		return ch.programs(q, spec)
	}
	var tried []string
	for _, c := range s.copies(r, q.Machine) {
		if c.err != nil {
			tried = append(tried, c.err.Error())
			continue
		}
		refused := c.found.Simulated && !q.simulated()
		is := t.releaseOf(c.found)
		if is == r && !refused {
			spec.Kind, spec.File = sources.KindCheck, c.path
			ch.Spec, ch.Host, ch.Found = spec, c.path, c.found
			return true, "", nil
		}
		version, called := c.found.Version, c.found.Name+" "+c.found.Version
		if is != nil && is.Version != version { // the NDK's own files say another name than its downloads have
			version, called = is.Version, fmt.Sprintf("%s %s (%s)", t.Name, is.Version, version)
		}
		text := fmt.Sprintf("%s has %s, wanted is %s %s", c.name, called, t.Name, r.Version)
		switch {
		case refused:
			text = fmt.Sprintf("%s is hexmage's simulated %s, which profile %s refuses: set the variable to Qualcomm's, "+
				"or unset it", c.name, called, q.Profile)
		case c.found.Name == t.Name:
			text += fmt.Sprintf(" (to use it, write version = %q in the toolchain block)", version)
		}
		tried = append(tried, text)
	}
	if len(tried) == 0 {
		return false, "", nil
	}
	return false, "installed copies: " + strings.Join(tried, ", "), nil
}

// learn returns the catalogue with the release, if it does not have it and an installed copy says it is that one: at
// one of the paths, or without any where copies of the toolchain are looked for. It is checked for what holds for all
// releases.
func (c *Catalogue) learn(name, version string, m Machine, paths ...string) *Catalogue {
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
	for _, copied := range s.copies(&Release{Release: &qnn.Release{Version: version}}, m) {
		if copied.err == nil && copied.found.Name == name && copied.found.Version == version {
			return c.with(name, released(copied.found, copied.path), s)
		}
	}
	return c
}
