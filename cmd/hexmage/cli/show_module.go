package cli

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/steps"
)

// interfaceShown is what a module or a pipeline takes and gives, as its files say.
type interfaceShown struct {
	Format      string          `json:"format"`
	Name        string          `json:"name"`
	Dir         string          `json:"dir"`
	Description string          `json:"description,omitempty"`
	Profile     string          `json:"profile,omitempty"` // that the rest is of
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
	Default     string       `json:"default,omitempty"` // as it is written
	Sensitive   bool         `json:"sensitive,omitempty"`
	Description string       `json:"description,omitempty"`
	Where       string       `json:"where"`
	Validation  []validShown `json:"validation,omitempty"`
}

// validShown is a rule, as it is written.
type validShown struct {
	Condition string `json:"condition"`
	Message   string `json:"error_message"`
}

// toolchainNeed is a toolchain that a module declares, or has from its caller.
type toolchainNeed struct {
	Name     string `json:"name"`
	Declared bool   `json:"declared"`
	Where    string `json:"where,omitempty"`
	Default  bool   `json:"default,omitempty"`  // a caller may replace it
	Optional bool   `json:"optional,omitempty"` // used where the caller declares it
}

// declaredShown is a step, a call or an output.
type declaredShown struct {
	Name        string `json:"name"` // of a step, its address
	Source      string `json:"source,omitempty"`
	Description string `json:"description,omitempty"`
	Where       string `json:"where"`
}

// showModule shows what a module takes and gives.
func (a *app) showModule(name string) error {
	var folder config.ModuleFolder
	dir := absolute(a.WorkDir, name)
	if modulePath(name) {
		root := dir
		if rel, err := filepath.Rel(a.Root, dir); a.Root != "" && err == nil && filepath.IsLocal(rel) {
			root = a.Root
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return engineError(err)
		}
		folder = config.ModuleFolder{FS: rooted.FS(root), Dir: filepath.ToSlash(rel)}
		if root == dir {
			folder.Root = filepath.ToSlash(dir)
		}
	} else {
		var err error
		if folder, err = a.module(a.here(), name); err != nil {
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
	return a.showInterface(cfg, "module", shown, a.Profile)
}

// showPipeline shows what a pipeline takes and gives.
func (a *app) showPipeline(workspace, name string) error {
	cfg, diags := a.load(workspace, name)
	if err := a.printDiags(diags, cfg.Shown()); err != nil {
		return err
	}
	profile := a.Profile
	for _, pr := range cfg.Profiles {
		if profile == "" && (pr.Default || len(cfg.Profiles) == 1) {
			profile = pr.Name
		}
	}
	return a.showInterface(cfg, "pipeline", name, profile)
}

func (a *app) showInterface(cfg *config.Pipeline, what, name, profile string) error {
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
	s.Toolchains = toolchainNeeds(cfg, parts, what == "module")
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
	if a.JSON {
		return a.printJSON(s)
	}
	fmt.Fprint(a.Env.Stdout, ansi.Visible(s.text(what), false))
	return nil
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

// toolchainNeeds are those that a module declares, those that its expressions name, which its caller has to declare,
// and those that its steps use where they are declared.
func toolchainNeeds(cfg *config.Pipeline, parts config.Parts, called bool) []toolchainNeed {
	var needs []toolchainNeed
	has := func(name string) bool {
		return slices.ContainsFunc(needs, func(n toolchainNeed) bool { return n.Name == name })
	}
	for _, b := range parts.Toolchains {
		needs = append(needs, toolchainNeed{Name: b.At.Name, Declared: true, Default: b.Default,
			Where: config.Where(b.Range)})
	}
	if !called {
		return needs // modules bring the others
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

// text is for people.
func (s interfaceShown) text(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s  (%s)\n", what, s.Name, s.Dir)
	if s.Description != "" {
		fmt.Fprintln(&b, paragraph(s.Description, 0))
	}
	if len(s.Profiles) > 0 {
		fmt.Fprintf(&b, "\nprofiles: %s", strings.Join(s.Profiles, ", "))
		if s.Profile != "" {
			fmt.Fprintf(&b, "; shown is %s", s.Profile)
		}
		b.WriteString("\n")
	}
	if len(s.Targets) > 0 {
		fmt.Fprintf(&b, "\ntargets: %s\n", strings.Join(s.Targets, ", "))
	}
	head := func(n int, text string) {
		if n > 0 {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
	}
	head(len(s.Variables), "variables")
	for _, v := range s.Variables {
		fmt.Fprintf(&b, "  %s (%s%s%s)\n", v.Name, v.Type, also(v.Required, ", required"),
			also(v.Sensitive, ", sensitive"))
		if v.Description != "" {
			fmt.Fprintln(&b, paragraph(v.Description, 6))
		}
		if v.Default != "" {
			fmt.Fprintf(&b, "      default = %s\n", v.Default)
		}
		for _, r := range v.Validation {
			fmt.Fprintf(&b, "      valid if %s, else %s\n", r.Condition, r.Message)
		}
	}
	head(len(s.Outputs), "outputs")
	declared(&b, s.Outputs)
	head(len(s.Toolchains), "toolchains")
	var rows [][]string
	for _, t := range s.Toolchains {
		how := "declared here (" + t.Where + ")"
		switch {
		case t.Default:
			how += ", unless its caller declares it"
		case t.Optional:
			how = "used by its steps, where its caller declares it"
		case !t.Declared:
			how = "named in its files: its caller has to declare it"
		}
		rows = append(rows, []string{"  " + t.Name, how})
	}
	b.WriteString(columns(rows))
	head(len(s.Modules), "modules")
	declared(&b, s.Modules)
	head(len(s.Steps), "steps")
	declared(&b, s.Steps)
	head(len(s.Checks), "checks")
	declared(&b, s.Checks)
	return b.String()
}

func also(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

func declared(b *strings.Builder, all []declaredShown) {
	for _, d := range all {
		fmt.Fprintf(b, "  %s%s  (%s)\n", d.Name, also(d.Source != "", " = "+d.Source), d.Where)
		if d.Description != "" {
			fmt.Fprintln(b, paragraph(d.Description, 6))
		}
	}
}
