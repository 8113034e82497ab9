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
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// doctorCmd is `hexmage doctor [PIPELINE…]`.
type doctorCmd struct {
	Pipelines []string `arg:"" optional:"" help:"Pipelines: the names of files in pipelines/ (without .hcl) or of folders in pipelines/. Default: all pipelines."`
}

// Help returns the examples of `hexmage doctor --help`.
func (*doctorCmd) Help() string {
	return `Exits with 1 if something required is missing. If only the profile "device" needs an SDK or tool, it is
optional by default, and required with --profile device.

Examples:

    hexmage doctor                                  check this machine for all pipelines
    hexmage doctor qwen3-aot-v79 --profile device   check this machine before a run on a phone`
}

// Run prints which requirements this machine meets. It fails if the chosen profile (default: simulated) lacks a
// requirement.
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain()
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
		ps, err := a.examined(ctx, name)
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
		err = writeJSON(a.Env.Stdout, struct {
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

// doctorOptions returns doctor's options for this machine, without its devices.
func (a *app) doctorOptions(d *domain) doctor.Options {
	return doctor.Options{Probes: doctor.System(), Catalog: d.catalog, LookPath: d.Machine.LookPath,
		Profile: a.Profile, Store: a.Cache}
}

// mistakes returns the errors among diagnostics, without warnings.
func mistakes(diags hcl.Diagnostics) string {
	return slices.DeleteFunc(slices.Clone(diags),
		func(d *hcl.Diagnostic) bool { return d.Severity != hcl.DiagError }).Error()
}

// examined plans a pipeline in the chosen profile, or in each, and returns what this machine lacks.
func (a *app) examined(ctx context.Context, name string) ([]doctor.Pipeline, error) {
	if err := a.checkPipeline(name); err != nil {
		return nil, err
	}
	cfg, diags := a.load(name)
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
		fresh, err := own.planDomain() // with the whole evaluation budget
		if err != nil {
			return nil, err
		}
		p, diags, err := own.planConfig(cfg, fresh)
		switch {
		case err != nil:
			return nil, err
		case diags.HasErrors():
			out = append(out, doctor.Pipeline{Name: name, Profile: profile, SoC: soc, Err: mistakes(diags)})
		default:
			p.Plan = own.checkMachine(p.Plan)
			of, err := own.lacking(ctx, p)
			if err != nil {
				return nil, err
			}
			of.SoC = soc
			out = append(out, of)
		}
	}
	return out, nil
}

// lacking returns what a plan lacks, as `hexmage plan` does, and the bytes left to download.
func (a *app) lacking(ctx context.Context, p *planned) (doctor.Pipeline, error) {
	of := doctor.Pipeline{Name: p.Pipeline, Profile: p.Profile}
	for _, n := range p.Instances {
		for _, m := range n.Missing {
			of.Missing = append(of.Missing, n.At.Short()+": "+m)
		}
	}
	w, err := a.preview(ctx, p, nil)
	if err != nil {
		return of, err
	}
	of.Download = w.download
	of.Findings, err = a.canRun(ctx, w, w.expect(ctx, a.Jobs, freeFor(a.Cache), a.Cache))
	return of, err
}

// toDownload returns the bytes that actions without a result will download. It counts equal actions once.
func (a *app) toDownload(seen *engine.Previews) (n int64) {
	fetched := map[string]bool{}
	for i := range seen.Actions {
		v := &seen.Actions[i]
		if key := v.Key.Hex(); v.Status == engine.WillRun && v.Spec != nil && !fetched[key] {
			fetched[key] = true
			bytes, _ := steps.Download(*v.Spec, a.places().Downloads())
			n += bytes
		}
	}
	return n
}

const askLimit = 3 * time.Second // for a phone to answer

// devicesSeen asks the phones of devices.hcl, and other phones of the user's adb server if it runs.
func (a *app) devicesSeen(ctx context.Context) ([]doctor.Device, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	listed, err := a.deviceFile()
	if err != nil {
		return nil, err
	}
	d, err := a.domain()
	if err != nil {
		return nil, err
	}
	rows, err := a.deviceRows(ctx, d.catalog, listed.Devices, a.runningADB)
	out := make([]doctor.Device, len(rows))
	for i, r := range rows {
		out[i] = doctor.Device{Serial: r.Serial, State: r.State, Model: strings.TrimSpace(r.Name + " " + r.Model),
			SoC: r.SoC, Remedy: r.Detail}
	}
	return out, err
}

func (a *app) painted(code, s string) string {
	if !a.colored() || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
