package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/upkeep"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/fetchstep"
	"github.com/hexmage/hexmage/toolchains/fetchtool"
	"github.com/hexmage/hexmage/toolchains/relock"
)

// lockCmd is `hexmage lock PIPELINE` or `hexmage lock TOOLCHAIN [RELEASE]`.
type lockCmd struct {
	What    string `arg:"" help:"A pipeline (all its toolchains, in the chosen profile), or a toolchain of the catalogue."`
	Release string `arg:"" optional:"" help:"Release of the toolchain. Default: the catalogue's."`
}

// Run asks the sources what there is and writes digests into the workspace's hexmage.lock.hcl. It is the only command
// that downloads something whose digest is not known before.
func (c *lockCmd) Run(ctx context.Context, a *app) error {
	if a.Offline {
		return usage("lock needs the network: leave --offline out")
	}
	root := a.root
	if root == "" {
		root = a.dir
	}
	d, err := a.domain(root)
	if err != nil {
		return err
	}
	reqs := []toolchains.Request{{Name: c.What, Version: c.Release, Profile: a.Profile, Machine: d.machine}}
	if slices.Contains(a.pipelines(), c.What) && c.Release == "" {
		if reqs, err = a.requests(c.What, d); err != nil {
			return err
		}
	}
	path := filepath.Join(root, toolchains.LockFile)
	lock := &toolchains.Lock{}
	if b, err := os.ReadFile(path); err == nil {
		var diags hcl.Diagnostics
		if lock, diags = toolchains.ParseLock(b, toolchains.LockFile); diags.HasErrors() {
			a.printDiags(diags, nil)
			return &exitError{code: ExitUsage}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return engine(err)
	}
	inUse, err := upkeep.Use(ctx, a.cache, func() { fmt.Fprintln(a.env.Stderr, "hexmage: waiting until the cache is collected") })
	if err != nil {
		return err
	}
	defer inUse()
	changes, err := relock.Update(ctx, d.catalogue, lock, reqs, fetchtool.Options{
		Downloads: filepath.Join(a.cache, "downloads"),
		Warn:      func(text string) { fmt.Fprintln(a.env.Stderr, "note:", text) },
	})
	changed := false
	for _, ch := range changes {
		fmt.Fprintf(a.env.Stdout, "%-10s %-16s %s\n", ch.Name, ch.Version, ch.Text)
		changed = changed || ch.Changed
	}
	if changed { // what was pinned before an error is kept
		if werr := os.WriteFile(path, lock.Encode(), 0o644); werr != nil {
			return engine(werr)
		}
		fmt.Fprintln(a.env.Stdout, "written:", path)
	}
	if err != nil {
		return &exitError{ExitEngine, err}
	}
	return nil
}

// requests are the toolchains that a pipeline asks for.
func (a *app) requests(pipeline string, d *domain) ([]toolchains.Request, error) {
	workspace, err := a.workspace(pipeline)
	if err != nil {
		return nil, err
	}
	cfg, diags := config.Load(os.DirFS(workspace), pipeline)
	rec := &recorder{Kind: fetchstep.Toolchain{}, d: d}
	if !diags.HasErrors() {
		kinds := map[string]step.Kind{}
		for name, k := range d.kinds {
			kinds[name] = k
		}
		kinds[addrs.Toolchain] = rec
		_, more := plan.Build(plan.Options{Config: cfg, Kinds: kinds, Workspace: workspace, Profile: a.Profile, Targets: d.targets,
			EnvVars: a.envVars(), FlagVars: a.Set})
		diags = append(diags, more...)
	}
	if diags.HasErrors() {
		a.printDiags(diags, cfg.Files)
		return nil, &exitError{code: ExitUsage}
	}
	return rec.reqs, nil
}

// recorder stands in for the kind of toolchain blocks: it keeps what they ask for and plans nothing.
type recorder struct {
	step.Kind
	d    *domain
	reqs []toolchains.Request
}

// Plan keeps the request.
func (k *recorder) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	q := toolchains.Request{Name: r.At.Name, Version: r.String("version"), Source: r.String("use"), Profile: r.Profile, Machine: k.d.machine}
	_, rel, err := k.d.catalogue.Find(q.Name, q.Version)
	if err != nil {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("Unknown toolchain", "%s.", err)}
	}
	if r.String("path") == "" && len(r.Strings("urls")) == 0 {
		k.reqs = append(k.reqs, q)
	}
	null := cty.NullVal(cty.String)
	return step.Planned{
		Outputs: map[string]action.Artifact{"dir": {Class: action.Tree}},
		Attrs: map[string]cty.Value{
			"version": cty.StringVal(rel.Version), "build_id": null, "tools_version": cty.StringVal(rel.ToolsVersion),
			"arches": cty.ListValEmpty(cty.String), "source": null, "stand_in": cty.False,
		},
	}, nil
}
