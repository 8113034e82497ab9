// Package toolchains has the SDKs and SoCs that hexmage knows, as data: where each release of an SDK comes from, what it
// must hold, what its own environment script would set; and which SoC has which Hexagon arch.
//
// The data are HCL files embedded here, which a workspace's own files extend or override. The package downloads nothing
// and looks at nothing but the bytes it is given; fetchtool, verify and fetchstep do the work.
package toolchains

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

//go:embed *.hcl
var builtin embed.FS

// Catalogue is all toolchains and SoCs that are known.
type Catalogue struct {
	Toolchains []*Toolchain
	SoCs       []*SoC
	Arches     []*Arch
	Others     OtherSoCs
	Rules      []*Rule // of what goes together
}

// file is one file of a catalogue.
type file struct {
	content
	name  string
	src   []byte
	diags hcl.Diagnostics
}

type content struct {
	Toolchains []*Toolchain `hcl:"toolchain,block"`
	SoCs       []*SoC       `hcl:"soc,block"`
	Arches     []*Arch      `hcl:"arch,block"`
	Others     []*OtherSoCs `hcl:"other_socs,block"`
	Rules      []*Rule      `hcl:"compat,block"`
}

// placeholders stand for themselves when a catalogue is read; they are filled in when the value is known.
func placeholders() *hcl.EvalContext {
	vars := map[string]cty.Value{}
	for _, n := range []string{"root", "tools", "match", "version", "revision", "short_version", "build_date", "tools_version"} {
		vars[n] = cty.StringVal("${" + n + "}")
	}
	return &hcl.EvalContext{Variables: vars}
}

// Builtin returns the catalogue that is part of hexmage.
func Builtin() (*Catalogue, hcl.Diagnostics) { return Load(nil) }

// Load returns the built-in catalogue with the given files (name → content) of a workspace on top, in the order of their
// names. A release or SoC that is there already is replaced; a toolchain's other attributes are replaced where set.
func Load(files map[string][]byte) (*Catalogue, hcl.Diagnostics) {
	c := &Catalogue{}
	entries, err := builtin.ReadDir(".")
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded catalogue", Detail: err.Error()}}
	}
	var all []*file
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
		all = append(all, &file{name: "<hexmage>/toolchains/" + e.Name(), src: b})
	}
	names := make([]string, 0, len(files))
	changed := false // in hexmage's own repository the two are mostly the same, and the same on top changes nothing
	for n, b := range files {
		names = append(names, n)
		changed = changed || own[filepath.Base(n)] != string(b)
	}
	sort.Strings(names)
	if changed {
		for _, n := range names {
			all = append(all, &file{name: n, src: files[n]})
		}
	}
	var wg sync.WaitGroup
	for _, f := range all {
		wg.Go(f.parse)
	}
	wg.Wait()
	var diags hcl.Diagnostics
	for _, f := range all {
		diags = append(diags, c.add(f)...)
	}
	for _, t := range c.Toolchains {
		for _, r := range t.Releases {
			r.inherit(t.Sources)
			if len(r.Arches) == 0 {
				r.Arches = t.ToolsArches(r.ToolsVersion)
			}
		}
		diags = append(diags, t.check(t.file)...)
	}
	return c, diags
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
		if len(s.URLs) == 0 {
			s.URLs = from.URLs
		}
		if s.StripPrefix == "" {
			s.StripPrefix = from.StripPrefix
		}
		if s.UserAgent == "" {
			s.UserAgent = from.UserAgent
		}
		s.HTTP1 = s.HTTP1 || from.HTTP1
		s.CaseMatters = s.CaseMatters || from.CaseMatters
		if len(s.Env) == 0 {
			s.Env = from.Env
		}
		if len(s.Paths) == 0 {
			s.Paths = from.Paths
		}
		s.inheritRemote(from)
	}
}

// parse reads f.src.
func (f *file) parse() {
	parsed, diags := hclsyntax.ParseConfig(f.src, f.name, hcl.InitialPos)
	if !diags.HasErrors() {
		diags = append(diags, gohcl.DecodeBody(parsed.Body, placeholders(), &f.content)...)
	}
	f.diags = diags
}

func (c *Catalogue) add(f *file) hcl.Diagnostics {
	diags, name := f.diags, f.name
	if diags.HasErrors() {
		return diags
	}
	for _, t := range f.Toolchains {
		t.file = name
		if have := c.toolchain(t.Name); have != nil {
			have.merge(t)
		} else {
			c.Toolchains = append(c.Toolchains, t)
		}
	}
	for _, s := range f.SoCs {
		diags = append(diags, s.check(name)...)
		if i := slices.IndexFunc(c.SoCs, func(h *SoC) bool { return h.Name == s.Name }); i >= 0 {
			c.SoCs[i] = s
		} else {
			c.SoCs = append(c.SoCs, s)
		}
	}
	for _, a := range f.Arches {
		if i := slices.IndexFunc(c.Arches, func(h *Arch) bool { return h.Name == a.Name }); i >= 0 {
			c.Arches[i] = a
		} else {
			c.Arches = append(c.Arches, a)
		}
	}
	for _, o := range f.Others {
		c.Others.add(o)
	}
	return append(diags, c.addRules(f.Rules, name)...)
}

func (t *Toolchain) merge(o *Toolchain) {
	t.file = o.file
	if len(o.Sources) > 0 {
		t.Sources = o.Sources
	}
	for _, s := range []struct{ to, from *string }{{&t.Description, &o.Description}, {&t.Page, &o.Page}, {&t.Licence, &o.Licence}, {&t.Default, &o.Default}} {
		if *s.from != "" {
			*s.to = *s.from
		}
	}
	if o.Checks != nil {
		t.Checks = o.Checks
	}
	if len(o.EnvVars) > 0 {
		t.EnvVars = o.EnvVars
	}
	if len(o.Tools) > 0 {
		t.Tools = o.Tools
	}
	for _, r := range o.Releases {
		if i := slices.IndexFunc(t.Releases, func(h *Release) bool { return h.Version == r.Version }); i >= 0 {
			t.Releases[i] = r
		} else {
			t.Releases = append(t.Releases, r)
		}
	}
}

func (t *Toolchain) check(file string) (diags hcl.Diagnostics) {
	bad := func(format string, args ...any) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Catalogue of toolchains",
			Detail: fmt.Sprintf("%s: toolchain %q: ", file, t.Name) + fmt.Sprintf(format, args...)})
	}
	for _, r := range t.Releases {
		for _, s := range r.Sources {
			switch s.Kind {
			case "archive":
				if len(s.URLs) == 0 {
					bad("release %q: a source \"archive\" needs urls.", r.Version)
				}
			case "deb":
				if len(s.Packages) == 0 {
					bad("release %q: a source \"deb\" needs packages.", r.Version)
				}
			case "installed":
				if len(s.Env)+len(s.Paths)+len(s.Programs) == 0 {
					bad("release %q: a source \"installed\" needs env, paths or program blocks.", r.Version)
				}
			case "embedded", "manual":
			case "maven", "qpm", "qsc":
				if text := s.checkRemote(); text != "" {
					bad("release %q: %s", r.Version, text)
				}
			default:
				bad("release %q: source %q is not known: use archive, deb, embedded, installed, manual, maven, qpm or qsc.", r.Version, s.Kind)
			}
			for n, sum := range map[int]string{64: s.SHA256, 40: s.SHA1, 32: s.MD5} {
				if sum != "" && (len(sum) != n || strings.Trim(sum, "0123456789abcdef") != "") {
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

// Find returns the toolchain and its release; version "" is the default one. The error names what there is.
func (c *Catalogue) Find(name, version string) (*Toolchain, *Release, error) {
	t := c.toolchain(name)
	if t == nil {
		var have []string
		for _, t := range c.Toolchains {
			have = append(have, t.Name)
		}
		return nil, nil, fmt.Errorf("toolchain %q is not in the catalogue%s; it has %s; add others in toolchains/*.hcl of the workspace",
			name, didYouMean(name, have), strings.Join(have, ", "))
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
	return nil, nil, fmt.Errorf("toolchain %q has no release %q in the catalogue%s; it has %s; add another in toolchains/*.hcl of the workspace",
		name, version, didYouMean(version, have), strings.Join(have, ", "))
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
	short, date := r.Version, ""
	if f := strings.SplitN(r.Version, ".", 4); len(f) == 4 {
		short, date = strings.Join(f[:3], "."), f[3]
	}
	return strings.NewReplacer("${version}", r.Version, "${revision}", r.Revision, "${short_version}", short,
		"${build_date}", date, "${tools_version}", r.ToolsVersion).Replace(text)
}

func (r *Release) fillAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = r.fill(t)
	}
	return out
}
