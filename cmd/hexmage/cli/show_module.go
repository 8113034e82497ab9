package cli

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/steps"
)

// interfaceShown describes the interface of a module or a pipeline, from its files.
type interfaceShown struct {
	Format      string          `json:"format"`
	Name        string          `json:"name"`
	Dir         string          `json:"dir"`
	Description string          `json:"description,omitempty"`
	Profile     string          `json:"profile,omitempty"` // profile for which the other fields are valid
	Profiles    []string        `json:"profiles,omitempty"`
	Variables   []variableShown `json:"variables,omitempty"`
	Targets     []string        `json:"targets,omitempty"`
	Toolchains  []toolchainNeed `json:"toolchains,omitempty"`
	Steps       []declaredShown `json:"steps,omitempty"`
	Modules     []declaredShown `json:"modules,omitempty"`
	Outputs     []declaredShown `json:"outputs,omitempty"`
	Checks      []declaredShown `json:"checks,omitempty"`
}

type variableShown struct {
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	Required    bool         `json:"required"`
	Default     string       `json:"default,omitempty"` // in source form
	Sensitive   bool         `json:"sensitive,omitempty"`
	Description string       `json:"description,omitempty"`
	Where       string       `json:"where"`
	Validation  []validShown `json:"validation,omitempty"`
}

// validShown is a validation rule in source form.
type validShown struct {
	Condition string `json:"condition"`
	Message   string `json:"error_message"`
}

// toolchainNeed is a toolchain that a module declares or takes from its caller.
type toolchainNeed struct {
	Name     string `json:"name"`
	Declared bool   `json:"declared"`
	Where    string `json:"where,omitempty"`
	Default  bool   `json:"default,omitempty"`  // whether a caller may replace it
	Optional bool   `json:"optional,omitempty"` // whether it is used only if the caller declares it
}

// declaredShown is a step, a call or an output.
type declaredShown struct {
	Name        string `json:"name"` // address of a step
	Source      string `json:"source,omitempty"`
	Description string `json:"description,omitempty"`
	Where       string `json:"where"`
}

// showModule shows the interface of a module.
func (a *app) showModule(name string) error {
	var folder config.ModuleFolder
	dir := absolute(a.WorkDir, name)
	if modulePath(name) {
		root := dir
		if _, ok := below(a.Root, dir); a.Root != "" && ok {
			root = a.Root
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return engineError(err)
		}
		folder = config.ModuleFolder{FS: safepath.FS(root), Dir: filepath.ToSlash(rel)}
		if root == dir {
			folder.Root = filepath.ToSlash(dir)
		}
	} else {
		var err error
		if folder, err = a.module(name); err != nil {
			return givenError{usageError("%w", err)}
		}
	}
	cfg, diags := config.LoadModule(folder)
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return err
	}
	shown := path.Base(cfg.Dir)
	if !modulePath(name) {
		shown = name
	}
	return a.showInterface(cfg, true, shown, a.Profile)
}

// showPipeline shows the interface of a pipeline.
func (a *app) showPipeline(name string) error {
	cfg, diags := a.load(name)
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return err
	}
	return a.showInterface(cfg, false, name, a.profileOf(cfg.Module))
}

func (a *app) showInterface(cfg *config.Pipeline, called bool, name, profile string) error {
	m := cfg.Module
	parts := m.With(profile)
	s := interfaceShown{Format: "hexmage-show/0", Name: name, Dir: m.Dir, Description: m.Description, Profile: profile}
	for _, pr := range m.Profiles {
		s.Profiles = append(s.Profiles, pr.Name)
	}
	for _, v := range m.Variables {
		s.Variables = append(s.Variables, shownVariable(cfg, v))
	}
	for _, t := range m.Targets {
		s.Targets = append(s.Targets, t.Name)
	}
	s.Toolchains = toolchainNeeds(cfg, parts, called)
	for _, b := range parts.Steps {
		s.Steps = append(s.Steps,
			declaredShown{Name: b.At.String(), Description: b.Description, Where: config.Where(b.Range)})
	}
	for _, c := range parts.Calls {
		s.Modules = append(s.Modules,
			declaredShown{Name: c.Name, Source: c.Source, Description: c.Description, Where: config.Where(c.Range)})
	}
	for _, k := range parts.Checks {
		s.Checks = append(s.Checks,
			declaredShown{Name: k.Name, Description: k.Description, Where: config.Where(k.Range)})
	}
	for _, o := range parts.Outputs {
		s.Outputs = append(s.Outputs,
			declaredShown{Name: o.Name, Description: o.Description, Where: config.Where(o.Range)})
	}
	return a.showRecord(s)
}

func shownVariable(cfg *config.Pipeline, v *config.Variable) variableShown {
	s := variableShown{Name: v.Name, Type: typeexpr.TypeString(v.Type), Required: v.Default == nil && !v.Optional,
		Sensitive: v.Sensitive, Description: v.Description, Where: config.Where(v.Range)}
	if v.Default != nil {
		if s.Default = cfg.Text(v.Default.Range()); v.Sensitive {
			s.Default = secret.Hidden
		}
	}
	for _, r := range v.Validations {
		s.Validation = append(s.Validation, validShown{cfg.Text(r.Condition.Range()), cfg.Text(r.Message.Range())})
	}
	return s
}

// toolchainNeeds returns the toolchains that a module declares, those in its expressions, and optional ones of its
// steps. The caller has to declare those in expressions.
func toolchainNeeds(cfg *config.Pipeline, parts config.ProfileBlocks, called bool) []toolchainNeed {
	var needs []toolchainNeed
	has := func(name string) bool {
		return slices.ContainsFunc(needs, func(n toolchainNeed) bool { return n.Name == name })
	}
	for _, b := range parts.Toolchains {
		needs = append(needs, toolchainNeed{Name: b.At.Name, Declared: true, Default: b.Default,
			Where: config.Where(b.Range)})
	}
	if !called {
		return needs // modules add the others
	}
	for _, pr := range cfg.Profiles {
		for _, b := range pr.Toolchains {
			if !has(b.At.Name) {
				needs = append(needs, toolchainNeed{Name: b.At.Name, Declared: true,
					Where: config.Where(b.Range) + ", in profile " + pr.Name})
			}
		}
	}
	var named []string
	for _, f := range cfg.Files {
		if body, ok := f.Body.(*hclsyntax.Body); ok {
			_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
				if t, ok := node.(*hclsyntax.ScopeTraversalExpr); ok && t.Traversal.RootName() == addrs.Toolchain &&
					len(t.Traversal) > 1 {
					if attr, ok := t.Traversal[1].(hcl.TraverseAttr); ok {
						named = append(named, attr.Name)
					}
				}
				return nil
			})
		}
	}
	slices.Sort(named)
	for _, name := range slices.Compact(named) {
		if !has(name) {
			needs = append(needs, toolchainNeed{Name: name})
		}
	}
	kinds := steps.Workspace{}.Kinds()
	for _, b := range parts.Steps {
		if k := kinds[b.At.Kind]; k != nil {
			for _, name := range k.Schema().Toolchains {
				if !has(name) {
					needs = append(needs, toolchainNeed{Name: name, Optional: true})
				}
			}
		}
	}
	return needs
}

func also(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
