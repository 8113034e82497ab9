package qnn

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/suggest"
	"github.com/hexmage/hexmage/internal/version"
)

// Facts holds the catalog's records of SoCs, archs and SDKs.
type Facts struct {
	SoCs   []*SoC
	Arches []*Arch
	Others OtherSoCs
	SDKs   []*SDK
	// Defaults holds the provenance of shipped records that have no Fact of their own.
	Defaults []*DefaultProvenance
	// UnsupportedOps lists operations that stay on the CPU.
	UnsupportedOps []*UnsupportedOp
	// Precisions lists the accepted types of operations.
	Precisions []*Precision
}

// SoC is the record of a system on a chip.
//
// SoCModel is the number in QNN's APIs and configuration files. AndroidIDs are the numbers that a phone reports in
// /sys/devices/soc0/soc_id.
type SoC struct {
	// "SM8750"
	Name          string `hcl:"name,label" json:"name"`
	MarketingName string `hcl:"marketing_name,optional" json:"marketing_name,omitempty"`
	// kind of the default facts for the record: "compiler"
	Basis string `hcl:"basis,optional" json:"-"`
	// Hexagon arch: "v79"
	Arch       string `hcl:"arch" json:"arch"`
	SoCModel   int    `hcl:"soc_model" json:"soc_model"`
	VTCMMB     int    `hcl:"vtcm_mb,optional" json:"vtcm_mb,omitempty"`
	AndroidIDs []int  `hcl:"soc_ids,optional" json:"soc_ids,omitempty"`
	// first QAIRT SDK that supports it, if published: "2.37"
	MinSDK string `hcl:"min_sdk,optional" json:"min_sdk,omitempty"`
	// oldest QAIRT SDK observed to support it, if the first is not published
	SeenSDK string `hcl:"seen_sdk,optional" json:"seen_sdk,omitempty"`
	// other parts with the same model number
	Aliases []string `hcl:"aliases,optional" json:"aliases,omitempty"`
	// features of its arch that it lacks
	MissingFeatures []string `hcl:"missing_features,optional" json:"missing_features,omitempty"`
	// version of its low-power AI core, or ""
	LPAI string `hcl:"lpai,optional" json:"lpai,omitempty"`
	// peak memory bandwidth in GB/s; 0 if not published
	Bandwidth float64 `hcl:"bandwidth_gbs,optional" json:"bandwidth_gbs,omitempty"`
	// doubts about the record
	Note  string  `hcl:"note,optional" json:"note,omitempty"`
	Facts []*Fact `hcl:"fact,block" json:"-"`
	// workspace file with the record; "" for a shipped record
	From string `json:"-"`
}

// Arch is the record of a Hexagon arch: the features of its HTP, and the compilers and SDKs that support it.
type Arch struct {
	// "v79"
	Name string `hcl:"name,label" json:"arch"`
	// false if the arch has no HTP; call HasHTP instead of reading this field
	HTP *bool `hcl:"htp,optional" json:"-"`
	// another arch whose code also runs on this arch, and which more compilers support
	CompileAs string `hcl:"compile_as,optional" json:"compile_as,omitempty"`
	// features of its HTP
	Features []string `hcl:"features,optional" json:"features,omitempty"`
	// first supporting version of "tools" (the Hexagon compilers) or of an SDK such as "qairt"
	Since map[string]string `hcl:"since,optional" json:"since,omitempty"`
	// oldest version observed to support it, if later than Since
	Seen map[string]string `hcl:"seen,optional" json:"seen,omitempty"`
	// largest context in MiB; 0 if unknown
	ContextMB int `hcl:"context_mb,optional" json:"context_mb,omitempty"`
	// largest sum of a process's contexts and buffers in MiB
	ProcessMB int `hcl:"process_mb,optional" json:"process_mb,omitempty"`
	// doubts about the record
	Note  string  `hcl:"note,optional" json:"note,omitempty"`
	Facts []*Fact `hcl:"fact,block" json:"-"`
	// workspace file with the record; "" for a shipped record
	From string `json:"-"`
	// whether compiler support is only inferred; Settle sets it
	Doubtful bool `json:"-"`
}

// HasHTP reports whether the arch has an HTP. Older archs need another QNN backend.
func (a *Arch) HasHTP() bool { return a.HTP == nil || *a.HTP }

// Compiled returns the arch to pass to the compiler.
func (a *Arch) Compiled() string { return cmp.Or(a.CompileAs, a.Name) }

// OtherSoCs holds the names and numbers of SoCs without a record, so that messages can name them.
type OtherSoCs struct {
	Models     map[string]int `hcl:"models,optional" json:"models"`   // soc_model by name
	AndroidIDs map[string]int `hcl:"soc_ids,optional" json:"soc_ids"` // Android soc_id by name
}

// Target is the SoC that a pipeline builds for.
type Target struct {
	SoC      string // "SM8750"
	Arch     string // "v79"
	SoCModel int    // QNN's number of the SoC: 69
	VTCMMB   int    // 8
}

// Target returns the default target for the SoC.
func (s *SoC) Target() *Target {
	return &Target{SoC: s.Name, Arch: s.Arch, SoCModel: s.SoCModel, VTCMMB: s.VTCMMB}
}

// SoCFromKernelName returns the catalog's name of a board's SoC. The kernel's name is in /sys/devices/soc0/machine and
// drivers/soc/qcom/socinfo.c. For most SoCs, both names are equal.
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

// FindArch returns the record of an arch, or nil.
func (f *Facts) FindArch(name string) *Arch {
	return find(f.Arches, func(a *Arch) bool { return a.Name == name })
}

// CompiledAs returns the other archs that can run code for this arch.
func (f *Facts) CompiledAs(arch string) (names []string) {
	for _, a := range f.Arches {
		if a.CompileAs == arch {
			names = append(names, a.Name)
		}
	}
	return names
}

// SDK returns the record of an SDK, or nil.
func (f *Facts) SDK(name string) *SDK {
	return find(f.SDKs, func(s *SDK) bool { return s.Name == name })
}

func find[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// Features returns the features of the SoC's HTP. These are the features of its arch, except the features that the SoC
// lacks.
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

// FindSoC returns the record of a SoC by name or alias, ignoring case.
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
			return nil, fmt.Errorf("SoC %s (soc_model %d): unknown Hexagon arch; `hexmage compat` lists the SoCs with a "+
				"known arch. To add the arch, run `hexmage init --soc %s --arch ARCH --soc-model %d`",
				other, model, other, model)
		}
	}
	if n, err := strconv.Atoi(name); err == nil {
		return nil, fmt.Errorf("SoC %q is a number; use a name such as \"SM8750\". In the catalog, %s",
			name, f.numbered(n))
	}
	sort.Strings(have)
	hint := fmt.Sprintf("; `hexmage compat` lists the %d known SoCs", len(have))
	if near := suggest.Name(name, have); near != "" {
		hint = ` (did you mean "` + near + `"?)`
	}
	return nil, fmt.Errorf("SoC %q is not in the catalog%s. To add the SoC, run `hexmage init --soc %s --arch ARCH "+
		"--soc-model N`, where ARCH is its Hexagon arch, such as v81, and N its soc_model", name, hint, name)
}

// numbered identifies the SoC with the number, for numbers that people use as SoC names.
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
		return "no SoC has this soc_model or Android soc_id"
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

// WithAndroidID returns the name of the SoC with the Android soc_id n, or "".
func (f *Facts) WithAndroidID(n int) string {
	return f.with(n, f.Others.AndroidIDs, func(s *SoC) bool { return slices.Contains(s.AndroidIDs, n) })
}

// WithModel returns the name of the SoC with the soc_model n, or "".
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

// SortedSoCs returns the SoCs sorted by arch, newest first, and then by name.
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
