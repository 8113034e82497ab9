// Package toolchains describes the SDKs that hexmage knows: the sources of each release, its required contents, and the
// variables of its environment script. Load reads the embedded HCL files and a workspace's files, which extend or
// override them. Catalog.Choose selects a source.
//
// Package qnn/facts reads the compatibility rules, and facts about releases that do not depend on the source. Package
// toolchains reads only the bytes that it receives. Packages sources and verify download and check releases.
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

// Catalog holds all known toolchains and facts.
type Catalog struct {
	*facts.Set
	Toolchains []*Toolchain
	Embedded   Embedded // archives for sources of kind "embedded"; nil: none
	Changed    bool     // whether workspace files differ from the built-in ones
}

// placeholders returns variables that evaluate to their own text, so that their values can be filled in later.
func placeholders() *hcl.EvalContext {
	vars := map[string]cty.Value{}
	for _, n := range []string{"root", "tools", "match", "version", "revision", "short_version", "tools_version"} {
		vars[n] = cty.StringVal("${" + n + "}")
	}
	return &hcl.EvalContext{Variables: vars}
}

// Load returns the built-in catalog merged with workspace files (name → content), in the order of their names. A
// release or SoC in a file replaces the built-in one. Other attributes of a toolchain replace only the same built-in
// attributes.
func Load(files map[string][]byte) (*Catalog, hcl.Diagnostics) {
	entries, err := builtin.ReadDir(".")
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid embedded catalog", Detail: err.Error()}}
	}
	var all []facts.File
	own := make(map[string]string) // built-in content by base name
	for _, e := range entries {
		if e.Name() == LockFile {
			continue
		}
		b, err := builtin.ReadFile(e.Name())
		if err != nil {
			return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid embedded " +
				"catalog", Detail: err.Error()}}
		}
		own[e.Name()] = string(b)
		all = append(all, facts.File{Name: "<hexmage>/toolchains/" + e.Name(), Content: b, Shipped: true})
	}
	changed := false // in hexmage's own repository most files equal the built-in ones, and merging them changes nothing
	for n, b := range files {
		changed = changed || own[filepath.Base(n)] != string(b)
	}
	if changed {
		for _, n := range slices.Sorted(maps.Keys(files)) {
			all = append(all, facts.File{Name: n, Content: files[n]})
		}
	}
	set, blocks, diags := facts.Load(all)
	c := &Catalog{Set: set, Changed: changed}
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

// decode reads the sources of releases from a block.
func decode(b facts.Toolchain) (*Toolchain, hcl.Diagnostics) {
	t := &Toolchain{SDK: b.SDK, file: b.File}
	diags := gohcl.DecodeBody(b.Body, placeholders(), t)
	for i, s := range t.Pushes {
		if slices.ContainsFunc(t.Pushes[:i], func(h *PushSet) bool { return h.Name == s.Name }) {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid toolchain",
				Detail: fmt.Sprintf("%s: toolchain %q: duplicate push_set %q. Remove "+
					"one.", b.File, b.SDK.Name, s.Name)})
		}
	}
	for _, rest := range b.Releases {
		r := &Release{Release: rest.Release}
		diags = append(diags, gohcl.DecodeBody(rest.Body, placeholders(), r)...)
		t.Releases = append(t.Releases, r)
	}
	return t, diags
}

// inherit fills in the attributes that all releases of its toolchain share. A manual release, or one behind an account
// at Qualcomm, has no address.
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

// merge overrides t with o. A release of o replaces t's.
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
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid toolchain",
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
					bad("release %q: invalid digest %q. Write %d hexadecimal digits in lower case.", r.Version, sum, n)
				}
			}
		}
	}
	return diags
}

func (c *Catalog) toolchain(name string) *Toolchain {
	for _, t := range c.Toolchains {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// fewReleases is the number of releases that an error message lists.
const fewReleases = 10

// Find returns a toolchain and its release. An empty version selects the default release. An error lists the known
// toolchains or releases.
func (c *Catalog) Find(name, version string) (*Toolchain, *Release, error) {
	t := c.toolchain(name)
	if t == nil {
		var have []string
		for _, t := range c.Toolchains {
			have = append(have, t.Name)
		}
		return nil, nil, fmt.Errorf("toolchain %q is not in the catalog%s; `hexmage toolchain list` lists the known "+
			"toolchains",
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
	all := "this toolchain has " + strings.Join(have, ", ")
	if len(have) > fewReleases {
		all = fmt.Sprintf("`hexmage toolchain list %[1]s` lists the %[2]d known releases", name, len(have))
	}
	return nil, nil, fmt.Errorf("toolchain %q has no release %q in the catalog%s; %s",
		name, version, didYouMean(version, have), all)
}

// Source returns the release's source of the given kind, or nil.
func (r *Release) Source(kind string) *Source {
	for _, s := range r.Sources {
		if s.Kind == kind {
			return s
		}
	}
	return nil
}

// fill replaces the placeholders in text by the release's values.
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
