package toolchains

import (
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/hexmage/hexmage/internal/version"
)

// Facts are what rules are asked about. What is not set is not known, and rules that mention it are not asked.
//
// In rules: `target` is what the pipeline builds for (soc, arch, soc_model, vtcm_mb), `soc` what the catalogue says of that SoC (name,
// marketing, arch, soc_model, vtcm_mb, soc_ids, min_sdk, features, note), `qairt`, `hexagon`, `ndk`, … a release of the toolchain
// of that name (name, version, build_id, tools_version, revision, arches, core_api, htp_api, context_blob, stand_in, installed), `step` the step
// (see package compatstep). Texts that are not known are "", numbers 0, lists empty.
type Facts struct {
	Target     *Target
	Toolchains []Known
	Step       map[string]cty.Value
}

// Target is what is built for.
type Target struct {
	SoC, Arch        string
	SoCModel, VTCMMB int
}

// Known is what is known of a release that is used: what the catalogue says, or what an installed copy says of itself.
type Known struct {
	Name                           string
	Version, BuildID, ToolsVersion string
	Revision                       string
	Arches                         []string
	CoreAPI, HTPAPI, ContextBlob   string
	StandIn, Installed             bool
}

// Known returns what the catalogue says of a release, with its archs.
func (t *Toolchain) Known(r *Release) Known {
	return Known{Name: t.Name, Version: r.Version, BuildID: r.BuildID, ToolsVersion: r.ToolsVersion, Revision: r.Revision, Arches: r.Arches,
		CoreAPI: r.CoreAPI, HTPAPI: r.HTPAPI, ContextBlob: r.ContextBlob}
}

// Learned is Known with what a toolchain block has found out of the release on top: an installed copy may have other compilers than the
// release came with, which know other archs.
func (t *Toolchain) Learned(r *Release, attrs cty.Value) Known {
	k := t.Known(r)
	k.Learn(attrs)
	if arches := t.ToolsArches(k.ToolsVersion); k.ToolsVersion != r.ToolsVersion && len(arches) > 0 {
		k.Arches = arches
	}
	return k
}

// Learn takes over what a toolchain block has found out of the release: an object with version, build_id, tools_version, arches, source.
func (k *Known) Learn(attrs cty.Value) {
	if attrs == cty.NilVal || attrs.IsNull() || !attrs.Type().IsObjectType() {
		return
	}
	for name, to := range map[string]*string{"version": &k.Version, "build_id": &k.BuildID, "tools_version": &k.ToolsVersion} {
		if attrs.Type().HasAttribute(name) {
			if v, _ := attrs.GetAttr(name).Unmark(); v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
				*to = v.AsString()
			}
		}
	}
	if attrs.Type().HasAttribute("source") {
		if v, _ := attrs.GetAttr("source").Unmark(); v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			k.Installed, k.StandIn = v.AsString() == "installed", v.AsString() == "embedded"
		}
	}
}

// Target returns what the catalogue would have a pipeline build for.
func (s *SoC) Target() *Target {
	return &Target{SoC: s.Name, Arch: s.Arch, SoCModel: s.SoCModel, VTCMMB: s.VTCMMB}
}

func (c *Catalogue) variables(f Facts) map[string]cty.Value {
	vars := map[string]cty.Value{}
	if t := f.Target; t != nil {
		vars["target"] = cty.ObjectVal(map[string]cty.Value{"soc": cty.StringVal(t.SoC), "arch": cty.StringVal(t.Arch),
			"soc_model": number(t.SoCModel), "vtcm_mb": number(t.VTCMMB)})
		if s, err := c.FindSoC(t.SoC); err == nil {
			vars["soc"] = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(s.Name), "marketing": cty.StringVal(s.Marketing),
				"arch": cty.StringVal(s.Arch), "soc_model": number(s.SoCModel), "vtcm_mb": number(s.VTCMMB), "soc_ids": numbers(s.AndroidIDs),
				"min_sdk": cty.StringVal(s.MinSDK), "features": List(c.Features(s)), "note": cty.StringVal(s.Note)})
		}
	}
	for _, k := range f.Toolchains {
		vars[k.Name] = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(k.Name), "version": cty.StringVal(k.Version),
			"build_id": cty.StringVal(k.BuildID), "tools_version": cty.StringVal(k.ToolsVersion), "revision": cty.StringVal(k.Revision),
			"arches": List(k.Arches), "core_api": cty.StringVal(k.CoreAPI), "htp_api": cty.StringVal(k.HTPAPI),
			"context_blob": cty.StringVal(k.ContextBlob), "stand_in": cty.BoolVal(k.StandIn),
			"installed": cty.BoolVal(k.Installed)})
	}
	if f.Step != nil {
		vars["step"] = cty.ObjectVal(f.Step)
	}
	return vars
}

// List is the strings as a list of HCL, which may be empty.
func List(texts []string) cty.Value {
	if len(texts) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	vs := make([]cty.Value, len(texts))
	for i, t := range texts {
		vs[i] = cty.StringVal(t)
	}
	return cty.ListVal(vs)
}

func number(n int) cty.Value { return cty.NumberIntVal(int64(n)) }

func numbers(ns []int) cty.Value {
	if len(ns) == 0 {
		return cty.ListValEmpty(cty.Number)
	}
	vs := make([]cty.Value, len(ns))
	for i, n := range ns {
		vs[i] = number(n)
	}
	return cty.ListVal(vs)
}

// functions are what rules can call: some of the language's, and questions to the catalogue. Those return "" when there is no
// answer.
func (c *Catalogue) functions() map[string]function.Function {
	text := func(answer func(a ...string) string, params ...string) function.Function {
		spec := &function.Spec{Type: function.StaticReturnType(cty.String)}
		for _, p := range params {
			spec.Params = append(spec.Params, function.Parameter{Name: p, Type: cty.String})
		}
		spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var a []string
			for _, v := range args {
				a = append(a, v.AsString())
			}
			return cty.StringVal(answer(a...)), nil
		}
		return function.New(spec)
	}
	of := func(name string, answer func(t *Toolchain) string) string {
		if t := c.toolchain(name); t != nil {
			return answer(t)
		}
		return ""
	}
	soc := func(a string, others map[string]int, has func(s *SoC, n int) bool) string {
		n, err := strconv.Atoi(a)
		if err != nil {
			return ""
		}
		if i := slices.IndexFunc(c.SoCs, func(s *SoC) bool { return has(s, n) }); i >= 0 {
			return c.SoCs[i].Name
		}
		if names := named(others, n); len(names) > 0 {
			return names[0]
		}
		return ""
	}
	return map[string]function.Function{
		"contains": stdlib.ContainsFunc, "format": stdlib.FormatFunc, "join": stdlib.JoinFunc,
		"length": stdlib.LengthFunc, "lower": stdlib.LowerFunc, "replace": stdlib.ReplaceFunc, "split": stdlib.SplitFunc, "upper": stdlib.UpperFunc,

		// or(a, b): b when a is "".
		"or": text(func(a ...string) string {
			if a[0] != "" {
				return a[0]
			}
			return a[1]
		}, "text", "otherwise"),
		// older(a, b): whether version a is known and comes before b.
		"older": function.New(&function.Spec{Params: []function.Parameter{{Name: "version", Type: cty.String}, {Name: "than", Type: cty.String}},
			Type: function.StaticReturnType(cty.Bool), Impl: func(a []cty.Value, _ cty.Type) (cty.Value, error) {
				return cty.BoolVal(version.Older(a[0].AsString(), a[1].AsString())), nil
			}}),
		// can_build(tools, arch): whether that version of the Hexagon tools knows the arch, or is not known itself.
		"can_build": function.New(&function.Spec{Params: []function.Parameter{{Name: "tools_version", Type: cty.String}, {Name: "arch", Type: cty.String}},
			Type: function.StaticReturnType(cty.Bool), Impl: func(a []cty.Value, _ cty.Type) (cty.Value, error) {
				t := c.toolchain("hexagon")
				if t == nil {
					return cty.True, nil
				}
				arches := t.ToolsArches(a[0].AsString())
				return cty.BoolVal(len(arches) == 0 || slices.Contains(arches, a[1].AsString())), nil
			}}),
		"first_with": text(func(a ...string) string {
			return of(a[0], func(t *Toolchain) string { return t.firstWith(a[1]) })
		}, "toolchain", "arch"),
		// first_open(toolchain, arch): the first release with the arch that needs no account.
		"first_open": text(func(a ...string) string {
			return of(a[0], func(t *Toolchain) string { return t.firstOpen(a[1]) })
		}, "toolchain", "arch"),
		"first_since": text(func(a ...string) string {
			return of(a[0], func(t *Toolchain) string { return t.firstSince(a[1]) })
		}, "toolchain", "version"),
		"first_tools": text(func(a ...string) string {
			return of("hexagon", func(t *Toolchain) string { return t.firstTools(a[0]) })
		}, "arch"),
		// with_tools(version): a Hexagon SDK with exactly those tools.
		"with_tools": text(func(a ...string) string {
			return of("hexagon", func(t *Toolchain) string {
				for _, r := range t.Sorted() {
					if r.ToolsVersion == a[0] {
						return r.Version
					}
				}
				return ""
			})
		}, "tools_version"),
		"soc_with_id": text(func(a ...string) string {
			return soc(a[0], c.Others.AndroidIDs, func(s *SoC, n int) bool { return slices.Contains(s.AndroidIDs, n) })
		}, "soc_id"),
		"soc_with_model": text(func(a ...string) string {
			return soc(a[0], c.Others.Models, func(s *SoC, n int) bool { return s.SoCModel == n })
		}, "soc_model"),
		"model_of": text(func(a ...string) string {
			if s, err := c.FindSoC(a[0]); err == nil {
				return strconv.Itoa(s.SoCModel)
			}
			return ""
		}, "soc"),
	}
}
