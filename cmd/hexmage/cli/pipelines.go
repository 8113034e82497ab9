package cli

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/workspace"
)

// skeleton reads a pipeline of the workspace or a shipped one without unpacking. It returns nil if the pipeline has
// errors.
func (a *app) skeleton(name string) (cfg *config.Pipeline, own bool) {
	var from fs.FS = hexmage.Shipped
	own = a.Root != "" && workspace.Has(safepath.FS(a.Root), name)
	if own {
		from = safepath.FS(a.Root)
	}
	// from the binary
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

// which returns the error for a missing pipeline argument. It lists the pipelines.
func (a *app) which() error {
	var own, shipped [][]string
	for _, name := range a.pipelines() {
		cfg, ours := a.skeleton(name)
		row := []string{"  " + name, "unreadable; run hexmage validate " + name}
		if cfg != nil {
			var profiles []string
			for _, p := range cfg.Profiles {
				profiles = append(profiles, p.Name)
			}
			row = []string{"  " + name, cmp.Or(cfg.Description, "no description"), strings.Join(profiles, ", ")}
		}
		if ours {
			own = append(own, row)
		} else {
			shipped = append(shipped, row)
		}
	}
	text := "missing pipeline name; use `hexmage run NAME [--profile PROFILE]`\n"
	if len(own) > 0 {
		text += "\nPipelines of this workspace, with their profiles:\n\n" + columns(own)
	}
	if files := a.misplaced(); len(files) > 0 {
		text += fmt.Sprintf("\nThis folder contains %s, but hexmage finds pipelines only in %s/. Move the file "+
			"there.\n",
			some(files, 3),
			workspace.Folder)
	}
	text += "\nShipped:\n\n" + columns(shipped)
	return usageError("%s\nTo create a pipeline: hexmage init. To check this machine: hexmage doctor", text)
}

// withoutOutputs returns advice for a pipeline of the workspace that calls modules and has no output block, else "".
// Results of such a pipeline stay in the cache.
func (a *app) withoutOutputs(name string) string {
	cfg, own := a.skeleton(name)
	if cfg == nil || !own {
		return ""
	}
	parts := cfg.With(a.profileOf(cfg.Module))
	if len(parts.Outputs) > 0 {
		return ""
	}
	for _, c := range parts.Calls {
		if c.Module == nil || c.ForEach != nil {
			continue
		}
		var names []string
		for _, o := range c.Module.With(a.profileOf(c.Module)).Outputs {
			names = append(names, o.Name)
		}
		if len(names) > 0 {
			return fmt.Sprintf("%s has no output block, so hexmage writes nothing to out/. Add a block such as "+
				"output %q { value = module.%s.%s }. Outputs of module %s: %s",
				name, names[0], c.Name, names[0], c.Name,
				some(names, 8))
		}
	}
	return ""
}

// misplaced returns pipeline files in the working folder, since hexmage finds pipelines only in pipelines/.
func (a *app) misplaced() []string {
	var found []string
	if len(a.own()) > 0 {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(a.WorkDir, "*.hcl"))
	for _, at := range files {
		b, err := os.ReadFile(at)
		if f, diags := hclparse.NewParser().ParseHCL(b, at); err == nil && !diags.HasErrors() {
			blocks, _, _ := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
				{Type: "step", LabelNames: []string{"kind", "name"}}, {Type: "module", LabelNames: []string{"name"}}}})
			if len(blocks.Blocks) > 0 {
				found = append(found, filepath.Base(at))
			}
		}
	}
	return found
}

// profileOf returns the chosen profile, or the default one.
func (a *app) profileOf(m *config.Module) string {
	for _, p := range m.Profiles {
		if a.Profile == "" && (p.Default || len(m.Profiles) == 1) {
			return p.Name
		}
	}
	return a.Profile
}

// eachModule calls do with the blocks of a module in a profile, and of the modules that it calls. at is the prefix of
// the addresses in a module.
func eachModule(at string, m *config.Module, profile string, do func(at string, p config.ProfileBlocks)) {
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

// off reports whether a condition is a local with the literal value false.
func off(when hcl.Expression, in config.ProfileBlocks) bool {
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
