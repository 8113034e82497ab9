package cli

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/toolchains"
)

// skeleton reads a pipeline, the workspace's own or a shipped one, and unpacks nothing: nil if it has errors.
func (a *app) skeleton(name string) (cfg *config.Pipeline, own bool) {
	var from fs.FS = hexmage.Shipped
	own = a.Root != "" && workspace.Has(rooted.FS(a.Root), name)
	if own {
		from = rooted.FS(a.Root)
	}
	// as the binary carries them
	cfg, diags := config.Load(from, name, func(source string) (config.ModuleFolder, error) {
		if f, ok := moduleOf(from, source); ok {
			return f, nil
		}
		f, _ := moduleOf(hexmage.Shipped, source)
		return f, nil
	})
	if diags.HasErrors() {
		cfg = nil
	}
	return cfg, own
}

// Headings of the list that which prints.
const (
	groupOwn       = "Of this workspace"
	groupSimulated = "Shipped, with simulations of Qualcomm's parts"
	groupEmulator  = "Shipped, with Qualcomm's compiler and emulator, from public packages"
	groupOthers    = "Shipped, with what you have"
)

// which is the error for a command that no pipeline was named for: it lists those that there are, with what one has
// to have for each, beside what hexmage gets by itself.
func (a *app) which() error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	groups := map[string]string{}
	names := a.pipelines()
	width := 0
	for _, name := range names {
		width = max(width, shown(name))
	}
	for _, name := range names {
		cfg, own := a.skeleton(name)
		group, says := groupOwn, "cannot be read: hexmage validate "+name
		var needs []string
		if cfg != nil {
			says = cmp.Or(cfg.Description, "no description")
			for _, profile := range profilesOf(cfg.Module) {
				need := cmp.Or(strings.Join(d.needs(cfg.Module, profile), ", "), "nothing")
				needs = append(needs, strings.TrimPrefix(profile+": "+need, ": "))
			}
			if !own {
				group = groupOf(defaultProfile(cfg.Module))
			}
		}
		groups[group] += fmt.Sprintf("  %-*s  %s\n", width, name, says)
		if len(needs) > 0 {
			groups[group] += fmt.Sprintf("  %-*s  needs %s\n", width, "", strings.Join(needs, "; "))
		}
	}
	text := "which pipeline? hexmage run NAME [--profile PROFILE]\n\n"
	for _, group := range []string{groupOwn, groupSimulated, groupEmulator, groupOthers} {
		if groups[group] != "" {
			text += group + ":\n\n" + groups[group] + "\n"
		}
	}
	return usageError("%sOne of your own: hexmage init. What this machine lacks: hexmage doctor", text)
}

// profilesOf are the names of a module's profiles; without any, the one that has no name.
func profilesOf(m *config.Module) (names []string) {
	for _, p := range m.Profiles {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return names
}

// defaultProfile is the one that is taken when none is named.
func defaultProfile(m *config.Module) string {
	for _, p := range m.Profiles {
		if p.Default {
			return p.Name
		}
	}
	return ""
}

func groupOf(profile string) string {
	switch profile {
	case toolchains.ProfileEmulator:
		return groupEmulator
	case "device":
		return groupOthers
	}
	return groupSimulated
}

// needs are the SDKs, by their names in the catalogue, that somebody must have for the steps of a module, and of
// those that it calls, in a profile; and a device, if one is used. It evaluates nothing but locals that say plainly
// whether a step is there.
func (d *domain) needs(m *config.Module, profile string) []string {
	declared, used, kinds := map[string]bool{}, map[string]bool{}, map[string]bool{}
	eachModule("", m, profile, func(_ string, p config.Parts) {
		for _, t := range p.Toolchains {
			declared[t.At.Name] = true
		}
		for _, l := range p.Locals {
			noteToolchains(l.Expr.Variables(), used)
		}
		for _, s := range p.Steps {
			if !off(s.When, p) {
				kinds[s.At.Kind] = true
				noteToolchains(references(s.Body), used)
			}
		}
	})
	for kind := range kinds {
		if k := d.kinds[kind]; k != nil {
			for _, name := range k.Schema().Toolchains {
				used[name] = true
			}
		}
	}
	var needs []string
	for _, t := range d.catalogue().Toolchains {
		if !declared[t.Name] || !used[t.Name] {
			continue
		}
		ch, err := d.catalogue().Choose(toolchains.Request{Name: t.Name, Profile: profile, Lock: d.lock})
		if err != nil || !slices.Contains([]string{"embedded", "deb", "pypi", "python", "maven"}, ch.Source.Kind) {
			needs = append(needs, t.Name)
		}
	}
	if kinds["run"] && !kinds["simulated_phone"] {
		needs = append(needs, "a phone or board")
	}
	return needs
}

// eachModule calls do with the parts that a module has in a profile, and so for the modules that it calls, with what
// addresses in them begin with.
func eachModule(at string, m *config.Module, profile string, do func(at string, p config.Parts)) {
	if m == nil {
		return
	}
	parts := m.With(profile)
	do(at, parts)
	for _, c := range parts.Calls {
		if !off(c.When, parts) {
			eachModule(at+"module."+c.Name+".", c.Module, profile, do)
		}
	}
}

// off tells whether a condition is a local that is false, as it stands there.
func off(when hcl.Expression, in config.Parts) bool {
	if when == nil {
		return false
	}
	t, diags := hcl.AbsTraversalForExpr(when)
	if diags.HasErrors() || len(t) != 2 || t.RootName() != "local" {
		return false
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	return ok && slices.ContainsFunc(in.Locals, func(l *config.Local) bool {
		v, diags := l.Expr.Value(nil)
		return l.Name == attr.Name && !diags.HasErrors() && v.RawEquals(cty.False)
	})
}

// references are those of a block.
func references(body hcl.Body) (refs []hcl.Traversal) {
	syntax, ok := body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	hclsyntax.VisitAll(syntax, func(n hclsyntax.Node) hcl.Diagnostics {
		if e, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			refs = append(refs, e.Traversal)
		}
		return nil
	})
	return refs
}

// noteToolchains notes the names of the toolchains among references.
func noteToolchains(refs []hcl.Traversal, names map[string]bool) {
	for _, t := range refs {
		if t.RootName() != addrs.Toolchain || len(t) < 2 {
			continue
		}
		if attr, ok := t[1].(hcl.TraverseAttr); ok {
			names[attr.Name] = true
		}
	}
}
