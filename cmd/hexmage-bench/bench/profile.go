package bench

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// profiles runs hexmage once more in each scenario and keeps profiles of it: GRAPH-SCENARIO.cpu and .mem.
func (r *graphRun) profiles(ctx context.Context) error {
	if r.Profiles == "" {
		return nil
	}
	t := r.tools[0]
	source := filepath.Join(t.program.dir, r.g.Sources[0])
	for _, c := range []struct {
		Scenario
		before func() error
	}{
		{NoOp, func() error { return nil }},
		{Changed, func() error { return writeSource(source, 0, r.edition+2) }},
		{Back, func() error { return writeSource(source, 0, 0) }},
		{Restored, func() error { return remove(filepath.Dir(t.out)) }},
		{Cold, func() error { return remove(t.state...) }},
	} {
		if err := c.before(); err != nil {
			return err
		}
		if err := profile(ctx, t.program, r.Profiles, strings.ReplaceAll(r.g.Name+"-"+string(c.Scenario), " ", "-")); err != nil {
			return err
		}
	}
	return nil
}

// profile runs hexmage and keeps dir/NAME.cpu and .mem.
func profile(ctx context.Context, hexmage program, dir, name string) error {
	base, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	hexmage.env = append(slices.Clone(hexmage.env), "HEXMAGE_CPUPROFILE="+base+".cpu", "HEXMAGE_MEMPROFILE="+base+".mem")
	_, err = hexmage.measure(ctx)
	return err
}
