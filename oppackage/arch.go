// Package oppackage builds QNN HTP op packages. For each target, it has the compiler, its flags, and the compile and
// link lines.
//
// A Makefile and hexmage's actions get their lines from one function (Lines) and one table (targets.hcl and the
// records of Hexagon archs). So `make htp_v79` and a pipeline run the same commands.
//
// The package does not know what ops compute, which SDKs are installed, or how actions run.
package oppackage

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsimple"

	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
)

//go:embed targets.hcl
var targetTable []byte

// Arch is a target of an op package, with its compiler, flags and libraries. Flags may contain $(NAME) references: see
// targets.hcl.
type Arch struct {
	Target   string   // "htp_v79": the Makefile goal, and an element of a step's targets
	Family   string   // "hexagon", "android" or "host"
	Version  string   // "v79"; "" unless the family is hexagon
	Compiled string   // the arch in the compiler's flags; usually Version
	Folder   string   // output folder under the build folder: "hexagon-v79"
	Asm      string   // folder of the arch's assembly sources under src/ops
	MinTools string   // oldest Hexagon tools version that supports the arch; "" for any
	Doubtful bool     // whether MinTools is only inferred
	Needs    []string // toolchains: "qairt", "hexagon", "ndk"

	CXX       []string // compiler, with the flags for compiling and linking
	Common    []string // flags of each compilation for any target
	Flags     []string // flags of each compilation for this target, after Common
	OpFlags   []string // flags of sources under src/ops, besides Flags
	LinkFlags []string
	Libs      []string // words after the objects on the link line
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

// hexagon is the family of targets that come from the records of archs.
const hexagon = "hexagon"

// Targets holds the records of Hexagon archs. The file targets.hcl contains all other targets.
type Targets []*qnn.Arch

// Default returns the default targets. These are all targets that a known compiler supports.
func (t Targets) Default() ([]Arch, error) {
	return slices.DeleteFunc(slices.Clone(t), func(a *qnn.Arch) bool { return a.Doubtful }).Arches()
}

// Arches returns the targets in targets.hcl, and then one target for each arch with an HTP.
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

// Select returns the targets with these names, in this order. The error for an unknown name lists the known names.
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
		return nil, fmt.Errorf("missing target: choose from %s", strings.Join(known, ", "))
	}
	var out []Arch
	seen := map[string]bool{}
	for _, name := range names {
		a, ok := byTarget[name]
		if !ok {
			near := suggest.Name(name, known)
			if near != "" {
				near = " (did you mean " + near + "?)"
			}
			return nil, fmt.Errorf("unknown op package target %q%s: choose from %s", name, near, strings.Join(known, ", "))
		}
		if seen[name] {
			return nil, fmt.Errorf("duplicate target %s: remove one", name)
		}
		seen[name] = true
		out = append(out, a)
	}
	return out, nil
}

// CheckHVX returns an error if hvx is an unknown HVX version. It accepts "" and compiler flags.
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
	return fmt.Errorf("unknown HVX version %q: choose from %s, or use a compiler flag such as \"-mhvx=%s\"", hvx, strings.Join(known, ", "), hvx)
}

// CheckTools returns an error if a Hexagon tools version, such as "8.8.06", does not support the arch.
func (a Arch) CheckTools(tools string) error {
	if a.Doubtful || !version.Older(tools, a.MinTools) {
		return nil
	}
	return fmt.Errorf("%s: Hexagon tools %s or newer are required, found %s: choose a newer Hexagon SDK from `hexmage toolchain list hexagon`", a.Target, a.MinTools, tools)
}
