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
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/workspace"
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

// which is the error for a command that no pipeline was named for: it lists those that there are.
func (a *app) which() error {
	var own, shipped [][]string
	for _, name := range a.pipelines() {
		cfg, ours := a.skeleton(name)
		row := []string{"  " + name, "cannot be read: hexmage validate " + name}
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
	text := "which pipeline? hexmage run NAME [--profile PROFILE]\n"
	if len(own) > 0 {
		text += "\nOf this workspace, with its profiles:\n\n" + columns(own)
	}
	if files := a.misplaced(); len(files) > 0 {
		text += fmt.Sprintf("\nIn this folder: %s. Pipelines are found in %s/: move the file there.\n", some(files, 3),
			workspace.Folder)
	}
	text += "\nShipped:\n\n" + columns(shipped)
	return usageError("%s\nOne of your own: hexmage init. What this machine lacks: hexmage doctor", text)
}

// withoutOutputs returns advice for a pipeline of the workspace that calls modules and has no output block, so that its
// results are in the cache alone; "" for others.
func (a *app) withoutOutputs(name string) string {
	cfg, own := a.skeleton(name)
	if cfg == nil || !own {
		return ""
	}
	parts := cfg.With(cmp.Or(a.Profile, defaultProfile(cfg.Module)))
	if len(parts.Outputs) > 0 {
		return ""
	}
	for _, c := range parts.Calls {
		if c.Module == nil || c.ForEach != nil {
			continue
		}
		var names []string
		for _, o := range c.Module.With(cmp.Or(a.Profile, defaultProfile(c.Module))).Outputs {
			names = append(names, o.Name)
		}
		if len(names) > 0 {
			return fmt.Sprintf("%s has no output block, so out/ has nothing of it. To put a result there, add: "+
				"output %q { value = module.%s.%s }. Module %s has %s", name, names[0], c.Name, names[0], c.Name,
				some(names, 8))
		}
	}
	return ""
}

// misplaced returns the pipeline files in the working folder: hexmage looks for them in pipelines/ alone.
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

// defaultProfile is the one that is taken when none is named.
func defaultProfile(m *config.Module) string {
	for _, p := range m.Profiles {
		if p.Default {
			return p.Name
		}
	}
	return ""
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
