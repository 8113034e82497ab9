package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// doctorCmd is `hexmage doctor [PIPELINE…]`.
type doctorCmd struct {
	Pipelines []string `arg:"" optional:"" help:"Look only at what these pipelines lack. Default: all."`
}

// Run says what this machine has and lacks. It fails when something is missing that the chosen profile (simulated, when
// none is) needs.
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	o := a.doctorOptions(d)
	o.Probes.Devices = a.devicesSeen
	names := c.Pipelines
	if len(names) == 0 {
		names = a.pipelines()
	}
	for _, name := range names {
		ps, err := a.examined(ctx, name, d)
		if err != nil {
			return err
		}
		o.Pipelines = append(o.Pipelines, ps...)
	}
	found := doctor.Examine(ctx, o)
	far, err := a.remoteFinding(ctx)
	if err != nil {
		return err
	}
	found = append(found, far...)
	if a.JSON {
		err = a.printJSON(struct {
			Findings []doctor.Finding `json:"findings"`
			Next     []string         `json:"next"`
		}{found, doctor.Commands(found)})
	} else {
		err = doctor.Text(a.Env.Stdout, found,
			doctor.TextOptions{Width: a.Env.Width, Paint: func(s doctor.Status, text string) string {
				return a.painted(map[doctor.Status]string{doctor.OK: "32", doctor.Missing: "31",
					doctor.Optional: "33"}[s], text)
			}})
	}
	if err != nil {
		return engineError(err)
	}
	if slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Status == doctor.Missing }) {
		return &exitError{Code: ExitFailed}
	}
	return nil
}

// remoteFinding is what the chosen remote answers; none where there is no such.
func (a *app) remoteFinding(ctx context.Context) ([]doctor.Finding, error) {
	r, err := a.askRemote(ctx)
	if err != nil || r == nil {
		return nil, err
	}
	f := doctor.Finding{Section: "remote", Name: r.Name, Status: doctor.OK, Detail: r.text(), Remedy: r.next()}
	switch {
	case r.err != nil && r.Execute && r.Fallback == remote.FallbackFail: // a run fails without it
		f.Status = doctor.Missing
	case f.Remedy != "":
		f.Status = doctor.Optional
	}
	return []doctor.Finding{f}, nil
}

// doctorOptions are what doctor is told of this machine, but for its devices.
func (a *app) doctorOptions(d *domain) doctor.Options {
	return doctor.Options{Probes: doctor.System(), Catalogue: d.catalogue(), LookPath: d.machine.LookPath,
		Profile: a.Profile, Store: a.Cache}
}

// mistakes says what the errors among diagnostics are, whatever they warn of besides.
func mistakes(diags hcl.Diagnostics) string {
	return slices.DeleteFunc(slices.Clone(diags),
		func(d *hcl.Diagnostic) bool { return d.Severity != hcl.DiagError }).Error()
}

// examined plans a pipeline in each of its profiles, or in the chosen one, and says what it lacks.
func (a *app) examined(ctx context.Context, name string, d *domain) ([]doctor.Pipeline, error) {
	workspace, err := a.workspace(name)
	if err != nil {
		return nil, err
	}
	cfg, diags := a.load(workspace, name)
	if diags.HasErrors() {
		return []doctor.Pipeline{{Name: name, Profile: a.Profile, Err: mistakes(diags)}}, nil
	}
	var profiles []string
	for _, p := range cfg.Profiles {
		if a.Profile == "" || a.Profile == p.Name {
			profiles = append(profiles, p.Name)
		}
	}
	if len(cfg.Profiles) == 0 {
		profiles = []string{""}
	}
	soc := ""
	if targets := planner.Targets(cfg, a.SoC); len(targets) == 1 {
		soc = targets[0].Name
	}
	var out []doctor.Pipeline
	for _, profile := range profiles {
		own := *a
		own.Profile = profile
		own.Env.Stderr = io.Discard
		p, diags, err := own.planConfig(workspace, cfg)
		switch {
		case err != nil:
			return nil, err
		case diags.HasErrors():
			out = append(out, doctor.Pipeline{Name: name, Profile: profile, SoC: soc, Err: mistakes(diags)})
		default:
			p.Plan = own.checkMachine(p.Plan)
			of, err := own.lacking(ctx, p, workspace)
			if err != nil {
				return nil, err
			}
			of.SoC = soc
			out = append(out, of)
		}
	}
	return out, nil
}

// lacking returns what a plan lacks, as `hexmage plan` finds it, and how much is left to download for it.
func (a *app) lacking(ctx context.Context, p *planned, workspace string) (doctor.Pipeline, error) {
	of := doctor.Pipeline{Name: p.Pipeline, Profile: p.Profile}
	for _, n := range p.Instances {
		for _, m := range n.Missing {
			of.Missing = append(of.Missing, n.At.Short()+": "+m)
		}
	}
	w, err := a.preview(ctx, p, workspace, nil)
	if err != nil {
		return of, err
	}
	of.Download = w.download
	of.Findings, err = a.canRun(ctx, w, w.expect(ctx, a.Jobs, freeFor(a.Cache), a.Cache), workspace)
	return of, err
}

// toDownload returns how many bytes the actions without a result will download. It counts equal actions once.
func (a *app) toDownload(seen *engine.Previews) (n int64) {
	fetched := map[string]bool{}
	for i := range seen.Actions {
		v := &seen.Actions[i]
		if key := v.Key.Hex(); v.Status == engine.WillRun && v.Spec != nil && !fetched[key] {
			fetched[key] = true
			n += steps.Download(*v.Spec, a.places().Downloads())
		}
	}
	return n
}

const askLimit = 3 * time.Second // for a phone to answer

// devicesSeen asks the phones of devices.hcl, and the user's adb server, if it runs, what else it sees.
func (a *app) devicesSeen(ctx context.Context) ([]doctor.Device, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	listed, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	d, err := a.domain(a.here())
	if err != nil {
		return nil, err
	}
	rows, err := a.deviceRows(ctx, d.catalogue(), listed.Devices, a.runningADB)
	out := make([]doctor.Device, len(rows))
	for i, r := range rows {
		out[i] = doctor.Device{Serial: r.Serial, State: r.State, Model: strings.TrimSpace(r.Name + " " + r.Model),
			SoC: r.SoC, Remedy: r.Detail}
	}
	return out, err
}

func (a *app) painted(code, s string) string {
	if !a.coloured() {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
