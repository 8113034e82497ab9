package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/planner"
)

// plan plans a pipeline, restricted to steps if any are given. It returns the workspace too. Diagnostics are printed.
func (a *app) plan(pipeline string, steps []string) (*plan.Plan, string, error) {
	selection, err := selected(steps)
	if err != nil {
		return nil, "", err
	}
	workspace, err := a.workspace(pipeline)
	if err != nil {
		return nil, "", err
	}
	cfg, diags := config.Load(os.DirFS(workspace), pipeline)
	if !diags.HasErrors() {
		var p *plan.Plan
		var more hcl.Diagnostics
		p, more, err = a.planConfig(workspace, cfg)
		if err != nil {
			return nil, "", err
		}
		if diags = append(diags, more...); !diags.HasErrors() {
			a.printDiags(diags, cfg.Files)
			a.look(p)
			if len(selection) > 0 {
				if p, err = p.Select(selection...); err != nil {
					return nil, "", &exitError{ExitUsage, err}
				}
			}
			return p, workspace, nil
		}
	}
	a.printDiags(diags, cfg.Files)
	return nil, "", &exitError{code: ExitUsage}
}

func (a *app) planConfig(workspace string, cfg *config.Pipeline) (*plan.Plan, hcl.Diagnostics, error) {
	d, err := a.domain(workspace)
	if err != nil {
		return nil, nil, err
	}
	p, diags := planner.Build(planner.Options{
		Config: cfg, Kinds: d.kinds, Workspace: workspace, Profile: a.Profile, Targets: d.targets,
		EnvVars: a.envVars(), FlagVars: a.Set, Reads: d.reads,
	})
	return p, diags, nil
}

// envVars are the variables that HEXMAGE_VAR_name sets.
func (a *app) envVars() map[string]string {
	vars := map[string]string{}
	for _, kv := range a.env.Vars {
		if rest, ok := strings.CutPrefix(kv, "HEXMAGE_VAR_"); ok {
			if name, value, ok := strings.Cut(rest, "="); ok {
				vars[name] = value
			}
		}
	}
	return vars
}

func (a *app) printDiags(diags hcl.Diagnostics, files map[string]*hcl.File) {
	if len(diags) == 0 {
		return
	}
	width := a.env.Width
	if width == 0 {
		width = 100
	}
	fmt.Fprint(a.env.Stderr, config.Render(diags, files, uint(width), a.colour()))
}

// planCmd is `hexmage plan PIPELINE [STEP…]`.
type planCmd struct {
	Pipeline string   `arg:"" help:"Name of a file in pipelines/, without .hcl."`
	Steps    []string `arg:"" optional:"" help:"Only these steps (KIND.NAME) and what they need."`
	Status   bool     `default:"true" negatable:"" help:"Say what is cached and what will run, and why. It reads what changed of the workspace's files; --no-status does without."`
}

// Run prints what the pipeline would run.
func (c *planCmd) Run(ctx context.Context, a *app) error {
	p, workspace, err := a.plan(c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	var s *planStatus
	if c.Status {
		w, err := a.preview(ctx, p, workspace, nil)
		if err != nil {
			return err
		}
		s = w.status()
	}
	if a.JSON {
		var status any
		if s != nil {
			status = s
		}
		b, err := plan.JSON(p, status)
		if err != nil {
			return engine(err)
		}
		fmt.Fprintln(a.env.Stdout, string(b))
		return nil
	}
	fmt.Fprint(a.env.Stdout, plan.Text(p, s.notes()))
	return nil
}

// graphCmd is `hexmage graph PIPELINE`.
type graphCmd struct {
	Pipeline string   `arg:"" help:"Name of a file in pipelines/, without .hcl."`
	Steps    []string `arg:"" optional:"" help:"Only these steps (KIND.NAME) and what they need."`
	Format   string   `enum:"dot,mermaid,json" default:"mermaid" help:"dot, mermaid or json."`
}

// Run prints the graph.
func (c *graphCmd) Run(_ context.Context, a *app) error {
	p, _, err := a.plan(c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	switch {
	case c.Format == "json" || a.JSON:
		b, err := plan.GraphJSON(p)
		if err != nil {
			return engine(err)
		}
		fmt.Fprintln(a.env.Stdout, string(b))
	case c.Format == "dot":
		fmt.Fprint(a.env.Stdout, plan.Dot(p))
	default:
		fmt.Fprint(a.env.Stdout, plan.Mermaid(p))
	}
	return nil
}

// validateCmd is `hexmage validate [PIPELINE…]`.
type validateCmd struct {
	Pipelines []string `arg:"" optional:"" help:"Names of files in pipelines/, without .hcl. Default: all."`
}

// Run checks pipelines, one after the other, and says of each whether it is right.
func (c *validateCmd) Run(_ context.Context, a *app) error {
	names := c.Pipelines
	if len(names) == 0 {
		names = a.pipelines()
	}
	bad := 0
	for _, name := range names {
		if _, _, err := a.plan(name, nil); err != nil {
			bad++
			continue
		}
		fmt.Fprintf(a.env.Stdout, "%s: valid\n", name)
	}
	if bad > 0 {
		return &exitError{code: ExitUsage}
	}
	return nil
}
