package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/plan"
)

// savedFormat is what a saved plan says it is.
const savedFormat = "hexmage-saved-plan/0"

// maxSaved is how large a saved plan may be, in bytes: a hundred thousand actions take a tenth.
const maxSaved = 1 << 30

// savedPlan is what `hexmage plan --out` writes: what was asked for, and the plan that came of it.
type savedPlan struct {
	Format   string   `json:"format"`
	Pipeline string   `json:"pipeline"`
	Steps    []string `json:"steps,omitempty"`
	Profile  string   `json:"profile,omitempty"`
	SoC      []string `json:"soc,omitempty"`
	With     []string `json:"with,omitempty"`
	// given on the command line, without those that are sensitive
	Variables map[string]string `json:"variables,omitempty"`
	Sensitive []string          `json:"sensitive,omitempty"` // variables that have to be given again
	Plan      json.RawMessage   `json:"plan"`
}

// sameEverywhere is the plan as JSON, without what this machine lacks now.
func sameEverywhere(p *plan.Plan) (json.RawMessage, error) {
	own := *p
	own.Instances = slices.Clone(p.Instances)
	for i, n := range own.Instances {
		if len(n.Missing) > 0 {
			n := *n
			n.Missing = nil
			own.Instances[i] = &n
		}
	}
	return plan.JSON(&own, nil)
}

// savePlan writes the plan to a file that `hexmage run` takes.
func (a *app) savePlan(ctx context.Context, file string, c *planCmd, workspace string, p *plan.Plan) error {
	s := savedPlan{Format: savedFormat, Pipeline: c.Pipeline, Steps: c.Steps, Profile: p.Profile, SoC: a.SoC, With: a.With, Variables: maps.Clone(a.Set)}
	cfg, diags := a.load(ctx, workspace, c.Pipeline)
	if diags.HasErrors() {
		return a.printDiags(diags, cfg.Shown())
	}
	for _, v := range cfg.Variables {
		if _, given := s.Variables[v.Name]; given && v.Sensitive {
			delete(s.Variables, v.Name)
			s.Sensitive = append(s.Sensitive, v.Name)
		}
	}
	var err error
	if s.Plan, err = sameEverywhere(p); err != nil {
		return engineError(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the plan is compared byte by byte
	if err := e.Encode(s); err != nil {
		return engineError(err)
	}
	at, err := a.place(absolute(a.WorkDir, file))
	if err != nil {
		return err
	}
	if err := atomicfile.PlaceFile(at, b.Bytes(), 0o644); err != nil {
		return usageError("--out %s: %w", file, err)
	}
	return nil
}

// isSaved tells whether the name of a pipeline is that of a saved plan.
func isSaved(name string) bool { return strings.HasSuffix(name, ".json") }

// takeSaved has the command run what a saved plan says, if it still means the same.
func (a *app) takeSaved(ctx context.Context, c *runFlags) error {
	name := c.Pipeline
	b, err := boundedfile.Read(absolute(a.WorkDir, name), maxSaved)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError("there is no saved plan %s: `hexmage plan PIPELINE --out %s` writes one", name, name)
	} else if err != nil {
		return usageError("%w", err)
	}
	var s savedPlan
	if err := json.Unmarshal(b, &s); err != nil || s.Format != savedFormat {
		return usageError("%s is no saved plan of this hexmage (%s): `hexmage plan PIPELINE --out %s` writes one", name, savedFormat, name)
	}
	if len(c.Steps)+len(a.SoC)+len(a.With) > 0 || a.Profile != "" && a.Profile != s.Profile {
		return usageError("run %s: the saved plan says which steps, profile, SoCs and toolchains: leave them out, or plan again", name)
	}
	given := maps.Clone(a.Set)
	for v := range given {
		if !slices.Contains(s.Sensitive, v) {
			return usageError("run %s: the saved plan says what var.%s is: leave --var %s out, or plan again", name, v, v)
		}
	}
	for _, v := range s.Sensitive {
		if _, ok := given[v]; !ok {
			return usageError("run %s: var.%s is sensitive, so the plan does not have its value: give it again with --var %s=…", name, v, v)
		}
	}
	c.Pipeline, c.Steps, a.Profile, a.SoC, a.With, a.Set = s.Pipeline, s.Steps, s.Profile, s.SoC, s.With, s.Variables
	if a.Set == nil {
		a.Set = map[string]string{}
	}
	maps.Copy(a.Set, given)
	p, _, err := a.plan(ctx, c.Pipeline, c.Steps)
	if err != nil {
		return err
	}
	now, err := sameEverywhere(p.Plan)
	if err != nil {
		return engineError(err)
	}
	if what := differsIn(s.Plan, now); what != "" {
		return usageError("%s is not what would run now: %s differs. See `hexmage plan %s`, and plan again", name, what, s.Pipeline)
	}
	return nil
}

// differsIn names the first thing in which two plans, as JSON, differ; "" where they do not.
func differsIn(before, now json.RawMessage) string {
	if string(before) == string(now) {
		return ""
	}
	var then, is map[string]json.RawMessage
	if json.Unmarshal(before, &then) != nil || json.Unmarshal(now, &is) != nil {
		return "the plan"
	}
	type step struct{ Address string }
	var steps, others []json.RawMessage
	if json.Unmarshal(then["steps"], &steps) == nil && json.Unmarshal(is["steps"], &others) == nil {
		had := map[string]string{}
		var s step
		for _, raw := range steps {
			if json.Unmarshal(raw, &s) == nil {
				had[s.Address] = string(raw)
			}
		}
		for _, raw := range others {
			if json.Unmarshal(raw, &s) == nil && had[s.Address] != string(raw) {
				return s.Address
			}
			delete(had, s.Address)
		}
		if gone := slices.Sorted(maps.Keys(had)); len(gone) > 0 {
			return gone[0] + ", which is gone,"
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if string(then[key]) != string(is[key]) {
			return fmt.Sprintf("field %s of the plan", key)
		}
	}
	return "the plan"
}
