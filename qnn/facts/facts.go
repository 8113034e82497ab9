// Package facts reads hexmage's catalog of SoCs, Hexagon archs, SDK releases and compatibility rules, and evaluates the
// rules.
//
// SoCs, archs and rules are HCL files in this folder. Package toolchains passes in the files of releases and of a
// workspace.
//
// Load and Builtin read the catalog, and Set.Ask evaluates the rules. The package does not know download sources,
// digests or SDK files. It returns the unknown parts of a toolchain block to its caller. Types and comparisons without
// HCL are in package qnn.
package facts

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/qnn"
)

//go:embed *.hcl
var builtin embed.FS

// Set is the catalog: records and compatibility rules.
type Set struct {
	qnn.Facts
	Rules []*Rule
	// MllmChips maps the chip names in mllm's compiler to soc_model numbers. Rules compare these numbers with the
	// records. MllmChips may be nil.
	MllmChips map[string]uint32

	budget *lang.Budget      // evaluation budget of a workspace's own files
	files  map[string][]byte // contents of the files read, by name
}

// Refill resets the evaluation budget for a workspace's rules. Call it before another plan.
func (s *Set) Refill() { s.budget.Refill() }

// File is a catalog file.
type File struct {
	Name    string // for diagnostics
	Content []byte
	Shipped bool // whether the file is part of hexmage, not of a workspace
}

// Toolchain is a toolchain block without its facts. The code that decodes Body must reject unknown names in it.
type Toolchain struct {
	File     string
	SDK      *qnn.SDK // merged from all blocks with this name so far
	Body     hcl.Body
	Releases []Release
}

// Release is a release block without its facts. Body describes the sources of the release.
type Release struct {
	*qnn.Release
	Body hcl.Body
}

type content struct {
	Toolchains     []*toolchainBlock        `hcl:"toolchain,block"`
	SoCs           []*qnn.SoC               `hcl:"soc,block"`
	Arches         []*qnn.Arch              `hcl:"arch,block"`
	Others         []*qnn.OtherSoCs         `hcl:"other_socs,block"`
	Defaults       []*qnn.DefaultProvenance `hcl:"fact,block"`
	Rules          []*Rule                  `hcl:"compat,block"`
	UnsupportedOps []*qnn.UnsupportedOp     `hcl:"unsupported_op,block"`
	Precisions     []*qnn.Precision         `hcl:"precision,block"`
}

type toolchainBlock struct {
	Name     string          `hcl:"name,label"`
	Tools    []*qnn.Tools    `hcl:"tools,block"`
	Releases []*releaseBlock `hcl:"release,block"`
	Rest     hcl.Body        `hcl:",remain"`
}

type releaseBlock struct {
	Version      string   `hcl:"version,label"`
	BuildID      string   `hcl:"build_id,optional"`
	ToolsVersion string   `hcl:"tools_version,optional"`
	Arches       []string `hcl:"arches,optional"`
	Revision     string   `hcl:"revision,optional"`
	CoreAPI      string   `hcl:"core_api,optional"`
	HTPAPI       string   `hcl:"htp_api,optional"`
	ContextBlob  string   `hcl:"context_blob,optional"`
	SystemAPI    string   `hcl:"system_api,optional"`

	Facts []*qnn.Fact `hcl:"fact,block"`
	Rest  hcl.Body    `hcl:",remain"`
}

// Builtin returns the SoCs, archs and rules that hexmage ships, but no releases.
func Builtin() (*Set, hcl.Diagnostics) {
	s, _, diags := Load(nil)
	return s, diags
}

// Load returns the built-in catalog, extended by the files in their order. It also returns the undecoded parts of each
// toolchain block.
//
// A later SoC, arch or release replaces an earlier one of the same name. A later rule replaces only the attributes that
// it sets.
func Load(files []File) (*Set, []Toolchain, hcl.Diagnostics) {
	own, err := builtin.ReadDir(".")
	if err != nil {
		return nil, nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded facts", Detail: err.Error()}}
	}
	var all []File
	for _, e := range own {
		b, err := builtin.ReadFile(e.Name())
		if err != nil {
			return nil, nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded facts", Detail: err.Error()}}
		}
		all = append(all, File{"<hexmage>/qnn/facts/" + e.Name(), b, true})
	}
	all = append(all, files...)
	s := &Set{budget: lang.NewBudget(), files: map[string][]byte{}}
	contents, problems := make([]content, len(all)), make([]hcl.Diagnostics, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		s.files[f.Name] = f.Content
		wg.Go(func() { problems[i] = f.decode(&contents[i], s.budget) })
	}
	wg.Wait()
	var rest []Toolchain
	var diags hcl.Diagnostics
	for i, f := range all {
		if diags = append(diags, problems[i]...); problems[i].HasErrors() {
			continue
		}
		rest = append(rest, s.addToolchains(contents[i].Toolchains, f)...)
		diags = append(diags, s.add(contents[i], f)...)
	}
	if !diags.HasErrors() {
		diags = append(diags, s.check()...)
		s.Settle()
	}
	return s, rest, diags
}

func (f File) decode(to *content, b *lang.Budget) hcl.Diagnostics {
	var parsed *hcl.File
	var diags hcl.Diagnostics
	if f.Shipped {
		parsed, diags = lang.ParseShipped(f.Content, f.Name)
	} else {
		parsed, diags = lang.ParseManifest(f.Content, f.Name, b)
	}
	if diags.HasErrors() {
		return diags
	}
	return append(diags, gohcl.DecodeBody(parsed.Body, nil, to)...)
}

func (s *Set) addToolchains(blocks []*toolchainBlock, file File) []Toolchain {
	var rest []Toolchain
	for _, b := range blocks {
		sdk := s.SDK(b.Name)
		if sdk == nil {
			sdk = &qnn.SDK{Name: b.Name}
			s.SDKs = append(s.SDKs, sdk)
		}
		if len(b.Tools) > 0 {
			sdk.Tools = b.Tools
		}
		t := Toolchain{File: file.Name, SDK: sdk, Body: b.Rest}
		for _, r := range b.Releases {
			release := &qnn.Release{Version: r.Version, BuildID: r.BuildID, ToolsVersion: r.ToolsVersion, Arches: r.Arches, Revision: r.Revision,
				CoreAPI: r.CoreAPI, HTPAPI: r.HTPAPI, ContextBlob: r.ContextBlob, SystemAPI: r.SystemAPI, Facts: r.Facts, From: file.from()}
			sdk.Releases = replace(sdk.Releases, release, func(have *qnn.Release) bool { return have.Version == r.Version })
			t.Releases = append(t.Releases, Release{release, r.Rest})
		}
		rest = append(rest, t)
	}
	return rest
}

// from returns the From of the file's records.
func (f File) from() string {
	if f.Shipped {
		return ""
	}
	return f.Name
}

func (s *Set) add(c content, file File) (diags hcl.Diagnostics) {
	from := file.from()
	for _, soc := range c.SoCs {
		soc.From = from
		s.SoCs = replace(s.SoCs, soc, func(have *qnn.SoC) bool { return have.Name == soc.Name })
	}
	for _, a := range c.Arches {
		a.From = from
		s.Arches = replace(s.Arches, a, func(have *qnn.Arch) bool { return have.Name == a.Name })
	}
	for _, o := range c.Others {
		for _, m := range []struct{ to, from *map[string]int }{{&s.Others.Models, &o.Models}, {&s.Others.AndroidIDs, &o.AndroidIDs}} {
			if *m.to == nil {
				*m.to = map[string]int{}
			}
			maps.Copy(*m.to, *m.from)
		}
	}
	s.Defaults = append(s.Defaults, c.Defaults...)
	for _, r := range c.UnsupportedOps {
		s.UnsupportedOps = replace(s.UnsupportedOps, r, func(have *qnn.UnsupportedOp) bool {
			return have.Op == r.Op && have.Format == r.Format && have.Rank == r.Rank
		})
	}
	for _, p := range c.Precisions {
		s.Precisions = replace(s.Precisions, p, func(have *qnn.Precision) bool { return have.Name == p.Name })
	}
	return append(diags, s.addRules(c.Rules, file)...)
}

// replace replaces the element that is reports, or appends x.
func replace[T any](all []*T, x *T, is func(*T) bool) []*T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		all[i] = x
		return all
	}
	return append(all, x)
}

// Inherit fills the empty fields of the first struct from the second struct.
func Inherit[T any](to, from *T) {
	a, b := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range a.NumField() {
		if field := a.Field(i); field.CanSet() && field.IsZero() {
			field.Set(b.Field(i))
		}
	}
}

// check reports invalid records and references to missing records.
func (s *Set) check() (diags hcl.Diagnostics) {
	bad := func(kind, name, from, format string, args ...any) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid catalog record",
			Detail: fmt.Sprintf("%s: %s %q: ", cmp.Or(from, "<hexmage>"), kind, name) + fmt.Sprintf(format, args...)})
	}
	arch := regexp.MustCompile(`^v\d{2,3}$`)
	facts := func(kind, name, from string, all []*qnn.Fact) {
		for _, f := range all {
			if !slices.Contains([]string{qnn.Documented, qnn.Observed, qnn.Inferred}, f.Confidence) || f.Source == "" {
				bad(kind, name, from, "fact %q: invalid confidence %q or empty source. Set confidence to documented, "+
					"observed or inferred, and name a source.", f.Attribute, f.Confidence)
			}
		}
	}
	for _, soc := range s.SoCs {
		if !arch.MatchString(soc.Arch) || soc.SoCModel < 0 || soc.VTCMMB < 0 || soc.Bandwidth < 0 {
			bad("soc", soc.Name, soc.From, "invalid arch %q or negative number. Use an arch such as \"v79\", and 0 "+
				"or more for soc_model, vtcm_mb and bandwidth_gbs.", soc.Arch)
		}
		for _, feature := range soc.MissingFeatures {
			if a := s.FindArch(soc.Arch); a == nil || !slices.Contains(a.Features, feature) {
				bad("soc", soc.Name, soc.From, "missing_features: Hexagon %s has no feature %q. Remove the feature.",
					soc.Arch, feature)
			}
		}
		if soc.Basis != "" && !slices.ContainsFunc(s.Defaults, func(g *qnn.DefaultProvenance) bool { return g.Kind == soc.Basis }) {
			bad("soc", soc.Name, soc.From, "unknown basis %q. Use the first label of a fact block.", soc.Basis)
		}
		facts("soc", soc.Name, soc.From, soc.Facts)
	}
	for _, a := range s.Arches {
		if !arch.MatchString(a.Name) {
			bad("arch", a.Name, a.From, "invalid name. Use a Hexagon arch such as \"v79\".")
		}
		if a.ContextMB < 0 || a.ProcessMB < 0 {
			bad("arch", a.Name, a.From, "negative number. Set context_mb and process_mb to 0 or more.")
		}
		if like := s.FindArch(a.CompileAs); a.CompileAs != "" && (like == nil || like.CompileAs != "") {
			bad("arch", a.Name, a.From, "invalid compile_as %q. Use a known arch that has no compile_as.", a.CompileAs)
		}
		facts("arch", a.Name, a.From, a.Facts)
	}
	for _, r := range s.UnsupportedOps {
		if !slices.Contains([]string{"onnx", "aten"}, r.Format) {
			bad("unsupported_op", r.Op, "", "invalid format %q. Use onnx or aten.", r.Format)
		}
		if r.Change == "" {
			bad("unsupported_op", r.Op, "", "empty change. Name a replacement.")
		}
		if r.Rank < 0 {
			bad("unsupported_op", r.Op, "", "negative rank %d. Set rank to the number of dimensions, or remove rank.",
				r.Rank)
		}
		if r.Op == "*" && r.Rank == 0 {
			bad("unsupported_op", r.Op, "", "missing rank. Set rank, because \"*\" matches any operation on tensors "+
				"of one rank.")
		}
		facts("unsupported_op", r.Op, "", []*qnn.Fact{{Attribute: "change", Confidence: r.Confidence, Source: r.Source}})
	}
	seen := map[string]string{}
	types := regexp.MustCompile(`^(a8|a16)(a8|a16|w4|w8|w16)?$|^f16$|^f32$`)
	for _, p := range s.Precisions {
		if len(p.Ops) == 0 {
			bad("precision", p.Name, "", "empty ops. List names of operations.")
		}
		for _, op := range p.Ops {
			if other := seen[op]; other != "" {
				bad("precision", p.Name, "", "operation %s is also in %q. Remove the operation from one of the two.",
					op, other)
			}
			seen[op] = p.Name
		}
		for _, a := range slices.Sorted(maps.Keys(p.Takes)) {
			arch := s.FindArch(a)
			if arch == nil {
				bad("precision", p.Name, "", "takes: unknown arch %q. Use a known arch.", a)
			}
			for _, t := range p.Takes[a] {
				if !types.MatchString(t) {
					bad("precision", p.Name, "", "%s: invalid type %q. Use types such as a16w8, a16a8, a8 or f16.",
						a, t)
				} else if t[0] == 'f' && arch != nil && !qnn.HasFloats(arch.Features) {
					bad("precision", p.Name, "", "%s: type %q needs a floating-point feature, which the arch lacks. "+
						"Remove the type.", a, t)
				}
			}
		}
		facts("precision", p.Name, "", []*qnn.Fact{{Attribute: "takes", Confidence: p.Confidence, Source: p.Source}})
	}
	for _, sdk := range s.SDKs {
		for _, r := range sdk.Releases {
			facts("release", sdk.Name+" "+r.Version, r.From, r.Facts)
		}
	}
	for _, g := range s.Defaults {
		facts("fact", g.Kind, "", []*qnn.Fact{{Attribute: g.Attribute, Confidence: g.Confidence, Source: g.Source}})
	}
	return diags
}
