package cli

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/pin"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// lockCmd is `hexmage lock [PIPELINE | TOOLCHAIN [RELEASE]]`.
type lockCmd struct {
	What    string   `arg:"" optional:"" help:"Pin this toolchain, or the toolchains of this pipeline. Default: the toolchains of all pipelines of the workspace."`
	Release string   `arg:"" optional:"" help:"Pin this release of the toolchain. Example: 2.41.0.251128. Default: the default release in hexmage's catalog."`
	Upgrade []string `placeholder:"NAME" help:"Replace the pins of this toolchain. Example: llvm. May be repeated."`
	Whole   bool     `xor:"parts" help:"Download each zip as a whole once, and pin only those of its files that toolchains use. Later, hexmage downloads only these files."`
	Trust   bool     `name:"trust-parts" xor:"parts" help:"Pin the same files as --whole, but download only these files. hexmage cannot compare these files with the whole zip."`
	Check   bool     `help:"Only list missing and stale pins, and exit with 2 if there are any. Does not use the network."`
}

// Help returns the examples of `hexmage lock --help`.
func (*lockCmd) Help() string {
	return `Downloads each file that has no pin, and writes its pin (the digest of the file) to hexmage.lock.hcl. Other
commands download only pinned files. Only --upgrade changes existing pins.

Reads the proxy from $HTTPS_PROXY, logins from ~/.netrc, and secrets from variables such as $HEXMAGE_VAR_token. To use a
mirror, set HEXMAGE_MIRRORS="https://from/=https://to/". See docs/fetching.md.

Examples:

    hexmage lock                                        pin the toolchains of all pipelines of the workspace
    hexmage lock qwen3-aot-v79 --profile device         pin the toolchains of one pipeline
    hexmage lock qairt 2.41.0.251128 --profile device   pin one release of a toolchain

    hexmage lock --whole --profile device onnx-device   pin only the files that toolchains use from each zip
    hexmage lock --upgrade llvm                         replace the pins of a toolchain
    hexmage lock --check                                for CI: list missing and stale pins`
}

// Run looks up downloads and writes their digests to the workspace's hexmage.lock.hcl. All other commands download only
// pinned files.
func (c *lockCmd) Run(ctx context.Context, a *app) error {
	root := a.here()
	d, err := a.domain()
	if err != nil {
		return err
	}
	lock, err := a.ownLock()
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
	if c.What == "" { // the shipped lock pins the others; a named release goes into the workspace's own lock
		reqs = slices.DeleteFunc(reqs, func(q toolchains.Request) bool {
			return !slices.Contains(c.Upgrade, q.Name) && (len(q.Only) == 0 || !c.Whole && !c.Trust) &&
				len(pin.Check(d.catalog, d.Lock, []toolchains.Request{q})) == 0
		})
	}
	inUse, err := a.useCache(ctx)
	if err != nil {
		return err
	}
	defer inUse()
	o, err := a.lockOptions()
	if err != nil {
		return err
	}
	o.Lock, o.Whole, o.Ranges = d.Lock, c.Whole, c.Trust
	o.Upgrade = func(name string) bool { return slices.Contains(c.Upgrade, name) }
	line := a.progressLine(a.Env.Terminal, progressLines)
	o.Progress = line.download
	changes, err := pin.Update(ctx, d.catalog, lock, reqs, o)
	line.end()
	changed := false
	for _, ch := range changes {
		if err := a.show(ch, "%-10s %-16s %s\n", ch.Name, ch.Version, ch.Text); err != nil {
			return err
		}
		changed = changed || ch.Changed
		if ch.FirstUse {
			a.say("%s %s: the publisher provides no digest, so hexmage pinned the downloaded file. Before you commit "+
				"%s, compare the digest with another download.",
				ch.Name, ch.Version, toolchains.LockFile)
		}
		if ch.Ranges {
			a.say("%s %s: hexmage has not compared the downloaded parts with the whole zip; to compare them, run "+
				"`hexmage lock --whole`", ch.Name, ch.Version)
		}
	}
	if changed { // keep the digests found before an error
		place, perr := safepath.Resolve(root, toolchains.LockFile) // keep a link
		if perr != nil {
			return usageError("%w", perr)
		}
		path := place.Path
		if werr := atomicfile.WriteFile(filepath.Dir(path), path, lock.Encode(), 0o644); werr != nil {
			return engineError(werr)
		}
		if !a.JSON {
			a.printf("written: %s\n", path)
		}
	} else if err == nil && len(changes) == 0 && !a.JSON {
		a.print("nothing to pin\n")
	}
	if err != nil {
		return &exitError{Code: ExitEngine, Err: err}
	}
	return nil
}

// lockOptions returns the download options for this machine.
func (a *app) lockOptions() (pin.Options, error) {
	vars := a.envVars()
	maps.Copy(vars, a.Set)
	o := pin.Options{Options: sources.Options{
		Downloads: a.places().Downloads(), Offline: a.Offline, Getenv: a.Env.Var, Home: a.Env.Var("HOME"),
		Warn:   func(text string) { a.say("%s", text) },
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

// checkLock returns an error if a request is not pinned, or pinned with other values.
func (a *app) checkLock(d *domain, reqs []toolchains.Request) error {
	problems := pin.Check(d.catalog, d.Lock, reqs)
	for _, p := range problems {
		if err := a.show(p, "%v\n", p); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return usageError("%s is out of date for %d of %d releases; run `hexmage lock`",
			toolchains.LockFile, len(problems), len(reqs))
	}
	if !a.JSON {
		a.printf("%s pins all %d releases\n", toolchains.LockFile, len(reqs))
	}
	return nil
}

// requests returns the command's releases, each once.
func (c *lockCmd) requests(a *app, d *domain) ([]toolchains.Request, error) {
	var all []toolchains.Request
	add := func(reqs ...toolchains.Request) {
		for _, q := range reqs {
			if !slices.ContainsFunc(all, func(have toolchains.Request) bool {
				return have.Name == q.Name && have.Version == q.Version && have.Source == q.Source &&
					have.Profile == q.Profile && slices.Equal(have.Only, q.Only)
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
		add(toolchains.Request{Name: c.What, Version: c.Release, Profile: a.Profile, Machine: d.Machine})
		pipelines = nil
	}
	for _, p := range pipelines {
		reqs, err := a.requests(p, d)
		if err != nil {
			return nil, err
		}
		for _, q := range reqs {
			if i := slices.IndexFunc(all, q.Contradicts); i >= 0 {
				return nil, usageError("toolchain %q: pipeline %s and another pipeline declare different toolchains "+
					"with this name; rename one of them",
					q.Name, p)
			}
		}
		add(reqs...)
	}
	for _, name := range c.Upgrade {
		if slices.ContainsFunc(all, func(q toolchains.Request) bool { return q.Name == name }) {
			continue
		}
		if _, _, err := d.catalog.Find(name, ""); err != nil {
			return nil, usageError("--upgrade %s: %v", name, err)
		}
		add(toolchains.Request{Name: name, Profile: a.Profile, Machine: d.Machine})
	}
	return all, nil
}

// ownPipelines returns the workspace's pipelines with the chosen profile.
func (a *app) ownPipelines() []string {
	var out []string
	for _, name := range a.own() {
		cfg, diags := a.load(name)
		if a.Profile == "" || diags.HasErrors() ||
			slices.ContainsFunc(cfg.Profiles, func(p *config.Profile) bool { return p.Name == a.Profile }) {
			out = append(out, name)
		}
	}
	return out
}

// requests returns the toolchains of a pipeline.
func (a *app) requests(pipeline string, d *domain) ([]toolchains.Request, error) {
	if err := a.checkPipeline(pipeline); err != nil {
		return nil, err
	}
	cfg, diags := a.load(pipeline)
	var asked []toolchains.Request
	if !diags.HasErrors() {
		o := a.plannerOptions(cfg, d)
		w := d.Workspace
		w.Asked = func(q toolchains.Request) { asked = append(asked, q) }
		o.Kinds = w.Kinds()
		_, _, more := planner.Plan(o)
		diags = append(diags, more...)
	}
	if diags.HasErrors() {
		return nil, a.printDiags(diags, cfg.Shown())
	}
	return asked, nil
}
