package facts

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/hexmage/hexmage/qnn"
)

// Subject holds the facts that rules see. Rules that mention an unset object do not apply.
//
// Objects in rules:
//   - `target`: the pipeline's target (soc, arch, soc_model, vtcm_mb);
//   - `arch`: its Hexagon arch (name, context_mb, process_mb);
//   - `soc`: the SoC's catalog record (name, marketing_name, arch, soc_model, vtcm_mb, soc_ids, min_sdk, seen_sdk,
//     features, note);
//   - `qairt`, `hexagon`, `ndk`, …: a release of that toolchain (name, version, build_id, tools_version, revision,
//     arches, core_api, htp_api, context_blob, simulated, installed);
//   - `step`: the step (see package steps).
//
// An unknown string is "", an unknown number 0, an unknown list empty.
type Subject struct {
	Target     *qnn.Target
	Toolchains []qnn.Known
	Step       map[string]cty.Value
}

func (s *Set) variables(f Subject) map[string]cty.Value {
	vars := map[string]cty.Value{}
	if t := f.Target; t != nil {
		vars["target"] = cty.ObjectVal(map[string]cty.Value{"soc": cty.StringVal(t.SoC), "arch": cty.StringVal(t.Arch),
			"soc_model": number(t.SoCModel), "vtcm_mb": number(t.VTCMMB)})
		if a := s.FindArch(t.Arch); a != nil {
			vars["arch"] = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(a.Name),
				"context_mb": number(a.ContextMB), "process_mb": number(a.ProcessMB)})
		}
		if soc, err := s.FindSoC(t.SoC); err == nil {
			vars["soc"] = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(soc.Name), "marketing_name": cty.StringVal(soc.MarketingName),
				"arch": cty.StringVal(soc.Arch), "soc_model": number(soc.SoCModel), "vtcm_mb": number(soc.VTCMMB), "soc_ids": numbers(soc.AndroidIDs),
				"min_sdk": cty.StringVal(soc.MinSDK), "seen_sdk": cty.StringVal(soc.SeenSDK), "features": List(s.Features(soc)), "note": cty.StringVal(soc.Note)})
		}
	}
	for _, k := range f.Toolchains {
		vars[k.Name] = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(k.Name), "version": cty.StringVal(k.Version),
			"build_id": cty.StringVal(k.BuildID), "tools_version": cty.StringVal(k.ToolsVersion), "revision": cty.StringVal(k.Revision),
			"arches": List(k.Arches), "core_api": cty.StringVal(k.CoreAPI), "htp_api": cty.StringVal(k.HTPAPI),
			"context_blob": cty.StringVal(k.ContextBlob), "simulated": cty.BoolVal(k.Simulated),
			"installed": cty.BoolVal(k.Installed)})
	}
	if f.Step != nil {
		vars["step"] = cty.ObjectVal(f.Step)
	}
	return vars
}

// List converts strings to an HCL list, which may be empty.
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

// functions returns the functions that rules can call: some of the language's, and queries of the records. A query
// without an answer returns "".
func (s *Set) functions(f Subject) map[string]function.Function {
	without := func(toolchain, arch string) qnn.Fact {
		if i := slices.IndexFunc(f.Toolchains, func(k qnn.Known) bool { return k.Name == toolchain }); i >= 0 {
			return s.Without(f.Toolchains[i], arch)
		}
		return qnn.Fact{}
	}
	text := func(answer func(a ...string) string, params ...string) function.Function {
		return answering(cty.String, func(a ...string) cty.Value { return cty.StringVal(answer(a...)) }, params)
	}
	truth := func(answer func(a ...string) bool, params ...string) function.Function {
		return answering(cty.Bool, func(a ...string) cty.Value { return cty.BoolVal(answer(a...)) }, params)
	}
	first := func(sdk string, is func(*qnn.Release) bool) string {
		if record := s.SDK(sdk); record != nil {
			return record.First(is)
		}
		return ""
	}
	numbered := func(a string, name func(int) string) string {
		n, err := strconv.Atoi(a)
		if err != nil {
			return ""
		}
		return name(n)
	}
	return map[string]function.Function{
		"contains": stdlib.ContainsFunc, "format": stdlib.FormatFunc, "join": stdlib.JoinFunc,
		"length": stdlib.LengthFunc, "lower": stdlib.LowerFunc, "replace": stdlib.ReplaceFunc, "split": stdlib.SplitFunc, "upper": stdlib.UpperFunc,

		// or(a, b): a, or b if a is "".
		"or": text(func(a ...string) string { return cmp.Or(a[0], a[1]) }, "text", "otherwise"),
		// older(a, b): reports whether version a is known and precedes b.
		"older": truth(func(a ...string) bool { return qnn.OlderRelease(a[0], a[1]) }, "version", "than"),
		// can_build(tools, arch): reports whether that Hexagon tools version is unknown or supports the arch.
		"can_build": truth(func(a ...string) bool {
			arches, _ := s.ToolsArches(a[0])
			return len(arches) == 0 || slices.Contains(arches, a[1])
		}, "tools_version", "arch"),
		"has_htp": truth(func(a ...string) bool { return s.HasHTP(a[0]) }, "arch"),
		"first_with": text(func(a ...string) string {
			return first(a[0], func(r *qnn.Release) bool { return slices.Contains(r.Arches, a[1]) })
		}, "toolchain", "arch"),
		// first_open(toolchain, arch): the first release with the arch that needs no account.
		"first_open": text(func(a ...string) string {
			return first(a[0], func(r *qnn.Release) bool { return r.Open && slices.Contains(r.Arches, a[1]) })
		}, "toolchain", "arch"),
		"first_since": text(func(a ...string) string {
			return first(a[0], func(r *qnn.Release) bool { return !qnn.OlderRelease(r.Version, a[1]) })
		}, "toolchain", "version"),
		"first_tools": text(func(a ...string) string {
			if arch := s.FindArch(a[0]); arch != nil {
				return arch.Since["tools"]
			}
			return ""
		}, "arch"),
		// with_tools(version): the Hexagon SDK with exactly that tools version.
		"with_tools": text(func(a ...string) string {
			if sdk := s.SDK("hexagon"); sdk != nil {
				for _, r := range sdk.Sorted() {
					if r.ToolsVersion == a[0] {
						return r.Version
					}
				}
			}
			return ""
		}, "tools_version"),
		"soc_with_id":    text(func(a ...string) string { return numbered(a[0], s.WithAndroidID) }, "soc_id"),
		"soc_with_model": text(func(a ...string) string { return numbered(a[0], s.WithModel) }, "soc_model"),
		// confidence and source describe an attribute of a record: confidence("soc", "SM8750", "min_sdk").
		"confidence": text(func(a ...string) string { return s.factOf(a[0], a[1], a[2]).Confidence }, "kind", "name", "attribute"),
		"source":     text(func(a ...string) string { return s.factOf(a[0], a[1], a[2]).Source }, "kind", "name", "attribute"),
		// confidence_without(toolchain, arch) and source_without describe the fact that the release lacks the arch.
		"confidence_without": text(func(a ...string) string { return without(a[0], a[1]).Confidence }, "toolchain", "arch"),
		"source_without":     text(func(a ...string) string { return without(a[0], a[1]).Source }, "toolchain", "arch"),
		// mllm_soc_model(soc): the soc_model that mllm's compiler uses for the SoC's name.
		"mllm_soc_model": text(func(a ...string) string {
			if n, ok := s.MllmChips[a[0]]; ok {
				return strconv.FormatUint(uint64(n), 10)
			}
			return ""
		}, "soc"),
		"model_of": text(func(a ...string) string {
			if soc, err := s.FindSoC(a[0]); err == nil {
				return strconv.Itoa(soc.SoCModel)
			}
			return ""
		}, "soc"),
	}
}

// factOf returns the provenance of an attribute in the record of a SoC or an arch.
func (s *Set) factOf(kind, name, attribute string) qnn.Fact {
	if kind == "arch" {
		if a := s.FindArch(name); a != nil {
			return a.Fact(&s.Facts, attribute)
		}
	} else if soc, err := s.FindSoC(name); err == nil {
		return soc.Fact(&s.Facts, attribute)
	}
	return qnn.Fact{Confidence: qnn.Inferred, Source: "no record"}
}

// answering returns an HCL function of strings.
func answering(result cty.Type, answer func(a ...string) cty.Value, params []string) function.Function {
	spec := &function.Spec{Type: function.StaticReturnType(result), Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var a []string
		for _, v := range args {
			a = append(a, v.AsString())
		}
		return answer(a...), nil
	}}
	for _, p := range params {
		spec.Params = append(spec.Params, function.Parameter{Name: p, Type: cty.String})
	}
	return function.New(spec)
}
