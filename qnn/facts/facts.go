// Package facts reads what is known of Qualcomm's world, as data: blocks soc, arch, other_socs and compat, and of toolchain blocks what is
// true of a release wherever it comes from. The SoCs, archs and rules that hexmage knows are HCL files here; releases are in the files of
// package toolchains, which hands them in with those of a workspace.
//
// One enters it with Load or Builtin, and asks the rules with Set.Ask. It knows no sources, no digests and no files of SDKs: what it does
// not understand of a toolchain block it hands back. Types and comparisons that need no HCL are package qnn's.
package facts

import (
	"embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/qnn"
)

//go:embed *.hcl
var builtin embed.FS

// Set is what is known: the records, and the rules of what goes together.
type Set struct {
	qnn.Facts
	Rules []*Rule
}

// File is a file to read.
type File struct {
	Name    string // for diagnostics
	Content []byte
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
	Toolchains []*toolchainBlock `hcl:"toolchain,block"`
	SoCs       []*qnn.SoC        `hcl:"soc,block"`
	Arches     []*qnn.Arch       `hcl:"arch,block"`
	Others     []*qnn.OtherSoCs  `hcl:"other_socs,block"`
	Rules      []*Rule           `hcl:"compat,block"`
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
		all = append(all, File{"<hexmage>/qnn/facts/" + e.Name(), b})
	}
	all = append(all, files...)
	contents, problems := make([]content, len(all)), make([]hcl.Diagnostics, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() { problems[i] = f.decode(&contents[i]) })
	}
	wg.Wait()
	s := &Set{}
	var rest []Toolchain
	var diags hcl.Diagnostics
	for i, f := range all {
		if diags = append(diags, problems[i]...); problems[i].HasErrors() {
			continue
		}
		rest = append(rest, s.addToolchains(contents[i].Toolchains, f.Name)...)
		diags = append(diags, s.add(contents[i], f.Name)...)
	}
	for _, sdk := range s.SDKs {
		for _, r := range sdk.Releases {
			if len(r.Arches) == 0 {
				r.Arches = sdk.ToolsArches(r.ToolsVersion)
			}
		}
	}
	return s, rest, diags
}

func (f File) decode(to *content) hcl.Diagnostics {
	parsed, diags := hclsyntax.ParseConfig(f.Content, f.Name, hcl.InitialPos)
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

func (s *Set) add(c content, file string) (diags hcl.Diagnostics) {
	for _, soc := range c.SoCs {
		diags = append(diags, checkSoC(soc, file)...)
		s.SoCs = replace(s.SoCs, soc, func(have *qnn.SoC) bool { return have.Name == soc.Name })
	}
	for _, a := range c.Arches {
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

func checkSoC(s *qnn.SoC, file string) hcl.Diagnostics {
	if regexp.MustCompile(`^v\d{2}$`).MatchString(s.Arch) && s.SoCModel >= 0 && s.VTCMMB >= 0 {
		return nil
	}
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Catalogue of SoCs",
		Detail: fmt.Sprintf("%s: soc %q: arch is %q, want a Hexagon arch such as \"v79\"; soc_model and vtcm_mb are not negative.", file, s.Name, s.Arch)}}
}
