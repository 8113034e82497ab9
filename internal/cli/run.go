package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// runCmd is `hexmage run PIPELINE [STEP…]`.
type runCmd struct {
	Pipeline  string     `arg:"" help:"Name of a file in pipelines/, without .hcl."`
	Steps     []string   `arg:"" optional:"" help:"Only these steps (KIND.NAME) and what they need."`
	KeepGoing bool       `short:"k" help:"After a failure, go on with what does not need it."`
	Out       string     `placeholder:"DIR" default:"out" help:"Outputs go to DIR/PIPELINE. Default: out."`
	Verify    verifyFlag `placeholder:"STEP" help:"Run every action (with =STEP those of that step) once more than needed, and compare the outputs bit by bit. The cache stays as it is."`
}

// Run builds the pipeline.
func (c *runCmd) Run(ctx context.Context, a *app) error {
	p, workspace, err := a.plan(c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	if missing := p.Missing(); len(missing) > 0 {
		for _, m := range missing {
			fmt.Fprintf(a.env.Stderr, "missing: %s\n", m)
		}
		return usage("this machine lacks what the pipeline needs (profile %q); `hexmage plan` shows what would run", p.Profile)
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	defer survivePipes()()
	verify, err := c.Verify.start(e, p)
	if err != nil {
		return err
	}
	var sink event.Sink
	done := func() {}
	if a.JSON {
		sink = report.JSON(a.env.Stdout)
	} else {
		sink, done = a.display()
	}
	o := e.options(a)
	o.Sink, o.Workspace, o.KeepGoing, o.Prune = verify.before(sink), workspace, c.KeepGoing, len(c.Steps) == 0
	o.Out = filepath.Join(absolute(a.dir, c.Out), c.Pipeline)
	res, err := build.Run(ctx, p, o)
	done()
	if err := outcome(ctx, res, err); err != nil {
		return err
	}
	if !a.JSON {
		if err := a.showOutputs(res.Outputs); err != nil {
			return err
		}
	}
	return verify.outcome()
}

// display returns a sink for people, and a function to call at its end.
func (a *app) display() (event.Sink, func()) {
	d := report.Lines(a.env.Stderr, a.reportOptions())
	back := a.interrupts.tell(d.Note)
	return d, func() { back(); d.Close() }
}

// outcome is the error with which a command ends after a build, or nil. What failed in the build, the report has told.
func outcome(ctx context.Context, res build.Result, err error) error {
	exit := &exitError{err: err}
	if res.Failed > 0 {
		exit.err = nil
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{ExitInterrupted, errInterrupted}
	case errors.As(err, new(*build.InputError)):
		exit.code = ExitUsage
	case err != nil:
		exit.code = ExitEngine
	case res.Failed > 0:
		exit.code = ExitFailed
	default:
		return nil
	}
	return exit
}

// showOutputs prints the tables among the outputs, and where the others are.
func (a *app) showOutputs(outs []event.OutputReady) error {
	wide := 0
	for _, o := range outs {
		wide = max(wide, len(o.Name))
	}
	for _, o := range outs {
		rel, err := filepath.Rel(a.env.Dir, o.Path)
		if err != nil {
			rel = o.Path
		}
		if o.Show != "table" {
			fmt.Fprintf(a.env.Stdout, "  %-*s  %s\n", wide, o.Name, rel)
			continue
		}
		b, err := os.ReadFile(o.Path)
		if err != nil {
			return engine(err)
		}
		t, err := report.ParseTable(b)
		if err != nil {
			return engine(fmt.Errorf("output %q: %w", o.Name, err))
		}
		t.Write(a.env.Stdout)
	}
	return nil
}

// selected parses step addresses of the command line.
func selected(steps []string) ([]addrs.Step, error) {
	var out []addrs.Step
	var errs []error
	for _, s := range steps {
		st, err := addrs.ParseStep(s)
		out, errs = append(out, st), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &exitError{ExitUsage, err}
	}
	return out, nil
}
