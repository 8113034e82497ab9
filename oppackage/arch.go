// Package oppackage has how a QNN HTP op package is built: per target the compiler, its flags, and the lines that compile
// and link, as a Makefile and as actions.
//
// Both come from one table (arches.hcl) through one function (Lines), so that `make htp_v79` and a pipeline issue the same
// commands. It knows nothing of what ops compute, which SDKs a machine has, or how actions run.
package oppackage

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/version"
)

//go:embed arches.hcl
var archTable []byte

// Arch is a target of an op package, with everything that its compile and link lines are made of. Flags may hold
// $(NAME) references; see arches.hcl.
type Arch struct {
	Target   string   // "htp_v79": the goal of make, the element of a step's targets
	Family   string   // "hexagon", "android" or "host"
	Version  string   // "v79"; "" unless the family is hexagon
	Folder   string   // output folder under the build folder: "hexagon-v79"
	Asm      string   // folder of the arch's assembly sources under src/ops
	MinTools string   // the oldest version of the Hexagon tools that knows the arch; "" if any will do
	Needs    []string // toolchains: "qairt", "hexagon", "ndk"

	CXX       []string // compiler with the flags that both compiling and linking need
	Common    []string // flags of every compilation for every target
	Flags     []string // of every compilation for this one, after Common
	OpFlags   []string // of sources under src/ops, beside Flags
	LinkFlags []string
	Libs      []string // after the objects
}

type tableFile struct {
	Common   commonBlock   `hcl:"common,block"`
	Families []familyBlock `hcl:"family,block"`
	Arches   []archBlock   `hcl:"arch,block"`
}

type commonBlock struct {
	CXXFlags  []string `hcl:"cxx_flags"`
	OpFlags   []string `hcl:"op_flags"`
	MapFlags  []string `hcl:"map_flags"`
	LinkFlags []string `hcl:"link_flags"`
}

type familyBlock struct {
	Name      string   `hcl:"name,label"`
	Needs     []string `hcl:"needs"`
	CXX       []string `hcl:"cxx"`
	Flags     []string `hcl:"flags"`
	OpFlags   []string `hcl:"op_flags,optional"`
	LinkFlags []string `hcl:"link_flags,optional"`
	Libs      []string `hcl:"libs,optional"`
}

type archBlock struct {
	Target   string `hcl:"target,label"`
	Family   string `hcl:"family"`
	Version  string `hcl:"version,optional"`
	Folder   string `hcl:"folder"`
	Asm      string `hcl:"asm"`
	MinTools string `hcl:"min_tools,optional"`
}

// Arches returns the table of targets that comes with hexmage, in its order.
func Arches() ([]Arch, error) { return decodeArches("arches.hcl", archTable) }

func decodeArches(file string, data []byte) ([]Arch, error) {
	body, diags := hclparse.NewParser().ParseHCL(data, file)
	var table tableFile
	if !diags.HasErrors() {
		diags = append(diags, gohcl.DecodeBody(body.Body, nil, &table)...)
	}
	if diags.HasErrors() {
		return nil, errors.Join(diags.Errs()...)
	}
	families := map[string]familyBlock{}
	for _, f := range table.Families {
		families[f.Name] = f
	}
	var arches []Arch
	for _, a := range table.Arches {
		f, ok := families[a.Family]
		if !ok {
			return nil, fmt.Errorf("%s: arch %q: there is no family %q", file, a.Target, a.Family)
		}
		if (a.Version == "") == (a.Family == "hexagon") {
			return nil, fmt.Errorf("%s: arch %q: a version is what a hexagon arch has, and only that", file, a.Target)
		}
		c := table.Common
		fill := func(lists ...[]string) []string {
			var out []string
			for _, list := range lists {
				for _, s := range list {
					out = append(out, strings.ReplaceAll(s, "$(ARCH)", a.Version))
				}
			}
			return out
		}
		arches = append(arches, Arch{
			Target: a.Target, Family: a.Family, Version: a.Version, Folder: a.Folder, Asm: a.Asm, MinTools: a.MinTools, Needs: f.Needs,
			CXX: fill(f.CXX), Common: fill(c.CXXFlags), Flags: fill(f.Flags, c.MapFlags), OpFlags: fill(c.OpFlags, f.OpFlags),
			LinkFlags: fill(c.LinkFlags, f.LinkFlags), Libs: fill(f.Libs),
		})
	}
	return arches, nil
}

// Select returns the arches of the targets, in the targets' order. An unknown or repeated target is an error that lists
// the known ones.
func Select(targets []string) ([]Arch, error) {
	all, err := Arches()
	if err != nil {
		return nil, err
	}
	byTarget := map[string]Arch{}
	var known []string
	for _, a := range all {
		byTarget[a.Target] = a
		known = append(known, a.Target)
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("no target is given; there is %s", strings.Join(known, ", "))
	}
	var out []Arch
	seen := map[string]bool{}
	for _, t := range targets {
		a, ok := byTarget[t]
		if !ok {
			near := nearest.Name(t, known)
			if near != "" {
				near = " (did you mean " + near + "?)"
			}
			return nil, fmt.Errorf("op packages have no target %q%s; there is %s", t, near, strings.Join(known, ", "))
		}
		if seen[t] {
			return nil, fmt.Errorf("target %s is given twice", t)
		}
		seen[t] = true
		out = append(out, a)
	}
	return out, nil
}

// CheckTools says whether a version of the Hexagon tools, such as "8.8.06", can build for the arch; the error names what to
// take instead.
func (a Arch) CheckTools(tools string) error {
	if !version.Older(tools, a.MinTools) {
		return nil
	}
	return fmt.Errorf("%s needs Hexagon tools %s or newer, not %s: take a newer Hexagon SDK (6.2 has 8.8.06, 6.4 has 19.0.04)", a.Target, a.MinTools, tools)
}
