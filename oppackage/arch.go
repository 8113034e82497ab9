// Package oppackage has how a QNN HTP op package is built: per target the compiler, its flags, and the lines that compile
// and link, as a Makefile and as actions.
//
// Both come from one table (targets.hcl, and the records of Hexagon archs) through one function (Lines), so that `make htp_v79` and a pipeline issue the same
// commands. It knows nothing of what ops compute, which SDKs a machine has, or how actions run.
package oppackage

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsimple"

	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
)

//go:embed targets.hcl
var targetTable []byte

// Arch is a target of an op package, with everything that its compile and link lines are made of. Flags may hold
// $(NAME) references; see targets.hcl.
type Arch struct {
	Target   string   // "htp_v79": the goal of make, the element of a step's targets
	Family   string   // "hexagon", "android" or "host"
	Version  string   // "v79"; "" unless the family is hexagon
	Compiled string   // the arch that the compiler is asked for; mostly Version
	Folder   string   // output folder under the build folder: "hexagon-v79"
	Asm      string   // folder of the arch's assembly sources under src/ops
	MinTools string   // the oldest version of the Hexagon tools that knows the arch; "" if any will do
	Doubtful bool     // that is inferred only
	Needs    []string // toolchains: "qairt", "hexagon", "ndk"

	CXX       []string // compiler with the flags that both compiling and linking need
	Common    []string // flags of every compilation for every target
	Flags     []string // of every compilation for this one, after Common
	OpFlags   []string // of sources under src/ops, beside Flags
	LinkFlags []string
	Libs      []string // after the objects
}

type tableFile struct {
	Common struct {
		CXXFlags  []string `hcl:"cxx_flags"`
		OpFlags   []string `hcl:"op_flags"`
		MapFlags  []string `hcl:"map_flags"`
		LinkFlags []string `hcl:"link_flags"`
	} `hcl:"common,block"`
	Families []familyBlock `hcl:"family,block"`
	Targets  []struct {
		Target string `hcl:"target,label"`
		Family string `hcl:"family"`
		Folder string `hcl:"folder"`
		Asm    string `hcl:"asm"`
	} `hcl:"target,block"`
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

// hexagon is the family of targets that are made of the archs' records.
const hexagon = "hexagon"

// Targets are what op packages can be built for: the records of Hexagon archs, and what the table adds to them.
type Targets []*qnn.Arch

// Default returns the targets that are meant when none is named: all but those of which it is not sure that compilers know them.
func (t Targets) Default() ([]Arch, error) {
	return slices.DeleteFunc(slices.Clone(t), func(a *qnn.Arch) bool { return a.Doubtful }).Arches()
}

// Arches returns all targets: those of the table, then the archs that have an HTP.
func (t Targets) Arches() ([]Arch, error) {
	var table tableFile
	if err := hclsimple.Decode("targets.hcl", targetTable, nil, &table); err != nil {
		return nil, err
	}
	var arches []Arch
	for _, b := range table.Targets {
		arches = append(arches, Arch{Target: b.Target, Family: b.Family, Folder: b.Folder, Asm: b.Asm})
	}
	for _, a := range t {
		if a.HasHTP() {
			arches = append(arches, Arch{Target: "htp_" + a.Name, Family: hexagon, Version: a.Name, Compiled: a.Compiled(),
				Folder: "hexagon-" + a.Name, Asm: a.Name + "_asm", MinTools: a.Since["tools"], Doubtful: a.Doubtful})
		}
	}
	c := table.Common
	for i := range arches {
		a := &arches[i]
		family := table.Families[slices.IndexFunc(table.Families, func(f familyBlock) bool { return f.Name == a.Family })]
		fill := func(lists ...[]string) []string {
			var out []string
			for _, s := range slices.Concat(lists...) {
				out = append(out, strings.ReplaceAll(s, "$(ARCH)", a.Compiled))
			}
			return out
		}
		a.Needs, a.CXX, a.Common, a.Flags = family.Needs, fill(family.CXX), fill(c.CXXFlags), fill(family.Flags, c.MapFlags)
		a.OpFlags, a.LinkFlags, a.Libs = fill(c.OpFlags, family.OpFlags), fill(c.LinkFlags, family.LinkFlags), fill(family.Libs)
	}
	return arches, nil
}

// Select returns the arches of the targets of these names, in the names' order. An unknown or repeated target is an error that lists
// the known ones.
func (t Targets) Select(names []string) ([]Arch, error) {
	all, err := t.Arches()
	if err != nil {
		return nil, err
	}
	byTarget := map[string]Arch{}
	var known []string
	for _, a := range all {
		byTarget[a.Target] = a
		known = append(known, a.Target)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no target is given; there is %s", strings.Join(known, ", "))
	}
	var out []Arch
	seen := map[string]bool{}
	for _, name := range names {
		a, ok := byTarget[name]
		if !ok {
			near := nearest.Name(name, known)
			if near != "" {
				near = " (did you mean " + near + "?)"
			}
			return nil, fmt.Errorf("op packages have no target %q%s; there is %s", name, near, strings.Join(known, ", "))
		}
		if seen[name] {
			return nil, fmt.Errorf("target %s is given twice", name)
		}
		seen[name] = true
		out = append(out, a)
	}
	return out, nil
}

// CheckHVX refuses what is neither an HVX version that compilers know, nor compiler flags, nor "".
func (t Targets) CheckHVX(hvx string) error {
	if hvx == "" || strings.HasPrefix(hvx, "-") {
		return nil
	}
	var known []string
	for _, a := range t {
		if a.CompileAs == "" {
			known = append(known, a.Name)
		}
	}
	if slices.Contains(known, hvx) {
		return nil
	}
	return fmt.Errorf("there is no HVX version %q; there is %s; anything else is written as a compiler flag: \"-mhvx=%s\"", hvx, strings.Join(known, ", "), hvx)
}

// CheckTools returns an error if a version of the Hexagon tools, such as "8.8.06", cannot build for the arch.
func (a Arch) CheckTools(tools string) error {
	if a.Doubtful || !version.Older(tools, a.MinTools) {
		return nil
	}
	return fmt.Errorf("%s needs Hexagon tools %s or newer, not %s: use a newer Hexagon SDK, which `hexmage toolchain list hexagon` lists", a.Target, a.MinTools, tools)
}
