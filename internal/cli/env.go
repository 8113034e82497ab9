package cli

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/toolchains"
)

// envCmd is `hexmage env PIPELINE`.
type envCmd struct {
	Pipeline string `arg:"" help:"Name of a file in pipelines/, without .hcl."`
}

// Run fetches the pipeline's toolchains if they are not there yet, and prints export lines for a shell:
// eval "$(hexmage env qwen3-aot-v79)".
func (c *envCmd) Run(ctx context.Context, a *app) error {
	p, workspace, err := a.plan(c.Pipeline, nil)
	if err != nil {
		return err
	}
	d, err := a.domain(workspace)
	if err != nil {
		return err
	}
	var steps []addrs.Step
	var roots []addrs.Output
	versions := map[string]string{}
	for _, n := range p.Nodes {
		if n.At.Kind == addrs.Toolchain {
			steps = append(steps, n.At.Step)
			roots = append(roots, addrs.Output{Instance: n.At, Name: "dir"})
			versions[n.At.Name] = n.Version
		}
	}
	if p, err = p.Select(steps...); err != nil {
		return engine(err)
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	o := e.options(a)
	var sink event.Sink = report.Lines(io.Discard, report.Options{})
	done := func() {}
	if a.live {
		sink, done = a.display(nil)
	}
	failures := &failureSink{next: sink}
	o.Sink, o.Workspace, o.Roots = failures, workspace, roots
	res, err := build.Run(ctx, p, o)
	done()
	if err != nil || res.Failed > 0 {
		for _, f := range failures.seen {
			fmt.Fprintf(a.env.Stderr, "hexmage: %s: %s\n%s\n", f.step, f.Summary, f.Output)
		}
		return outcome(ctx, res, err)
	}
	vars := map[string]string{}
	for out, root := range res.Roots {
		dir, err := e.trees.Path(ctx, e.sources, root)
		if err != nil {
			return engine(err)
		}
		if err := a.addEnv(d.catalogue, vars, out.Instance.Name, versions[out.Instance.Name], dir); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.printJSON(vars)
	}
	names := make([]string, 0, len(vars))
	for name := range vars {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(a.env.Stdout, "export %s=%s\n", name, action.Quote([]string{vars[name]}))
	}
	return nil
}

// addEnv adds what the toolchain's own environment script would set.
func (a *app) addEnv(cat *toolchains.Catalogue, vars map[string]string, name, version, dir string) error {
	t, r, err := cat.Find(name, version)
	if err != nil {
		return engine(err)
	}
	for _, v := range t.Env(r, dir, "") {
		old, ok := vars[v.Name]
		if !ok && v.Prepend {
			old = a.env.Var(v.Name)
		}
		vars[v.Name] = v.Apply(old)
	}
	vars["HEXMAGE_TOOLCHAIN_"+strings.ToUpper(name)] = dir
	if name == "llvm" {
		vars["HEXMAGE_LLVM"] = dir // where the stand-ins' compiler wrappers look, outside of an action
	}
	return nil
}

// failureSink keeps failures for a command that shows nothing else of a build.
type failureSink struct {
	next event.Sink
	seen []stepFailure
}

type stepFailure struct {
	step string
	event.Failure
}

// Send passes the event on.
func (s *failureSink) Send(e event.Event) {
	if f, ok := e.(event.NodeFinished); ok && f.Failure != nil {
		s.seen = append(s.seen, stepFailure{f.Step, *f.Failure})
	}
	s.next.Send(e)
}
