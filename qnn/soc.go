package qnn

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/version"
)

// Facts are the records of SoCs, archs and SDKs that somebody has put together.
type Facts struct {
	SoCs   []*SoC
	Arches []*Arch
	Others OtherSoCs
	SDKs   []*SDK
	// Defaults are the provenance of shipped records without one of their own.
	Defaults []*DefaultProvenance
	// UnsupportedOps are operations that stay on the CPU.
	UnsupportedOps []*UnsupportedOp
	// Precisions say in which types operations are taken.
	Precisions []*Precision
}

// SoC is a record of a system on a chip. Two number spaces are easily confused: SoCModel is what QNN's APIs and
// configuration files want, AndroidIDs are what a phone says in /sys/devices/soc0/soc_id.
type SoC struct {
	Name            string   `hcl:"name,label"` // "SM8750"
	MarketingName   string   `hcl:"marketing_name,optional"`
	Arch            string   `hcl:"arch"` // Hexagon arch: "v79"
	SoCModel        int      `hcl:"soc_model"`
	VTCMMB          int      `hcl:"vtcm_mb,optional"`
	AndroidIDs      []int    `hcl:"soc_ids,optional"`
	MinSDK          string   `hcl:"min_sdk,optional"`          // first QAIRT SDK that knows it, as far as published: "2.37"
	SeenSDK         string   `hcl:"seen_sdk,optional"`         // oldest QAIRT SDK that is known to know it, if no first is published
	Aliases         []string `hcl:"aliases,optional"`          // other parts of the same model number
	MissingFeatures []string `hcl:"missing_features,optional"` // features of its arch that it does not have
	LPAI            string   `hcl:"lpai,optional"`             // version of its low-power AI core, where it has one
	Bandwidth       float64  `hcl:"bandwidth_gbs,optional"`    // most that its memory can give, GB/s; 0: not published
	Note            string   `hcl:"note,optional"`             // what is not sure
	Facts           []*Fact  `hcl:"fact,block"`
	From            string   // file of the workspace that has it; "" when it is shipped
}

// Arch is a record of a Hexagon arch: what its HTP can do, whatever the SDK, and which compilers and SDKs know it.
type Arch struct {
	Name      string            `hcl:"name,label"`          // "v79"
	HTP       *bool             `hcl:"htp,optional"`        // false: none; ask HasHTP
	CompileAs string            `hcl:"compile_as,optional"` // an arch of which compilers know more: code for it is compiled for that one
	Features  []string          `hcl:"features,optional"`   // of its HTP
	Since     map[string]string `hcl:"since,optional"`      // first version said to know it, of "tools" (the Hexagon compilers), or of an SDK such as "qairt"
	Seen      map[string]string `hcl:"seen,optional"`       // oldest version in which somebody has seen it, where that is a later one
	ContextMB int               `hcl:"context_mb,optional"` // most that one context may take, in MiB; 0: not known
	ProcessMB int               `hcl:"process_mb,optional"` // most that all contexts and buffers of a process may take
	Note      string            `hcl:"note,optional"`       // what is not sure
	Facts     []*Fact           `hcl:"fact,block"`
	From      string            // file of the workspace that has it; "" when it is shipped
	Doubtful  bool              // that compilers know it is inferred only; set by Settle
}

// HasHTP tells whether the arch has an HTP: QNN reaches older ones through another backend.
func (a *Arch) HasHTP() bool { return a.HTP == nil || *a.HTP }

// Compiled is the arch that compilers are asked for.
func (a *Arch) Compiled() string { return cmp.Or(a.CompileAs, a.Name) }

// OtherSoCs are numbers of SoCs of which no more is known: enough to say what a number is.
type OtherSoCs struct {
	Models     map[string]int `hcl:"models,optional"`  // soc_model by name
	AndroidIDs map[string]int `hcl:"soc_ids,optional"` // Android soc_id by name
}

// Target is what is built for.
type Target struct {
	SoC      string // "SM8750"
	Arch     string // "v79"
	SoCModel int    // QNN's number of the SoC: 69
	VTCMMB   int    // 8
}

// Target returns what a pipeline for the SoC builds for when it says no more.
func (s *SoC) Target() *Target {
	return &Target{SoC: s.Name, Arch: s.Arch, SoCModel: s.SoCModel, VTCMMB: s.VTCMMB}
}

// SoCFromKernelName returns the catalogue's name of a SoC that Linux names, in /sys/devices/soc0/machine of a board; most have the same in both. The kernel's
// are those of its drivers/soc/qcom/socinfo.c.
func SoCFromKernelName(name string) string {
	switch strings.ToUpper(name) {
	case "X1E80100":
		return "SC8380XP"
	case "QCS9075":
		return "QCS9100"
	case "QCS8275":
		return "QCS8300"
	}
	return name
}

// FindArch returns the record of an arch, nil when there is none.
func (f *Facts) FindArch(name string) *Arch {
	return find(f.Arches, func(a *Arch) bool { return a.Name == name })
}

// CompiledAs returns the archs for which code is compiled as for that one.
func (f *Facts) CompiledAs(arch string) (names []string) {
	for _, a := range f.Arches {
		if a.CompileAs == arch {
			names = append(names, a.Name)
		}
	}
	return names
}

// SDK returns the record of the SDK of that name, nil when there is none.
func (f *Facts) SDK(name string) *SDK {
	return find(f.SDKs, func(s *SDK) bool { return s.Name == name })
}

func find[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// Features are what the SoC's HTP can do: its arch's features without those that it lacks.
func (f *Facts) Features(s *SoC) []string {
	var out []string
	if a := f.FindArch(s.Arch); a != nil {
		for _, feature := range a.Features {
			if !slices.Contains(s.MissingFeatures, feature) {
				out = append(out, feature)
			}
		}
	}
	return out
}

// FindSoC returns the record of the SoC or of an alias; upper and lower case are one.
func (f *Facts) FindSoC(name string) (*SoC, error) {
	var have []string
	for _, s := range f.SoCs {
		for _, n := range append([]string{s.Name}, s.Aliases...) {
			if strings.EqualFold(n, name) {
				return s, nil
			}
			have = append(have, n)
		}
	}
	for other, model := range f.Others.Models {
		if strings.EqualFold(other, name) {
			return nil, fmt.Errorf("%s is soc_model %d of QNN, and nobody has published which Hexagon arch it has, if any: `hexmage compat` lists the SoCs that are known; when you know its arch, add it by `hexmage init --soc %s --arch ARCH --soc-model %d`", other, model, other, model)
		}
	}
	if n, err := strconv.Atoi(name); err == nil {
		return nil, fmt.Errorf("a SoC is named, as in \"SM8750\", and %q is a number: %s", name, f.numbered(n))
	}
	sort.Strings(have)
	hint := fmt.Sprintf("; `hexmage compat` lists the %d that are", len(have))
	if near := nearest.Name(name, have); near != "" {
		hint = ` (did you mean "` + near + `"?)`
	}
	return nil, fmt.Errorf("SoC %q is not in the catalogue%s; to add it: `hexmage init --soc %s --arch ARCH --soc-model N`, with its Hexagon (such as v81) and QNN's number of it", name, hint, name)
}

// numbered says what the number is, of those that people take for a SoC.
func (f *Facts) numbered(n int) string {
	var is []string
	for _, s := range f.SoCs {
		if slices.Contains(s.AndroidIDs, n) {
			is = append(is, fmt.Sprintf("%d is the Android soc_id of %s (soc_model %d)", n, s.Name, s.SoCModel))
		}
		if s.SoCModel == n {
			is = append(is, fmt.Sprintf("%d is the soc_model of %s", n, s.Name))
		}
	}
	for _, name := range numberedNames(f.Others.AndroidIDs, n) {
		is = append(is, fmt.Sprintf("%d is the Android soc_id of %s", n, name))
	}
	for _, name := range numberedNames(f.Others.Models, n) {
		is = append(is, fmt.Sprintf("%d is the soc_model of %s", n, name))
	}
	if len(is) == 0 {
		return "no SoC in the catalogue has it as its soc_model or its Android soc_id"
	}
	return strings.Join(is, ", ")
}

// numberedNames returns the names with that number, sorted.
func numberedNames(m map[string]int, number int) []string {
	var out []string
	for name, n := range m {
		if n == number {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// WithAndroidID returns the name of the SoC whose Android soc_id that is, "" when none has it.
func (f *Facts) WithAndroidID(n int) string {
	return f.with(n, f.Others.AndroidIDs, func(s *SoC) bool { return slices.Contains(s.AndroidIDs, n) })
}

// WithModel returns the name of the SoC whose soc_model that is, "" when none has it.
func (f *Facts) WithModel(n int) string {
	return f.with(n, f.Others.Models, func(s *SoC) bool { return s.SoCModel == n })
}

func (f *Facts) with(n int, others map[string]int, has func(*SoC) bool) string {
	if s := find(f.SoCs, has); s != nil {
		return s.Name
	}
	if names := numberedNames(others, n); len(names) > 0 {
		return names[0]
	}
	return ""
}

// SortedSoCs returns the SoCs, those with the newest arch first, by name.
func (f *Facts) SortedSoCs() []*SoC {
	out := slices.Clone(f.SoCs)
	slices.SortStableFunc(out, func(a, b *SoC) int {
		if n := version.Compare(b.Arch, a.Arch); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
