package steps

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
)

// flagSpec are the arguments that a step and its extra blocks share.
func flagSpec() hcldec.ObjectSpec {
	list := cty.List(cty.String)
	return hcldec.ObjectSpec{
		"includes":   &hcldec.AttrSpec{Name: "includes", Type: list},
		"defines":    &hcldec.AttrSpec{Name: "defines", Type: list},
		"flags":      &hcldec.AttrSpec{Name: "flags", Type: list},
		"link_flags": &hcldec.AttrSpec{Name: "link_flags", Type: list},
	}
}

// withExtras adds the arguments for a package's own flags.
func withExtras(args hcldec.ObjectSpec) hcldec.ObjectSpec {
	maps.Copy(args, flagSpec())
	nested := flagSpec()
	nested["targets"] = &hcldec.AttrSpec{Name: "targets", Type: cty.List(cty.String)}
	nested["sources"] = &hcldec.AttrSpec{Name: "sources", Type: cty.List(cty.String)}
	args["extra"] = &hcldec.BlockListSpec{TypeName: "extra", Nested: nested}
	return args
}

func withExtraDocs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"includes":   "More folders with headers: in the package (relative to it), or outputs of steps and toolchains.",
		"defines":    "More macros, NAME or NAME=VALUE.",
		"flags":      "More flags of the compiler, after all others.",
		"link_flags": "More flags of the linker, after the objects.",
		"extra":      "The same for some targets, and some sources (paths in the package, which may have * and ?).",
	})
	return docs
}

// extras reads the arguments of withExtras. The inputs are what they refer to.
func extras(r step.Request) ([]oppackage.Extra, []action.Input, hcl.Diagnostics) {
	var rooted []string
	var inputs []action.Input
	for _, name := range []string{"includes", "defines", "flags", "link_flags", "extra"} {
		for _, o := range r.Used(name) {
			rooted = append(rooted, o.Path())
			inputs = append(inputs, action.Input{Path: o.Path(), Artifact: &o, Shared: o.Kind == addrs.Toolchain})
		}
	}
	var out []oppackage.Extra
	var diags hcl.Diagnostics
	add := func(v cty.Value, argument string) {
		of := step.Request{Args: v}
		e := oppackage.Extra{
			Targets: of.Strings("targets"), Sources: of.Strings("sources"), Includes: of.Strings("includes"), Defines: of.Strings("defines"),
			Flags: of.Strings("flags"), LinkFlags: of.Strings("link_flags"), Rooted: rooted,
		}
		if argument != "extra" { // the step's own targets are what it builds for
			e.Targets, e.Sources = nil, nil
		}
		if len(e.Includes)+len(e.Defines)+len(e.Flags)+len(e.LinkFlags) == 0 {
			return
		}
		if err := e.Validate(); err != nil {
			diags = append(diags, r.ArgErrorf(argument, "Not flags of an op package", "%v.", err))
		}
		out = append(out, e)
	}
	add(r.Args, "flags")
	if blocks := r.Args.GetAttr("extra"); !blocks.IsNull() {
		for it := blocks.ElementIterator(); it.Next(); {
			_, v := it.Element()
			add(v, "extra")
		}
	}
	return out, step.Unique(inputs), diags
}
