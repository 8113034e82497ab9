// Package toolchains has the SDKs that hexmage knows, as data: where each release comes from, what it must hold, what its own
// environment script would set.
//
// The data are HCL files embedded here, which a workspace's own files extend or override; one enters with Load and chooses with
// Catalogue.Choose. What of them is true of a release wherever it comes from, and what goes together, package qnn/facts reads. The
// package downloads nothing and looks at nothing but the bytes it is given: sources and verify do the work.
package toolchains

import (
	"embed"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/qnn/facts"
)

//go:embed *.hcl
var builtin embed.FS

// Catalogue is all toolchains that are known, and the facts.
type Catalogue struct {
	*facts.Set
	Toolchains []*Toolchain
	Embedded   Embedded // where sources "embedded" are taken from; nil has none
}

// placeholders stand for themselves when a catalogue is read; they are filled in when the value is known.
func placeholders() *hcl.EvalContext {
	vars := map[string]cty.Value{}
	for _, n := range []string{"root", "tools", "match", "version", "revision", "short_version", "tools_version"} {
		vars[n] = cty.StringVal("${" + n + "}")
	}
	return &hcl.EvalContext{Variables: vars}
}

// Load returns the built-in catalogue with the given files (name → content) of a workspace on top, in the order of their
// names. A release or SoC that is there already is replaced; a toolchain's other attributes are replaced where set.
func Load(files map[string][]byte) (*Catalogue, hcl.Diagnostics) {
	entries, err := builtin.ReadDir(".")
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded catalogue", Detail: err.Error()}}
	}
	var all []facts.File
	own := make(map[string]string) // built-in content by base name
	for _, e := range entries {
		if e.Name() == LockFile {
			continue
		}
		b, err := builtin.ReadFile(e.Name())
		if err != nil {
			return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded catalogue", Detail: err.Error()}}
		}
		own[e.Name()] = string(b)
		all = append(all, facts.File{Name: "<hexmage>/toolchains/" + e.Name(), Content: b, Shipped: true})
	}
	changed := false // in hexmage's own repository the two are mostly the same, and the same on top changes nothing
	for n, b := range files {
		changed = changed || own[filepath.Base(n)] != string(b)
	}
	if changed {
		for _, n := range slices.Sorted(maps.Keys(files)) {
			all = append(all, facts.File{Name: n, Content: files[n]})
		}
	}
	set, blocks, diags := facts.Load(all)
	c := &Catalogue{Set: set}
	decoded, problems := make([]*Toolchain, len(blocks)), make([]hcl.Diagnostics, len(blocks))
	var wg sync.WaitGroup
	for i, b := range blocks {
		wg.Go(func() { decoded[i], problems[i] = decode(b) })
	}
	wg.Wait()
	for i, t := range decoded {
		diags = append(diags, problems[i]...)
		if have := c.toolchain(t.Name); have != nil {
			have.merge(t)
		} else {
			c.Toolchains = append(c.Toolchains, t)
		}
	}
	for _, t := range c.Toolchains {
		for _, r := range t.Releases {
			r.inherit(t.Sources)
			r.Open = r.Source("archive") != nil
		}
		diags = append(diags, t.check(t.file)...)
	}
	return c, diags
}

// decode reads of a block how the releases are had.
func decode(b facts.Toolchain) (*Toolchain, hcl.Diagnostics) {
	t := &Toolchain{SDK: b.SDK, file: b.File}
	diags := gohcl.DecodeBody(b.Body, placeholders(), t)
	for i, s := range t.Pushes {
		if slices.ContainsFunc(t.Pushes[:i], func(h *PushSet) bool { return h.Name == s.Name }) {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Catalogue of toolchains",
				Detail: fmt.Sprintf("%s: toolchain %q: push_set %q is there twice.", b.File, b.SDK.Name, s.Name)})
		}
	}
	for _, rest := range b.Releases {
		r := &Release{Release: rest.Release}
		diags = append(diags, gohcl.DecodeBody(rest.Body, placeholders(), r)...)
		t.Releases = append(t.Releases, r)
	}
	return t, diags
}

// inherit gives the release what all releases of its toolchain have. One that people have to get by hand, or with an account of the
// vendor, has no address.
func (r *Release) inherit(sources []*Source) {
	for _, from := range sources {
		if from.Kind == "archive" && (r.Source("manual") != nil || r.Source("qpm") != nil) {
			continue
		}
		s := r.Source(from.Kind)
		if s == nil {
			own := *from
			r.Sources = append(r.Sources, &own)
			continue
		}
		facts.Inherit(s, from)
	}
}

// merge puts what o says over what t does. A release that o has stands in place of t's.
func (t *Toolchain) merge(o *Toolchain) {
	releases := t.Releases
	for _, r := range o.Releases {
		if i := slices.IndexFunc(releases, func(h *Release) bool { return h.Version == r.Version }); i >= 0 {
			releases[i] = r
		} else {
			releases = append(releases, r)
		}
	}
	o.Releases = releases
	pushes := t.Pushes
	for _, s := range o.Pushes {
		pushes = slices.DeleteFunc(slices.Clone(pushes), func(h *PushSet) bool { return h.Name == s.Name })
		pushes = append(pushes, s)
	}
	o.Pushes = pushes
	facts.Inherit(o, t)
	*t = *o
}

func (t *Toolchain) check(file string) (diags hcl.Diagnostics) {
	bad := func(format string, args ...any) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Catalogue of toolchains",
			Detail: fmt.Sprintf("%s: toolchain %q: ", file, t.Name) + fmt.Sprintf(format, args...)})
	}
	for _, s := range t.Pushes {
		if text := s.check(); text != "" {
			bad("push_set %q: %s.", s.Name, text)
		}
	}
	for _, r := range t.Releases {
		for _, s := range r.Sources {
			if err := s.check(); err != nil {
				bad("release %q: source %q: %v.", r.Version, s.Kind, err)
			}
			for n, sum := range map[int]string{64: s.SHA256, 40: s.SHA1, 32: s.MD5} {
				if sum != "" && !isHex(sum, n) {
					bad("release %q: %q is no digest: want %d hexadecimal digits in lower case.", r.Version, sum, n)
				}
			}
		}
	}
	return diags
}

func (c *Catalogue) toolchain(name string) *Toolchain {
	for _, t := range c.Toolchains {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// fewReleases are as many as a message lists.
const fewReleases = 10

// Find returns the toolchain and its release; version "" is the default one. The error names what there is.
func (c *Catalogue) Find(name, version string) (*Toolchain, *Release, error) {
	t := c.toolchain(name)
	if t == nil {
		var have []string
		for _, t := range c.Toolchains {
			have = append(have, t.Name)
		}
		return nil, nil, fmt.Errorf("toolchain %q is not in the catalogue%s; `hexmage toolchain list` has those that are; add others in toolchains/*.hcl of the workspace",
			name, didYouMean(name, have))
	}
	if version == "" {
		version = t.Default
	}
	var have []string
	for _, r := range t.Releases {
		if r.Version == version {
			return t, r, nil
		}
		have = append(have, r.Version)
	}
	all := "it has " + strings.Join(have, ", ")
	if len(have) > fewReleases {
		all = fmt.Sprintf("`hexmage toolchain list %s` has the %d that are", name, len(have))
	}
	return nil, nil, fmt.Errorf("toolchain %q has no release %q in the catalogue%s; %s; add another in toolchains/*.hcl of the workspace", name, version, didYouMean(version, have), all)
}

// Source returns the release's source of the kind, nil when it has none.
func (r *Release) Source(kind string) *Source {
	for _, s := range r.Sources {
		if s.Kind == kind {
			return s
		}
	}
	return nil
}

// fill puts the release's own words into text.
func (r *Release) fill(text string) string {
	short := r.Version
	if f := strings.SplitN(r.Version, ".", 4); len(f) == 4 {
		short = strings.Join(f[:3], ".")
	}
	return strings.NewReplacer("${version}", r.Version, "${revision}", r.Revision, "${short_version}", short,
		"${tools_version}", r.ToolsVersion).Replace(text)
}

func (r *Release) fillAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = r.fill(t)
	}
	return out
}
