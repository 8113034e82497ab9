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

// installedCopy is a candidate for an installed SDK.
type installedCopy struct {
	name  string // shown name: VARIABLE=path, or the path
	path  string
	found Installed // data in its files
	err   error     // why it is not an SDK
}

// copies returns the candidates at the paths in the source's variables, and at the usual paths of the release that
// exist.
func (s *Source) copies(r *Release, m Machine) (out []installedCopy) {
	seen := map[string]bool{} // by resolved path
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
			c.err = fmt.Errorf("%s: no such folder", path)
		case !there:
			c.err = fmt.Errorf("%s: no such folder", c.name)
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
			m.getenv("PWD") // Dir depends on it
			look(v, filepath.Join(m.Dir, dir))
		}
	}
	for _, p := range s.Paths {
		p = r.fill(p)
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			m.getenv("HOME") // Home depends on it
			if m.Home == "" {
				continue
			}
			p = filepath.Join(m.Home, rest)
		}
		look("", p)
	}
	return out
}

// releaseOf returns the release of an SDK by its own files, or nil if the toolchain lacks it. A release that learn
// added has the version in the SDK's files, which may also be the revision of another release.
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

// installed uses an installed copy: programs in PATH, or an SDK of the requested release.
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
		if is != nil && is.Version != version { // the NDK's own files name another version than its downloads
			version, called = is.Version, fmt.Sprintf("%s %s (%s)", t.Name, is.Version, version)
		}
		text := fmt.Sprintf("%s has %s, not %s %s", c.name, called, t.Name, r.Version)
		switch {
		case refused:
			text = fmt.Sprintf("%s is the simulated %s, which profile %s rejects; set the variable to a real release",
				c.name, called, q.Profile)
		case c.found.Name == t.Name:
			text += fmt.Sprintf(" (to use this copy, write version = %q in the toolchain block)", version)
		}
		tried = append(tried, text)
	}
	if len(tried) == 0 {
		return false, "", nil
	}
	return false, "installed copies: " + strings.Join(tried, ", "), nil
}

// learn returns the catalog with the release added, if the catalog lacks it and the files of an installed copy name it.
// It searches the paths, or without paths the usual places of copies. The release gets the checks that hold for all
// releases.
func (c *Catalog) learn(name, version string, m Machine, paths ...string) *Catalog {
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
