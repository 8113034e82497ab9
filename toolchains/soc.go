package toolchains

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// SoC is a record of a system on a chip. Two number spaces are easily confused: SoCModel is what QNN's APIs and
// configuration files want, AndroidIDs are what a phone says in /sys/devices/soc0/soc_id.
type SoC struct {
	Name       string   `hcl:"name,label"` // "SM8750"
	Marketing  string   `hcl:"marketing,optional"`
	Arch       string   `hcl:"arch"` // Hexagon arch: "v79"
	SoCModel   int      `hcl:"soc_model"`
	VTCMMB     int      `hcl:"vtcm_mb,optional"`
	AndroidIDs []int    `hcl:"soc_ids,optional"`
	MinSDK     string   `hcl:"min_sdk,optional"` // first QAIRT SDK that knows it, as far as published: "2.37"
	Aliases    []string `hcl:"aliases,optional"` // other parts of the same model number
	Lacks      []string `hcl:"lacks,optional"`   // features of its arch that it does not have
	LPAI       string   `hcl:"lpai,optional"`    // version of its low-power AI core, where it has one
	Note       string   `hcl:"note,optional"`    // what is not sure
}

// Arch is a record of a Hexagon arch: what its HTP can do, whatever the SDK. Which releases can build for it and which have
// libraries for it is in the records of those.
type Arch struct {
	Name     string   `hcl:"name,label"` // "v79"
	Features []string `hcl:"features,optional"`
	Note     string   `hcl:"note,optional"`
}

// OtherSoCs are numbers of SoCs of which no more is known: enough to say what a number is.
type OtherSoCs struct {
	Models     map[string]int `hcl:"models,optional"`  // soc_model by name
	AndroidIDs map[string]int `hcl:"soc_ids,optional"` // Android soc_id by name
}

func (o *OtherSoCs) add(more *OtherSoCs) {
	for _, m := range []struct{ to, from *map[string]int }{{&o.Models, &more.Models}, {&o.AndroidIDs, &more.AndroidIDs}} {
		if *m.to == nil {
			*m.to = map[string]int{}
		}
		maps.Copy(*m.to, *m.from)
	}
}

// named returns the names with that number, sorted.
func named(m map[string]int, number int) []string {
	var out []string
	for name, n := range m {
		if n == number {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// FindArch returns the record of an arch, nil when there is none.
func (c *Catalogue) FindArch(name string) *Arch {
	for _, a := range c.Arches {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Features are what the SoC's HTP can do: its arch's features without those that it lacks.
func (c *Catalogue) Features(s *SoC) []string {
	var out []string
	if a := c.FindArch(s.Arch); a != nil {
		for _, f := range a.Features {
			if !slices.Contains(s.Lacks, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

var archRE = lazyregexp.New(`^v\d{2}$`)

func (s *SoC) check(file string) hcl.Diagnostics {
	if archRE.MatchString(s.Arch) && s.SoCModel >= 0 && s.VTCMMB >= 0 {
		return nil
	}
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Catalogue of SoCs",
		Detail: fmt.Sprintf("%s: soc %q: arch is %q, want a Hexagon arch such as \"v79\"; soc_model and vtcm_mb are not negative.", file, s.Name, s.Arch)}}
}

// TargetType is the type of what Targets returns.
func TargetType() cty.Type {
	return cty.Object(map[string]cty.Type{"soc": cty.String, "arch": cty.String, "soc_model": cty.Number, "vtcm_mb": cty.Number, "soc_id": cty.Number})
}

// FindSoC returns the record of the SoC or of an alias; upper and lower case are one.
func (c *Catalogue) FindSoC(name string) (*SoC, error) {
	var have []string
	for _, s := range c.SoCs {
		for _, n := range append([]string{s.Name}, s.Aliases...) {
			if strings.EqualFold(n, name) {
				return s, nil
			}
			have = append(have, n)
		}
	}
	for other, model := range c.Others.Models {
		if strings.EqualFold(other, name) {
			return nil, fmt.Errorf("%s is soc_model %d of QNN, and nobody has published which Hexagon arch it has, if any; when you know it, write a soc block in toolchains/*.hcl of the workspace", other, model)
		}
	}
	if n, err := strconv.Atoi(name); err == nil {
		return nil, fmt.Errorf("a SoC is named, as in \"SM8750\", and %q is a number: %s", name, c.numbered(n))
	}
	sort.Strings(have)
	near := didYouMean(name, have)
	if near == "" {
		near = "; it has " + strings.Join(have, ", ")
	}
	return nil, fmt.Errorf("SoC %q is not in the catalogue%s; to add one, write a soc block in toolchains/*.hcl of the workspace", name, near)
}

// numbered says what the number is, of those that people take for a SoC.
func (c *Catalogue) numbered(n int) string {
	var is []string
	for _, s := range c.SoCs {
		if slices.Contains(s.AndroidIDs, n) {
			is = append(is, fmt.Sprintf("%d is the Android soc_id of %s (soc_model %d)", n, s.Name, s.SoCModel))
		}
		if s.SoCModel == n {
			is = append(is, fmt.Sprintf("%d is the soc_model of %s", n, s.Name))
		}
	}
	for _, name := range named(c.Others.AndroidIDs, n) {
		is = append(is, fmt.Sprintf("%d is the Android soc_id of %s", n, name))
	}
	for _, name := range named(c.Others.Models, n) {
		is = append(is, fmt.Sprintf("%d is the soc_model of %s", n, name))
	}
	if len(is) == 0 {
		return "no SoC in the catalogue has it as its soc_model or its Android soc_id"
	}
	return strings.Join(is, ", ")
}

// FindAndroidSoC returns the record for what a phone says in /sys/devices/soc0/soc_id.
func (c *Catalogue) FindAndroidSoC(id int) (*SoC, error) {
	for _, s := range c.SoCs {
		for _, have := range s.AndroidIDs {
			if have == id {
				return s, nil
			}
		}
	}
	return nil, fmt.Errorf("no SoC in the catalogue has the Android soc_id %d; add a soc block in toolchains/*.hcl of the workspace", id)
}

// Targets returns what the language knows as `target`: {soc, arch, soc_model, vtcm_mb, soc_id (the first that Android knows; 0: not known)}.
func (c *Catalogue) Targets(soc string) (cty.Value, hcl.Diagnostics) {
	s, err := c.FindSoC(soc)
	if err != nil {
		return cty.UnknownVal(TargetType()), hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unknown SoC", Detail: err.Error() + "."}}
	}
	id := 0
	if len(s.AndroidIDs) > 0 {
		id = s.AndroidIDs[0]
	}
	return cty.ObjectVal(map[string]cty.Value{
		"soc":       cty.StringVal(s.Name),
		"arch":      cty.StringVal(s.Arch),
		"soc_model": cty.NumberIntVal(int64(s.SoCModel)),
		"vtcm_mb":   cty.NumberIntVal(int64(s.VTCMMB)),
		"soc_id":    cty.NumberIntVal(int64(id)),
	}), nil
}

// Targets is Catalogue.Targets of the built-in catalogue.
func Targets(soc string) (cty.Value, hcl.Diagnostics) {
	c, diags := Builtin()
	if diags.HasErrors() {
		return cty.UnknownVal(TargetType()), diags
	}
	return c.Targets(soc)
}
