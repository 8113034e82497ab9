package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/toolchains"
)

// toolchainCmd is `hexmage toolchain …`.
type toolchainCmd struct {
	List   toolchainListCmd   `cmd:"" help:"List releases of toolchains, and whether this machine has them."`
	Fetch  toolchainFetchCmd  `cmd:"" takes:"var,build" var:"Set a variable that a download needs. Example: token=SECRET. May be repeated." help:"Download, verify and unpack toolchains."`
	Verify toolchainVerifyCmd `cmd:"" help:"Check that a toolchain or an SDK folder is complete."`
	Path   toolchainPathCmd   `cmd:"" help:"Print the folder of a toolchain."`
}

// Help returns the examples of `hexmage toolchain --help`.
func (*toolchainCmd) Help() string {
	return `Examples:

    hexmage toolchain list qairt                        all releases of QAIRT
    hexmage show toolchain qairt@2.41.0.251128          sources, digests, archs and license of one release

    hexmage toolchain fetch ndk@r28b --profile device   download Google's NDK
    hexmage toolchain verify $QNN_SDK_ROOT              check an installed SDK
    make -C src SDK="$(hexmage toolchain path qairt)"   one release, in your own build`
}

// wanted is a release from the command line: NAME[@VERSION].
type wanted struct {
	name, version string // "": the catalog's default
	source        string // "": the profile's choice
}

func parseWanted(s string) wanted {
	name, version, _ := strings.Cut(s, "@")
	return wanted{name: name, version: version}
}

// toolchainPlan plans a pipeline with only these toolchains. Its actions equal those of any pipeline with the same
// blocks, so that they share cached results. Names must be unique.
func (a *app) toolchainPlan(ws []wanted) (*planned, error) {
	p, diags, err := a.planToolchains(ws)
	if err != nil {
		return nil, err
	}
	if err := a.printDiags(plain(diags), nil); err != nil {
		return nil, err
	}
	return p, nil
}

func (a *app) planToolchains(ws []wanted) (*planned, hcl.Diagnostics, error) {
	text := fmt.Sprintf("profile %q {\n  default = true\n}\n", toolchains.ProfileSimulated)
	if a.Profile != "" && a.Profile != toolchains.ProfileSimulated {
		text += "profile " + quoted(a.Profile) + " {}\n"
	}
	for _, w := range ws {
		if !hclsyntax.ValidIdentifier(w.name) {
			return nil, nil, usageError("invalid toolchain name %q; use NAME or NAME@VERSION from `hexmage toolchain "+
				"list`", w.name)
		}
		text += fmt.Sprintf("toolchain %q {\n", w.name)
		if w.version != "" {
			text += "  version = " + quoted(w.version) + "\n"
		}
		if w.source != "" {
			text += "  source = " + quoted(w.source) + "\n"
		}
		// an unused toolchain is not planned
		text += fmt.Sprintf("}\noutput %q {\n  value = toolchain.%[1]s.dir\n}\n", w.name)
	}
	return a.planText("toolchain", text)
}

// planText plans a pipeline without a file.
func (a *app) planText(name, text string) (*planned, hcl.Diagnostics, error) {
	fsys := fstest.MapFS{workspace.Folder + "/" + name + ".hcl": {Data: []byte(text)}}
	cfg, diags := config.Load(fsys, name, nil)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	d, err := a.planDomain()
	if err != nil {
		return nil, nil, err
	}
	p, more, err := a.planConfig(cfg, d)
	if p != nil {
		for _, n := range p.Instances { // failures have no place, since the file does not exist
			n.Where, n.Source = "", ""
		}
	}
	return p, append(diags, more...), err
}

// plain removes places from diagnostics about a generated file.
func plain(diags hcl.Diagnostics) hcl.Diagnostics {
	out := make(hcl.Diagnostics, 0, len(diags))
	for _, d := range diags {
		own := *d
		own.Subject, own.Context, own.Expression, own.EvalContext = nil, nil, nil, nil
		out = append(out, &own)
	}
	return out
}

// located is a toolchain on this machine.
type located struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Path    string `json:"path"`
	Digest  string `json:"digest,omitempty"` // digest of the tree in the store; "" for an installed SDK
}

// installedAt returns the root of an installed SDK, or "" for an instance with a tree in the store.
func installedAt(n *plan.Instance) string {
	for _, part := range n.Outputs["dir"].Parts {
		if part.Host != nil && filepath.IsAbs(part.Host.Path) {
			return part.Host.Path
		}
	}
	return ""
}

// toolchainInstances returns the toolchains of a plan.
func toolchainInstances(p *plan.Plan) []*plan.Instance {
	var out []*plan.Instance
	for _, n := range p.Instances {
		if n.At.Kind == addrs.Toolchain {
			out = append(out, n)
		}
	}
	return out
}

// fetch fetches and verifies the plan's missing toolchains, and returns their places. show asks for progress also
// without a terminal.
func (a *app) fetch(ctx context.Context, p *planned, show bool) ([]located, error) {
	instances := toolchainInstances(p.Plan)
	var steps []addrs.Step
	for _, n := range instances {
		steps = append(steps, n.At.Step)
		for _, m := range n.Missing {
			a.say("missing: %s: %s", n.At, m)
		}
		if len(n.Missing) > 0 {
			return nil, usageError("this machine lacks requirements of the toolchain (profile %q); install "+
				"them", p.Profile)
		}
	}
	p, err := p.Select(steps...)
	if err != nil {
		return nil, engineError(err)
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close(false)
	res, err := a.buildRoots(ctx, e, p, rootsOf(instances), show)
	if err != nil {
		return nil, err
	}
	return locations(ctx, instances, res, e.Trees, e.Blobs)
}

// locate returns the places of the plan's toolchains without fetching. ok is false if one is missing.
func (a *app) locate(ctx context.Context, p *planned) (_ []located, ok bool, err error) {
	o, _, err := a.lookupOnly(ctx)
	if err != nil {
		return nil, false, err
	}
	instances := toolchainInstances(p.Plan)
	o.Sink, o.Roots, o.State = sinks{}, rootsOf(instances), ""
	p.extend(&o)
	res, err := engine.Run(ctx, p.Plan, o)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil || res.Failed > 0 {
		return nil, false, nil // an action would have to run
	}
	ls, err := locations(ctx, instances, res, merkle.NewTrees(a.Cache), o.Blobs)
	return ls, err == nil, err
}

// rootsOf returns the trees of toolchains in the store.
func rootsOf(instances []*plan.Instance) (out []addrs.Output) {
	for _, n := range instances {
		if installedAt(n) == "" {
			out = append(out, n.Output("dir"))
		}
	}
	return out
}

func locations(ctx context.Context, instances []*plan.Instance, res engine.Result, trees *merkle.Trees,
	blobs store.Blobs) ([]located, error) {
	var out []located
	for _, n := range instances {
		l := located{Name: n.At.Name, Version: n.Version, Path: installedAt(n)}
		if l.Path == "" {
			var err error
			root := res.Roots[n.Output("dir")]
			l.Digest = root.String()
			if l.Path, err = trees.Path(ctx, blobs, root); err != nil {
				return nil, engineError(err)
			}
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(x, y located) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}

// toolchainFetchCmd is `hexmage toolchain fetch NAME[@VERSION]…`.
type toolchainFetchCmd struct {
	Names  []string `arg:"" help:"Toolchains in hexmage's catalog, such as ndk@r28b. A name without a version means the default release."`
	Source string   `placeholder:"KIND" help:"Use only sources of this kind: archive, deb, embedded, installed, manual, maven, pypi, python, qpm or qsc. Default: all sources for the profile."`
}

// Help returns the examples of `hexmage toolchain fetch --help`.
func (*toolchainFetchCmd) Help() string {
	return `Unpacks the toolchains into hexmage's cache. Pipelines use the toolchains in the cache, and do not
download them again.

Examples:

    hexmage toolchain fetch ndk@r28b --profile device   one release of Google's NDK
    hexmage toolchain fetch htp_host onnx               the default releases of two toolchains`
}

// Run fetches toolchains.
func (c *toolchainFetchCmd) Run(ctx context.Context, a *app) error {
	var all []located
	for _, ws := range rounds(wantedOf(c.Names, c.Source), wantedName) {
		p, err := a.toolchainPlan(ws)
		if err != nil {
			return err
		}
		ls, err := a.fetch(ctx, p, true)
		if err != nil {
			return err
		}
		all = append(all, ls...)
	}
	text := ""
	for _, l := range all {
		text += fmt.Sprintf("%s %s: %s\n", l.Name, l.Version, l.Path)
	}
	return a.show(all, "%s", text)
}

func wantedOf(names []string, source string) (all []wanted) {
	for _, s := range names {
		w := parseWanted(s)
		w.source = source
		all = append(all, w)
	}
	return all
}

func wantedName(w wanted) string { return w.name }

// rounds splits a list so that each name is in a round once, since a pipeline has one release of a toolchain.
func rounds[T any](all []T, name func(T) string) (out [][]T) {
	turn := map[string]int{}
	for _, x := range all {
		n := turn[name(x)]
		turn[name(x)]++
		if n == len(out) {
			out = append(out, nil)
		}
		out[n] = append(out[n], x)
	}
	return out
}

// toolchainPathCmd is `hexmage toolchain path NAME[@VERSION]`.
type toolchainPathCmd struct {
	Name   string `arg:"" help:"Toolchain in hexmage's catalog, such as ndk@r28b. A name without a version means the default release."`
	Source string `placeholder:"KIND" help:"Use only sources of this kind: archive, deb, embedded, installed, manual, maven, pypi, python, qpm or qsc. Default: all sources for the profile."`
}

// Help returns the examples of `hexmage toolchain path --help`.
func (*toolchainPathCmd) Help() string {
	return `If this machine lacks the toolchain, prints the command to fetch the toolchain, and exits with 2.

Examples:

    hexmage toolchain path qairt                                      the default release
    make -C src SDK="$(hexmage toolchain path qairt@2.41.0.251128)"   one release, in your own build`
}

// Run prints the folder of a toolchain.
func (c *toolchainPathCmd) Run(ctx context.Context, a *app) error {
	l, err := a.find(ctx, c.Name, c.Source)
	if err != nil {
		return err
	}
	return a.showPath(l, l.Path)
}

// showPath prints only a path, or the value with --json.
func (a *app) showPath(value any, path string) error {
	if a.JSON {
		return writeJSON(a.Env.Stdout, value)
	}
	isData(a.Env.Stdout)
	fmt.Fprintln(a.Env.Stdout, filepath.Clean(path))
	return nil
}

// find locates a release. Its error has exit code 2 and the command to fetch it.
func (a *app) find(ctx context.Context, name, source string) (located, error) {
	w := parseWanted(name)
	w.source = source
	p, err := a.toolchainPlan([]wanted{w})
	if err != nil {
		return located{}, err
	}
	n := toolchainInstances(p.Plan)[0]
	if at := installedAt(n); at != "" {
		return located{Name: w.name, Version: n.Version, Path: at}, nil
	}
	if len(n.Missing) > 0 {
		return located{}, usageError("toolchain %s %s is not on this machine: %s", w.name, n.Version,
			strings.Join(n.Missing, " "))
	}
	ls, ok, err := a.locate(ctx, p)
	if err != nil {
		return located{}, err
	}
	if !ok {
		cmd := []string{"hexmage", "toolchain", "fetch", w.name + "@" + n.Version}
		if a.Profile != "" {
			cmd = append(cmd, "--profile", a.Profile)
		}
		if source != "" {
			cmd = append(cmd, "--source", source)
		}
		return located{}, usageError("toolchain %s %s is not in the store; run `%s`", w.name, n.Version,
			action.Quote(cmd))
	}
	return ls[0], nil
}

// toolchainListCmd is `hexmage toolchain list [NAME…]`.
type toolchainListCmd struct {
	Names []string `arg:"" optional:"" help:"List only releases of these toolchains. Default: releases of all toolchains."`
}

// Help returns the examples of `hexmage toolchain list --help`.
func (*toolchainListCmd) Help() string {
	return `Examples:

    hexmage toolchain list         all releases of all toolchains
    hexmage toolchain list qairt   all releases of one toolchain`
}

// toolchainState is the availability of a release on this machine.
type toolchainState string

const (
	inStore    toolchainState = "in the store"
	isHere     toolchainState = "installed"  // an SDK of the user, or programs of the machine
	toFetch    toolchainState = "to fetch"   // its digest is pinned
	toLock     toolchainState = "to lock"    // its digest is not pinned
	byHand     toolchainState = "by hand"    // the user, or a client of Qualcomm's that is missing, must download it
	notPlanned toolchainState = "impossible" // its plan fails on this machine
)

// toolchainRow is one release of the list.
type toolchainRow struct {
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	Default   bool           `json:"default,omitempty"`
	State     toolchainState `json:"state"`
	Profile   string         `json:"profile"` // profile for which State is valid
	Source    string         `json:"source,omitempty"`
	Installed string         `json:"installed,omitempty"` // root of an installed SDK
	Programs  []string       `json:"programs,omitempty"`  // programs of this machine, if they form the toolchain
	Sources   []string       `json:"sources"`
	Arches    []string       `json:"arches,omitempty"`
	Size      int64          `json:"size,omitempty"` // download size in bytes
	Detail    string         `json:"detail,omitempty"`
}

// Run lists toolchains.
func (c *toolchainListCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain()
	if err != nil {
		return err
	}
	var ts []*toolchains.Toolchain
	for _, name := range c.Names {
		t, _, err := d.catalog.Find(parseWanted(name).name, "")
		if err != nil {
			return usageError("%w", err)
		}
		ts = append(ts, t)
	}
	if len(ts) == 0 {
		ts = d.catalog.Toolchains
	}
	rows, err := a.toolchainRows(ctx, d, ts)
	if err != nil {
		return err
	}
	colors := map[toolchainState]string{inStore: "32", isHere: "32", toLock: "33", byHand: "33", notPlanned: "31"}
	var text strings.Builder
	for _, t := range ts {
		fmt.Fprintf(&text, "%s  %s\n", a.painted("1", t.Name), t.Description)
		for _, r := range rows {
			if r.Name == t.Name {
				mark := " "
				if r.Default {
					mark = "*"
				}
				fmt.Fprintf(&text, "  %s %-16s %s  %s\n", mark, r.Version, a.painted(colors[r.State],
					fmt.Sprintf("%-12s", r.State)), r.text())
			}
		}
		text.WriteString("\n")
	}
	return a.show(rows, "%s* the release for pipelines that name no version. Details: `hexmage show toolchain NAME`\n",
		&text)
}

// text describes the source of the release.
func (r *toolchainRow) text() string {
	s := r.Source
	switch {
	case r.Installed != "" && r.State == isHere:
		return r.Installed
	case len(r.Programs) > 0 && r.State == isHere:
		return strings.Join(r.Programs, " ")
	case s == "embedded":
		s = "simulation"
	}
	if r.Size > 0 && r.State != inStore {
		s += ", " + bytesize.Decimal(r.Size)
	}
	if others := slices.DeleteFunc(slices.Clone(r.Sources),
		func(k string) bool { return k == r.Source }); len(others) > 0 {
		s += "  (else " + strings.Join(others, ", ") + ")"
	}
	return s
}

// toolchainRows returns the states of all releases of the toolchains. It fetches nothing.
func (a *app) toolchainRows(ctx context.Context, d *domain, ts []*toolchains.Toolchain) ([]*toolchainRow, error) {
	var rows []*toolchainRow
	ask := map[string][]*toolchainRow{} // by profile: releases that may be in the store
	for _, t := range ts {
		for _, r := range t.Releases {
			row := a.toolchainRow(d, t, r)
			rows = append(rows, row)
			if row.State == toFetch || row.State == isHere && row.Installed == "" {
				ask[row.Profile] = append(ask[row.Profile], row)
			}
		}
	}
	for profile, asked := range ask {
		own := *a
		own.Profile = profile
		if err := own.askStore(ctx, asked); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// toolchainRow decides how to get a release: as in the chosen profile, else as in profile device.
func (a *app) toolchainRow(d *domain, t *toolchains.Toolchain, r *toolchains.Release) *toolchainRow {
	row := &toolchainRow{Name: t.Name, Version: r.Version, Default: r.Version == t.Default, Arches: r.Arches}
	for _, s := range r.Sources {
		row.Sources = append(row.Sources, s.Kind)
	}
	profiles := []string{a.Profile}
	if a.Profile == "" || a.Profile == toolchains.ProfileSimulated {
		profiles = []string{toolchains.ProfileSimulated, "device"}
	}
	for _, profile := range profiles {
		q := toolchains.Request{Name: t.Name, Version: r.Version, Profile: profile, Lock: d.Lock, Machine: d.Machine}
		ch, err := d.catalog.Choose(q)
		row.Profile, row.State = profile, toFetch
		if err != nil && !errors.Is(err, toolchains.ErrNotAvailable) {
			q.Locking = true
			row.State, row.Detail = toLock, err.Error()
			ch, err = d.catalog.Choose(q)
		}
		if err != nil {
			row.State, row.Detail = byHand, err.Error()
			for _, kind := range []string{"manual", "qsc", "qpm"} {
				if r.Source(kind) != nil {
					row.Source = kind
				}
			}
			continue
		}
		if row.State == toFetch {
			row.Detail = ""
		}
		row.Source, row.Size, row.Installed = ch.Source.Kind, ch.Size(), ch.Host
		if ch.Source.Kind == "installed" {
			row.State, row.Programs = isHere, programsOf(ch)
		}
		break
	}
	if row.Installed == "" && row.State != isHere {
		q := toolchains.Request{Name: t.Name, Version: r.Version, Source: "installed", Profile: row.Profile,
			Lock: d.Lock, Machine: d.Machine}
		if ch, err := d.catalog.Choose(q); err == nil {
			row.Installed, row.Programs = ch.Host, programsOf(ch)
			if row.State == byHand || row.State == toLock {
				row.State, row.Source = isHere, "installed"
			}
		}
	}
	return row
}

// programsOf returns the machine's programs of a toolchain.
func programsOf(ch *toolchains.Choice) (out []string) {
	for _, p := range ch.Spec.Programs {
		out = append(out, p.Target)
	}
	return out
}

// askStore checks which releases are in the store.
func (a *app) askStore(ctx context.Context, rows []*toolchainRow) error {
	for _, round := range rounds(rows, func(r *toolchainRow) string { return r.Name }) {
		var ws []wanted
		for _, r := range round {
			ws = append(ws, wanted{name: r.Name, version: r.Version})
		}
		here, diags, err := a.inStore(ctx, ws)
		if err != nil {
			return err
		}
		for _, r := range round {
			switch {
			case diags.HasErrors():
				r.State, r.Detail = notPlanned, mistakes(diags)
			case slices.ContainsFunc(here, func(n *plan.Instance) bool { return n.At.Name == r.Name }):
				r.State = inStore
			}
		}
	}
	return nil
}

// inStore plans the toolchains, with unique names, and returns the instances in the store.
func (a *app) inStore(ctx context.Context, ws []wanted) (here []*plan.Instance, _ hcl.Diagnostics, _ error) {
	p, diags, err := a.planToolchains(ws)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	o, _, err := a.lookupOnly(ctx)
	if err != nil {
		return nil, nil, err
	}
	p.extend(&o)
	seen, err := engine.Preview(ctx, p.Plan, o, nil)
	if err != nil {
		return nil, nil, engineError(err)
	}
	for _, n := range toolchainInstances(p.Plan) {
		if stored(seen, n) {
			here = append(here, n)
		}
	}
	return here, nil, nil
}

// stored reports whether all actions of the instance have results.
func stored(seen *engine.Previews, n *plan.Instance) bool {
	found := false
	for _, v := range seen.Actions {
		if v.Instance.At != n.At {
			continue
		}
		if found = v.Status == engine.WillUse; !found {
			return false
		}
	}
	return found
}

// toolchainShown describes a release of a toolchain.
type toolchainShown struct {
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	Default      string         `json:"default"` // default release
	DownloadPage string         `json:"download_page,omitempty"`
	License      string         `json:"license,omitempty"`
	Note         string         `json:"note,omitempty"`
	Variables    []string       `json:"variables,omitempty"` // variables that `hexmage env` sets
	PushSets     []pushSetShown `json:"push_sets,omitempty"`
	Release      *toolchainRow  `json:"release"`
	Sources      []sourceShown  `json:"sources,omitempty"`
}

// pushSetShown is a push set. {arch} stands for the number of an arch.
type pushSetShown struct {
	Name   string            `json:"name"`
	Arches []string          `json:"arches,omitempty"` // archs, if each arch has its own set
	Files  map[string]string `json:"files"`
}

type sourceShown struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Digest string `json:"digest,omitempty"`
	Locked bool   `json:"locked,omitempty"`
}

// showToolchain is `hexmage show toolchain NAME[@VERSION]`.
func (a *app) showToolchain(ctx context.Context, name string) error {
	d, err := a.domain()
	if err != nil {
		return err
	}
	w := parseWanted(name)
	t, r, err := d.catalog.Find(w.name, w.version)
	if err != nil {
		return usageError("%w", err)
	}
	only := *t
	only.Releases = []*toolchains.Release{r}
	rows, err := a.toolchainRows(ctx, d, []*toolchains.Toolchain{&only})
	if err != nil {
		return err
	}
	s := toolchainShown{Name: t.Name, Description: t.Description, Default: t.Default, DownloadPage: t.DownloadPage,
		License: t.License, Note: r.Note, Release: rows[0], Sources: sourcesOf(d, t, r)}
	for _, v := range t.EnvVars {
		s.Variables = append(s.Variables, v.Name)
	}
	for _, p := range t.Pushes {
		shown := pushSetShown{Name: p.Name, Files: p.Files}
		if p.PerArch() {
			shown.Arches = d.catalog.PushArches(t, r)
		}
		s.PushSets = append(s.PushSets, shown)
	}
	return a.showRecord(s)
}

// sourcesOf describes each source of a release, with its digest.
func sourcesOf(d *domain, t *toolchains.Toolchain, r *toolchains.Release) (out []sourceShown) {
	for _, s := range r.Sources {
		q := toolchains.Request{Name: t.Name, Version: r.Version, Source: s.Kind, Profile: "device", Lock: d.Lock,
			Machine: d.Machine, Locking: true}
		shown := sourceShown{Kind: s.Kind, Locked: d.Lock.Find(t.Name, r.Version, s.Kind) != nil}
		ch, err := d.catalog.Choose(q)
		switch {
		case s.Kind == "installed" && err != nil:
			shown.Detail = "none found"
			if len(s.Env) > 0 {
				shown.Detail += "; set " + strings.Join(s.Env, " or ") + " to its root"
			}
		case err != nil:
			shown.Detail = err.Error()
		case s.Kind == "installed" && ch.Host != "":
			shown.Detail = ch.Host
		case s.Kind == "installed":
			shown.Detail = strings.Join(programsOf(ch), " ")
		case s.Kind == "embedded":
			shown.Detail = "simulated, part of hexmage"
		case len(ch.Spec.Packages) > 0:
			var ps []string
			for _, p := range ch.Spec.Packages {
				ps = append(ps, strings.TrimSpace(p.Name+" "+p.Version))
			}
			shown.Detail = strings.Join(ps, ", ")
		default:
			shown.Detail = strings.Join(ch.Spec.URLs, ", ")
		}
		if err == nil {
			for _, sum := range [][2]string{{"sha256", ch.Spec.SHA256}, {"sha1", ch.Spec.SHA1}, {"md5", ch.Spec.MD5}} {
				if sum[1] != "" && shown.Digest == "" {
					shown.Digest = sum[0] + " " + sum[1]
				}
			}
		}
		out = append(out, shown)
	}
	return out
}
