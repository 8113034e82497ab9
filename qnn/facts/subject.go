package facts

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
)

// Subject is what rules are asked about. What is not set is not known, and rules that mention it are not asked.
//
// In rules: `target` is what the pipeline builds for (soc, arch, soc_model, vtcm_mb), `arch` its Hexagon arch (name,
// context_mb, process_mb), `soc` what the catalogue says of that SoC (name,
// marketing_name, arch, soc_model, vtcm_mb, soc_ids, min_sdk, seen_sdk, features, note), `qairt`, `hexagon`, `ndk`, … a release of the toolchain
// of that name (name, version, build_id, tools_version, revision, arches, core_api, htp_api, context_blob, simulated, installed), `step` the step
// (see package steps). Texts that are not known are "", numbers 0, lists empty.
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

// functions are what rules can call: some of the language's, and questions to the records. Those return "" when there is no
// answer.
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

		// or(a, b): b when a is "".
		"or": text(func(a ...string) string { return cmp.Or(a[0], a[1]) }, "text", "otherwise"),
		// older(a, b): whether version a is known and comes before b.
		"older": truth(func(a ...string) bool { return version.Older(a[0], a[1]) }, "version", "than"),
		// can_build(tools, arch): whether that version of the Hexagon tools knows the arch, or is not known itself.
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
			return first(a[0], func(r *qnn.Release) bool { return !version.Older(r.Version, a[1]) })
		}, "toolchain", "version"),
		"first_tools": text(func(a ...string) string {
			if arch := s.FindArch(a[0]); arch != nil {
				return arch.Since["tools"]
			}
			return ""
		}, "arch"),
		// with_tools(version): a Hexagon SDK with exactly those tools.
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
		// confidence and source say how an attribute of a record is known: confidence("soc", "SM8750", "min_sdk").
		"confidence": text(func(a ...string) string { return s.factOf(a[0], a[1], a[2]).Confidence }, "kind", "name", "attribute"),
		"source":     text(func(a ...string) string { return s.factOf(a[0], a[1], a[2]).Source }, "kind", "name", "attribute"),
		// confidence_without(toolchain, arch) and source_without say on what it rests that the release has no such arch.
		"confidence_without": text(func(a ...string) string { return without(a[0], a[1]).Confidence }, "toolchain", "arch"),
		"source_without":     text(func(a ...string) string { return without(a[0], a[1]).Source }, "toolchain", "arch"),
		// upstream_model(soc): the soc_model that mllm's compiler takes the SoC's name for.
		"upstream_model": text(func(a ...string) string {
			if n, ok := s.Upstream[a[0]]; ok {
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

// factOf is how an attribute of the record of a SoC or an arch is known.
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

// answering is a function of texts.
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
