package steps

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/toolchains"
)

// Checked returns the kinds, those that rules are about with the rules asked before they plan. workspace is the folder that
// paths of the workspace start in.
func Checked(kinds map[string]step.Kind, c *toolchains.Catalogue, workspace string) map[string]step.Kind {
	out := make(map[string]step.Kind, len(kinds))
	about := map[string]func(*inquiry){
		"oppackage": (*inquiry).opPackage, "makefile": (*inquiry).opPackage, "quantize": func(*inquiry) {},
		"context": (*inquiry).context, "exec": (*inquiry).exec, "run": (*inquiry).run,
	}
	for name, k := range kinds {
		switch {
		case name == addrs.Toolchain:
			out[name] = CheckedToolchain(k, c)
		case about[name] != nil:
			out[name] = checked{Kind: k, catalogue: c, workspace: workspace, look: about[name]}
		default:
			out[name] = k
		}
	}
	return out
}

// CheckedToolchain returns the kind of toolchain blocks with the rules about one toolchain and the target asked.
func CheckedToolchain(k step.Kind, c *toolchains.Catalogue) step.Kind { return checkedToolchain{k, c} }

type checkedToolchain struct {
	step.Kind
	catalogue *toolchains.Catalogue
}

// Plan plans the block, and says what of it does not go with the target: also when it cannot be had on this machine.
func (k checkedToolchain) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	planned, diags := k.Kind.Plan(r)
	attrs := cty.NilVal
	if len(planned.Attrs) > 0 {
		attrs = cty.ObjectVal(planned.Attrs)
	}
	known := knownRelease(k.catalogue, r.At.Name, r.String("version"), attrs)
	if known.Version == "" {
		return planned, diags
	}
	found, ds := k.catalogue.Ask(facts.Subject{Target: facts.TargetOf(r.Target), Toolchains: []qnn.Known{known}}, r.At.Name)
	ds = append(ds, k.catalogue.Diagnostics(found, r.ArgRange)...)
	return planned, append(ds, diags...)
}

// checked asks the rules about a step.
type checked struct {
	step.Kind
	catalogue *toolchains.Catalogue
	workspace string
	look      func(*inquiry)
}

// Plan plans the step unless a rule forbids it.
func (k checked) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	if r.At.Kind == "exec" && !worth(r) {
		return k.Kind.Plan(r)
	}
	l := &inquiry{r: r, catalogue: k.catalogue, workspace: k.workspace, facts: noFacts(r)}
	k.look(l)
	if l.silent {
		return k.Kind.Plan(r)
	}
	found, diags := k.catalogue.Ask(facts.Subject{Target: facts.TargetOf(r.Target), Toolchains: l.toolchains(), Step: l.facts}, "step")
	found = append(found, k.catalogue.Judge(l.found)...)
	diags = append(diags, k.catalogue.Diagnostics(distinct(found), r.ArgRange)...)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	planned, more := k.Kind.Plan(r)
	return planned, append(diags, more...)
}

// distinct drops findings that say the same.
func distinct(found []qnn.Finding) []qnn.Finding {
	var out []qnn.Finding
	for _, f := range found {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// inquiry is what is found out about a step.
type inquiry struct {
	r         step.Request
	catalogue *toolchains.Catalogue
	workspace string
	facts     map[string]cty.Value
	found     []qnn.Finding // of rules that are code
	silent    bool          // there is nothing that a rule could be about
}

// noFacts is the object `step` of a step of which nothing is known:
//
//	kind, name     of the step
//	arches         Hexagon archs that an op package is to be built for
//	tools_version  version of the Hexagon tools that the step asks for; "": the SDK's
//	tools_wanted   versions of the Hexagon tools that the step, or a Makefile that it runs, looks for by name
//	unset_roots    variables such as HEXAGON_SDK_ROOT_V79 that a Makefile needs and nothing sets
//	renamed        calls in op sources that the SDK's headers no longer declare: {at, from, to, receiver, rule, series}
//	signed_pd      whether a signed protection domain is asked for
//	soc_models     numbers that a command passes as soc_model
//	vendor_first   a folder of the phone that LD_LIBRARY_PATH has before the pushed QNN libraries; "" when none is
//	aot_arch, aot_soc  what a config of upstream's compiler is for
func noFacts(r step.Request) map[string]cty.Value {
	empty := facts.List(nil)
	return map[string]cty.Value{
		"kind": cty.StringVal(r.At.Kind), "name": cty.StringVal(r.At.Name), "arches": empty, "tools_version": cty.StringVal(""), "tools_wanted": empty,
		"unset_roots": empty, "renamed": cty.EmptyTupleVal, "signed_pd": cty.False, "soc_models": empty, "vendor_first": cty.StringVal(""),
		"aot_arch": cty.StringVal(""), "aot_soc": cty.StringVal(""),
	}
}

func (l *inquiry) set(name string, texts []string) { l.facts[name] = facts.List(texts) }

// known returns what is known of a toolchain that the step uses.
func (l *inquiry) known(name string) (qnn.Known, bool) {
	use, ok := l.r.Toolchains[name]
	if !ok {
		return qnn.Known{}, false
	}
	var said qnn.Known
	learn(&said, use.Attrs)
	if said.Version == "" {
		return qnn.Known{}, false
	}
	return knownRelease(l.catalogue, name, said.Version, use.Attrs), true
}

// knownRelease is what is known of the release that a toolchain block names ("": the default one): what its record says, and on top what the block has
// found out. An installed copy may have other compilers than the release came with, which know other archs.
func knownRelease(c *toolchains.Catalogue, name, version string, attrs cty.Value) qnn.Known {
	k := qnn.Known{Name: name}
	t, release, err := c.Find(name, version)
	if err == nil {
		k = t.Known(release.Release)
	}
	came := k.ToolsVersion
	if learn(&k, attrs); err == nil && k.ToolsVersion != came {
		if arches, exact := c.ToolsArches(k.ToolsVersion); len(arches) > 0 {
			k.Arches, k.Exact = arches, exact
		}
	}
	return k
}

// learn takes over what a toolchain block has found out of the release: an object with version, build_id, tools_version, source.
func learn(k *qnn.Known, attrs cty.Value) {
	if attrs == cty.NilVal || attrs.IsNull() || !attrs.Type().IsObjectType() {
		return
	}
	source := ""
	for name, to := range map[string]*string{"version": &k.Version, "build_id": &k.BuildID, "tools_version": &k.ToolsVersion, "source": &source} {
		if attrs.Type().HasAttribute(name) {
			if v, _ := attrs.GetAttr(name).Unmark(); v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
				*to = v.AsString()
			}
		}
	}
	if source != "" {
		k.Installed, k.StandIn = source == "installed", source == "embedded"
	}
}

func (l *inquiry) toolchains() []qnn.Known {
	var out []qnn.Known
	for name := range l.r.Toolchains {
		if k, ok := l.known(name); ok {
			out = append(out, k)
		}
	}
	return out
}
