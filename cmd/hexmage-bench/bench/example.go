package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// measureExample builds every pipeline of a copy of the workspace, then measures building it again. The cache is the
// user's own, so that toolchains that are there are not fetched again.
func measureExample(ctx context.Context, o Options, ws, dir string) ([]Example, error) {
	if err := os.CopyFS(filepath.Join(dir, "pipelines"), os.DirFS(filepath.Join(ws, "pipelines"))); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(ws)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		from, to := filepath.Join(ws, e.Name()), filepath.Join(dir, e.Name())
		switch {
		case e.Name() == "out" || e.Name() == "pipelines" || strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		case e.Type().IsRegular():
			var b []byte
			if b, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, b, 0o644)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	pipelines, err := filepath.Glob(filepath.Join(dir, "pipelines", "*.hcl"))
	if err != nil {
		return nil, err
	}
	var all []Example
	for _, path := range pipelines {
		name := strings.TrimSuffix(filepath.Base(path), ".hcl")
		e, err := measureNoOp(ctx, o, dir, name)
		if err != nil {
			return nil, err
		}
		e.Name = filepath.Base(ws) + "/" + name
		all = append(all, e)
	}
	return all, nil
}

// measureNoOp builds a pipeline of a workspace, then measures building it again.
func measureNoOp(ctx context.Context, o Options, ws, name string) (Example, error) {
	p := program{argv: []string{o.Hexmage, "run", name}, dir: ws, env: o.Env}
	e := Example{Name: name}
	if _, err := p.measure(ctx); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	for range mostCold {
		s, err := p.measure(ctx)
		if err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
		e.NoOp.Samples = append(e.NoOp.Samples, s)
	}
	return e, nil
}
