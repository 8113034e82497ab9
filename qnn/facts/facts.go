// Package facts reads what is known of Qualcomm's world, as data: blocks soc, arch, other_socs and compat, and of toolchain blocks what is
// true of a release wherever it comes from. The SoCs, archs and rules that hexmage knows are HCL files here; releases are in the files of
// package toolchains, which hands them in with those of a workspace.
//
// One enters it with Load or Builtin, and asks the rules with Set.Ask. It knows no sources, no digests and no files of SDKs: what it does
// not understand of a toolchain block it hands back. Types and comparisons that need no HCL are package qnn's.
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

// Set is what is known: the records, and the rules of what goes together.
type Set struct {
	qnn.Facts
	Rules []*Rule
	// Upstream is the table of chips of mllm's compiler, soc_model by name, which rules may compare with the records; nil when whoever
	// asks does not have it.
	Upstream map[string]uint32

	budget *lang.Budget // of what a workspace's own files evaluate
}

// Refill lets a workspace's own rules do as much again as they might when they were loaded: for another plan.
func (s *Set) Refill() { s.budget.Refill() }

// File is a file to read.
type File struct {
	Name    string // for diagnostics
	Content []byte
	Shipped bool // it is part of hexmage, and no workspace's
}

// Toolchain is what of a toolchain block is no fact: how its releases are had. It is to be decoded by who knows that, strictly: here no
// name in it is refused.
type Toolchain struct {
	File     string
	SDK      *qnn.SDK // with what blocks of the name have said so far, in all files
	Body     hcl.Body
	Releases []Release
}

// Release is what of a release block is no fact.
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
	Rest         hcl.Body `hcl:",remain"`
}

// Builtin returns the SoCs, archs and rules that are part of hexmage, without any release.
func Builtin() (*Set, hcl.Diagnostics) {
	s, _, diags := Load(nil)
	return s, diags
}

// Load returns the built-in SoCs, archs and rules with the given files on top, in their order, and what of toolchain blocks is no fact.
// A SoC, an arch or a release that is there already is replaced; of a rule, what a later one sets.
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
	s := &Set{budget: lang.NewBudget()}
	contents, problems := make([]content, len(all)), make([]hcl.Diagnostics, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() { problems[i] = f.decode(&contents[i], s.budget) })
	}
	wg.Wait()
	var rest []Toolchain
	var diags hcl.Diagnostics
	for i, f := range all {
		if diags = append(diags, problems[i]...); problems[i].HasErrors() {
			continue
		}
		rest = append(rest, s.addToolchains(contents[i].Toolchains, f.Name)...)
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

func (s *Set) addToolchains(blocks []*toolchainBlock, file string) []Toolchain {
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
		t := Toolchain{File: file, SDK: sdk, Body: b.Rest}
		for _, r := range b.Releases {
			release := &qnn.Release{Version: r.Version, BuildID: r.BuildID, ToolsVersion: r.ToolsVersion, Arches: r.Arches, Revision: r.Revision,
				CoreAPI: r.CoreAPI, HTPAPI: r.HTPAPI, ContextBlob: r.ContextBlob, SystemAPI: r.SystemAPI}
			sdk.Releases = replace(sdk.Releases, release, func(have *qnn.Release) bool { return have.Version == r.Version })
			t.Releases = append(t.Releases, Release{release, r.Rest})
		}
		rest = append(rest, t)
	}
	return rest
}

func (s *Set) add(c content, file File) (diags hcl.Diagnostics) {
	from := ""
	if !file.Shipped {
		from = file.Name
	}
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

// replace puts x where the one is that it is to replace, or at the end.
func replace[T any](all []*T, x *T, is func(*T) bool) []*T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		all[i] = x
		return all
	}
	return append(all, x)
}

// Inherit gives to, a struct, what from says where to says nothing.
func Inherit[T any](to, from *T) {
	a, b := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range a.NumField() {
		if field := a.Field(i); field.CanSet() && field.IsZero() {
			field.Set(b.Field(i))
		}
	}
}

// check says what no record may say, and what of one is not there that another names.
func (s *Set) check() (diags hcl.Diagnostics) {
	bad := func(kind, name, from, format string, args ...any) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Catalogue of SoCs",
			Detail: fmt.Sprintf("%s: %s %q: ", cmp.Or(from, "<hexmage>"), kind, name) + fmt.Sprintf(format, args...)})
	}
	arch := regexp.MustCompile(`^v\d{2,3}$`)
	facts := func(kind, name, from string, all []*qnn.Fact) {
		for _, f := range all {
			if !slices.Contains([]string{qnn.Documented, qnn.Observed, qnn.Inferred}, f.Confidence) || f.Source == "" {
				bad(kind, name, from, "fact %q: confidence is %q, want documented, observed or inferred; and a source.", f.Attribute, f.Confidence)
			}
		}
	}
	for _, soc := range s.SoCs {
		if !arch.MatchString(soc.Arch) || soc.SoCModel < 0 || soc.VTCMMB < 0 || soc.Bandwidth < 0 {
			bad("soc", soc.Name, soc.From, "arch is %q, want a Hexagon arch such as \"v79\"; soc_model, vtcm_mb and bandwidth_gbs are not negative.", soc.Arch)
		}
		facts("soc", soc.Name, soc.From, soc.Facts)
	}
	for _, a := range s.Arches {
		if !arch.MatchString(a.Name) {
			bad("arch", a.Name, a.From, "want the name of a Hexagon arch, such as \"v79\".")
		}
		if a.ContextMB < 0 || a.ProcessMB < 0 {
			bad("arch", a.Name, a.From, "context_mb and process_mb are not negative.")
		}
		if like := s.FindArch(a.CompileAs); a.CompileAs != "" && (like == nil || like.CompileAs != "") {
			bad("arch", a.Name, a.From, "compile_as is %q, want an arch that has a record, and that compilers know.", a.CompileAs)
		}
		facts("arch", a.Name, a.From, a.Facts)
	}
	for _, r := range s.UnsupportedOps {
		if !slices.Contains([]string{"onnx", "aten"}, r.Format) {
			bad("unsupported_op", r.Op, "", "format is %q, want onnx or aten.", r.Format)
		}
		if r.Change == "" {
			bad("unsupported_op", r.Op, "", "change is empty, want what to put in its place.")
		}
		if r.Rank < 0 {
			bad("unsupported_op", r.Op, "", "rank is %d, want a number of dimensions, or none.", r.Rank)
		}
		if r.Op == "*" && r.Rank == 0 {
			bad("unsupported_op", r.Op, "", "it has no rank, want one: \"*\" is any operation on tensors of so many dimensions.")
		}
		facts("unsupported_op", r.Op, "", []*qnn.Fact{{Attribute: "change", Confidence: r.Confidence, Source: r.Source}})
	}
	seen := map[string]string{}
	types := regexp.MustCompile(`^(a8|a16)(a8|a16|w4|w8|w16)?$|^f16$|^f32$`)
	for _, p := range s.Precisions {
		if len(p.Ops) == 0 {
			bad("precision", p.Name, "", "ops is empty, want names of operations.")
		}
		for _, op := range p.Ops {
			if other := seen[op]; other != "" {
				bad("precision", p.Name, "", "%s is one of %q, too: an operation is in one of them.", op, other)
			}
			seen[op] = p.Name
		}
		for _, a := range slices.Sorted(maps.Keys(p.Takes)) {
			if s.FindArch(a) == nil {
				bad("precision", p.Name, "", "takes has %q, which has no record as an arch.", a)
			}
			for _, t := range p.Takes[a] {
				if !types.MatchString(t) {
					bad("precision", p.Name, "", "%s takes %q, want types such as a16w8, a16a8, a8 or f16.", a, t)
				}
			}
		}
		facts("precision", p.Name, "", []*qnn.Fact{{Attribute: "takes", Confidence: p.Confidence, Source: p.Source}})
	}
	for _, g := range s.Defaults {
		facts("fact", g.Kind, "", []*qnn.Fact{{Attribute: g.Attribute, Confidence: g.Confidence, Source: g.Source}})
	}
	return diags
}
