package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/relock"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// lockCmd is `hexmage lock [PIPELINE | TOOLCHAIN [RELEASE]]`.
type lockCmd struct {
	What    string   `arg:"" optional:"" help:"A pipeline (all its toolchains, in the chosen profile), or a toolchain of the catalogue. Default: all pipelines of the workspace."`
	Release string   `arg:"" optional:"" help:"Release of the toolchain. Default: the catalogue's."`
	Upgrade []string `placeholder:"NAME" help:"Pin this toolchain anew, though it is pinned. May be repeated."`
	Check   bool     `help:"Only say what is missing or stale; ask nobody what there is, write nothing. Exit code 2 when something is."`
}

// Help has the examples of `hexmage lock --help`.
func (*lockCmd) Help() string {
	return `Nothing is downloaded without a digest, but by this command: it downloads once and pins what came. What is pinned already
is left alone. Proxies come from HTTPS_PROXY, logins of hosts from ~/.netrc, secrets from HEXMAGE_VAR_name, mirrors from
HEXMAGE_MIRRORS="https://from/=https://to/ …"; docs/fetching.md tells more.

Examples:

    hexmage lock                                       what the workspace's pipelines need and nobody has pinned
    hexmage lock qwen3-aot-v79 --profile device        all toolchains of the pipeline
    hexmage lock qairt 2.41.0.251128 --profile device  this release
    hexmage lock --upgrade llvm                        pin anew: take what there is now
    hexmage lock --check                               for continuous integration: is all pinned?`
}

// Run asks the sources what there is and writes digests into the workspace's hexmage.lock.hcl. It is the only command
// that downloads something whose digest is not known before.
func (c *lockCmd) Run(ctx context.Context, a *app) error {
	root := a.here()
	d, err := a.domain(root)
	if err != nil {
		return err
	}
	lock, err := a.ownLock(root)
	if err != nil {
		return err
	}
	reqs, err := c.requests(a, d)
	if err != nil {
		return err
	}
	if c.Check {
		return a.checkLock(d, reqs)
	}
	if c.What == "" { // what the shipped lock pins is pinned; a release that is named is to be in the workspace's own
		reqs = slices.DeleteFunc(reqs, func(q toolchains.Request) bool {
			return !slices.Contains(c.Upgrade, q.Name) &&
				len(relock.Check(d.catalogue(), d.lock, []toolchains.Request{q})) == 0
		})
	}
	inUse, err := gc.Use(ctx, a.Cache, func() {
		fmt.Fprintln(a.Env.Stderr, "hexmage: waiting until the cache is "+
			"collected")
	})
	if err != nil {
		return err
	}
	defer inUse()
	o, err := a.lockOptions()
	if err != nil {
		return err
	}
	o.Lock = d.lock
	o.Upgrade = func(name string) bool { return slices.Contains(c.Upgrade, name) }
	line := a.progressLine(a.Env.Terminal, progressLines)
	o.Progress = line.download
	changes, err := relock.Update(ctx, d.catalogue(), lock, reqs, o)
	line.end()
	changed := false
	for _, ch := range changes {
		if !a.JSON {
			fmt.Fprintf(a.Env.Stdout, "%-10s %-16s %s\n", ch.Name, ch.Version, ch.Text)
		} else if err := a.printJSON(ch); err != nil {
			return err
		}
		changed = changed || ch.Changed
		if ch.FirstUse {
			fmt.Fprintf(a.Env.Stderr, "note: %s %s is pinned on trust: nobody publishes a digest for it, so what "+
				"came now is what it will have to be. Compare the digest with one that somebody else has got before "+
				"you commit %s.\n",
				ch.Name, ch.Version, toolchains.LockFile)
		}
	}
	if changed { // what was pinned before an error is kept
		place, perr := rooted.Resolve(root, toolchains.LockFile) // a link is to stay one
		if perr != nil {
			return usageError("%w", perr)
		}
		path := place.Path
		if werr := atomicfile.WriteFile(filepath.Dir(path), path, lock.Encode(), 0o644); werr != nil {
			return engineError(werr)
		}
		if !a.JSON {
			fmt.Fprintln(a.Env.Stdout, "written:", path)
		}
	} else if err == nil && len(changes) == 0 && !a.JSON {
		fmt.Fprintln(a.Env.Stdout, "nothing to pin")
	}
	if err != nil {
		return &exitError{Code: ExitEngine, Err: err}
	}
	return nil
}

// lockOptions is what downloading needs to know of this machine.
func (a *app) lockOptions() (relock.Options, error) {
	vars := a.envVars()
	maps.Copy(vars, a.Set)
	o := relock.Options{Options: sources.Options{
		Downloads: a.places().Downloads(), Offline: a.Offline, Getenv: a.Env.Var, Home: a.Env.Var("HOME"),
		Warn:   func(text string) { fmt.Fprintln(a.Env.Stderr, "note:", text) },
		Secret: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		Vendor: qpm.Client{Home: a.Env.Var("HOME"), Search: filepath.SplitList(a.Env.Var("PATH")),
			Env: sources.Proxies(a.Env.Vars)},
	}}
	var err error
	if o.Mirrors, err = fetch.ParseMirrors(a.Env.Var(fetch.EnvMirrors)); err != nil {
		return o, usageError("%s: %v", fetch.EnvMirrors, err)
	}
	if o.Logins, err = fetch.NetrcFile(a.netrc()); err != nil {
		return o, usageError("%v", err)
	}
	return o, nil
}

// checkLock says what of the requests is not pinned, or not as it is.
func (a *app) checkLock(d *domain, reqs []toolchains.Request) error {
	problems := relock.Check(d.catalogue(), d.lock, reqs)
	for _, p := range problems {
		if !a.JSON {
			fmt.Fprintln(a.Env.Stdout, p)
		} else if err := a.printJSON(p); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return usageError("%s is not up to date: %d of %d releases", toolchains.LockFile, len(problems), len(reqs))
	}
	if !a.JSON {
		fmt.Fprintf(a.Env.Stdout, "%s pins all %d releases\n", toolchains.LockFile, len(reqs))
	}
	return nil
}

// requests are the releases that the command is about, each once.
func (c *lockCmd) requests(a *app, d *domain) ([]toolchains.Request, error) {
	var all []toolchains.Request
	add := func(reqs ...toolchains.Request) {
		for _, q := range reqs {
			if !slices.ContainsFunc(all, func(have toolchains.Request) bool {
				return have.Name == q.Name && have.Version == q.Version && have.Source == q.Source &&
					have.Profile == q.Profile
			}) {
				all = append(all, q)
			}
		}
	}
	pipelines := []string{c.What}
	switch {
	case c.What == "":
		pipelines = a.ownPipelines()
	case !slices.Contains(a.pipelines(), c.What) || c.Release != "":
		add(toolchains.Request{Name: c.What, Version: c.Release, Profile: a.Profile, Machine: d.machine})
		pipelines = nil
	}
	for _, p := range pipelines {
		reqs, err := a.requests(p, d)
		if err != nil {
			return nil, err
		}
		for _, q := range reqs {
			if i := slices.IndexFunc(all, q.Contradicts); i >= 0 {
				return nil, usageError("toolchain %q of pipeline %s is an environment with other packages than the "+
					"one of that name in another pipeline, and the lock has one of them: give it another name",
					q.Name, p)
			}
		}
		add(reqs...)
	}
	for _, name := range c.Upgrade {
		if slices.ContainsFunc(all, func(q toolchains.Request) bool { return q.Name == name }) {
			continue
		}
		if _, _, err := d.catalogue().Find(name, ""); err != nil {
			return nil, usageError("--upgrade %s: %v", name, err)
		}
		add(toolchains.Request{Name: name, Profile: a.Profile, Machine: d.machine})
	}
	return all, nil
}

// ownPipelines are the workspace's pipelines, those of them that have the chosen profile.
func (a *app) ownPipelines() []string {
	var out []string
	for _, name := range a.own() {
		cfg, diags := a.load(a.Root, name)
		if a.Profile == "" || diags.HasErrors() ||
			slices.ContainsFunc(cfg.Profiles, func(p *config.Profile) bool { return p.Name == a.Profile }) {
			out = append(out, name)
		}
	}
	return out
}

// requests are the toolchains that a pipeline asks for.
func (a *app) requests(pipeline string, d *domain) ([]toolchains.Request, error) {
	workspace, err := a.workspace(pipeline)
	if err != nil {
		return nil, err
	}
	cfg, diags := a.load(workspace, pipeline)
	var asked []toolchains.Request
	if !diags.HasErrors() {
		o := a.plannerOptions(workspace, cfg, d)
		o.Kinds = steps.Workspace{Catalogue: d.catalogue, Machine: d.machine, Dir: workspace,
			Asked: func(q toolchains.Request) { asked = append(asked, q) }}.Kinds()
		_, _, more := planner.Build(o)
		diags = append(diags, more...)
	}
	if diags.HasErrors() {
		return nil, a.printDiags(diags, cfg.Shown())
	}
	return asked, nil
}
