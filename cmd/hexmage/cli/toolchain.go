package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/workspace"
	"github.com/hexmage/hexmage/toolchains"
)

// toolchainCmd is `hexmage toolchain …`.
type toolchainCmd struct {
	List   toolchainListCmd   `cmd:"" help:"List releases: their sources, and which are here."`
	Fetch  toolchainFetchCmd  `cmd:"" takes:"var,build" help:"Download, verify and unpack releases into the store."`
	Verify toolchainVerifyCmd `cmd:"" help:"Check a release in the store, or an SDK folder."`
	Path   toolchainPathCmd   `cmd:"" help:"Print the folder of a release."`
}

// Help has the examples of `hexmage toolchain --help`.
func (*toolchainCmd) Help() string {
	return `Examples:

    hexmage toolchain list qairt                       its releases, and which are here
    hexmage show toolchain qairt@2.41.0.251128         sources, digests, archs, licence, page
    hexmage toolchain fetch ndk@r28b --profile device  the real one; a pipeline finds it in the store
    hexmage toolchain verify $QNN_SDK_ROOT             is this SDK whole, and of one release?
    make -C src SDK="$(hexmage toolchain path qairt)"`
}

// wanted is a release that was asked for on the command line: NAME[@VERSION].
type wanted struct {
	name, version string // version "": the catalogue's default
	source        string // "": as the profile says
}

func parseWanted(s string) wanted {
	name, version, _ := strings.Cut(s, "@")
	return wanted{name: name, version: version}
}

// toolchainPlan plans a pipeline that has these toolchains and nothing else. Its actions are those of any pipeline
// with the same blocks, so that what one fetched the other finds. Each name may be there once.
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
	f := hclwrite.NewEmptyFile()
	profile := f.Body().AppendNewBlock("profile", []string{toolchains.ProfileSimulated}).Body()
	profile.SetAttributeValue("default", cty.True)
	if a.Profile != "" && a.Profile != toolchains.ProfileSimulated {
		f.Body().AppendNewBlock("profile", []string{a.Profile})
	}
	for _, w := range ws {
		if !hclsyntax.ValidIdentifier(w.name) {
			return nil, nil, usageError("%q is no name of a toolchain: `hexmage toolchain list` has them; a "+
				"release is NAME@VERSION", w.name)
		}
		b := f.Body().AppendNewBlock(addrs.Toolchain, []string{w.name}).Body()
		if w.version != "" {
			b.SetAttributeValue("version", cty.StringVal(w.version))
		}
		if w.source != "" {
			b.SetAttributeValue("source", cty.StringVal(w.source))
		}
		out := f.Body().AppendNewBlock("output", []string{w.name}).Body() // what nobody uses is not planned
		out.SetAttributeTraversal("value",
			hcl.Traversal{hcl.TraverseRoot{Name: addrs.Toolchain}, hcl.TraverseAttr{Name: w.name},
				hcl.TraverseAttr{Name: "dir"}})
	}
	return a.planText("toolchain", f.Bytes())
}

// planText plans a pipeline that no file has.
func (a *app) planText(name string, text []byte) (*planned, hcl.Diagnostics, error) {
	fsys := fstest.MapFS{workspace.Folder + "/" + name + ".hcl": {Data: text}}
	cfg, diags := config.Load(fsys, name, nil)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	p, more, err := a.planConfig(a.here(), cfg)
	if p != nil {
		for _, n := range p.Instances { // failures are shown without the place in a file that nobody has written
			n.Where, n.Source = "", ""
		}
	}
	return p, append(diags, more...), err
}

// plain takes the places from diagnostics about a file that nobody has written.
func plain(diags hcl.Diagnostics) hcl.Diagnostics {
	out := make(hcl.Diagnostics, 0, len(diags))
	for _, d := range diags {
		own := *d
		own.Subject, own.Context, own.Expression, own.EvalContext = nil, nil, nil, nil
		out = append(out, &own)
	}
	return out
}

// located is a toolchain that is on this machine.
type located struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Path    string `json:"path"`
	Digest  string `json:"digest,omitempty"` // of its tree in the store; "" for one that is used where it is installed

	root digest.Digest
}

// installedAt returns the root of a copy that is used where it is, "" for an instance that has a tree in the store.
func installedAt(n *plan.Instance) string {
	for _, part := range n.Outputs["dir"].Parts {
		if part.Host != nil && filepath.IsAbs(part.Host.Path) {
			return part.Host.Path
		}
	}
	return ""
}

// toolchainInstances are the toolchains of a plan.
func toolchainInstances(p *plan.Plan) []*plan.Instance {
	var out []*plan.Instance
	for _, n := range p.Instances {
		if n.At.Kind == addrs.Toolchain {
			out = append(out, n)
		}
	}
	return out
}

// fetch fetches and verifies the plan's toolchains, unless they are there, and says where they are. show tells
// whether the build is shown also when nobody looks.
func (a *app) fetch(ctx context.Context, p *planned, workspace string, show bool) ([]located, error) {
	if err := a.fetchable(p); err != nil {
		return nil, err
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	return a.fetchWith(ctx, e, p, workspace, show)
}

// fetchable says what this machine lacks to get the plan's toolchains.
func (a *app) fetchable(p *planned) error {
	for _, n := range toolchainInstances(p.Plan) {
		for _, m := range n.Missing {
			fmt.Fprintf(a.Env.Stderr, "missing: %s: %s\n", n.At, m)
		}
		if len(n.Missing) > 0 {
			return usageError("this machine can't get it yet (profile %q)", p.Profile)
		}
	}
	return nil
}

// fetchWith is fetch of what is fetchable, with an engine that is there already.
func (a *app) fetchWith(ctx context.Context, e *engineParts, p *planned, workspace string,
	show bool) ([]located, error) {
	instances := toolchainInstances(p.Plan)
	var steps []addrs.Step
	for _, n := range instances {
		steps = append(steps, n.At.Step)
	}
	p, err := p.Select(steps...)
	if err != nil {
		return nil, engineError(err)
	}
	res, err := a.buildRoots(ctx, e, p, workspace, rootsOf(instances), show)
	if err != nil {
		return nil, err
	}
	return a.locations(instances,
		res, func(root digest.Digest) (string, error) { return e.Trees.Path(ctx, e.Blobs, root) })
}

// locate says where the plan's toolchains are, without fetching anything. ok is false when not all of them are here.
func (a *app) locate(ctx context.Context, p *planned, workspace string) (_ []located, ok bool, err error) {
	o, _, err := a.lookupOnly(ctx, workspace)
	if err != nil {
		return nil, false, err
	}
	instances := toolchainInstances(p.Plan)
	o.Sink, o.Roots, o.Fresh, o.State = report.Lines(io.Discard, report.Options{}), rootsOf(instances), nil, ""
	trees := merkle.NewTrees(a.Cache)
	p.extend(&o)
	res, err := engine.Run(ctx, p.Plan, o)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil || res.Failed > 0 {
		return nil, false, nil // something would have to be executed
	}
	ls, err := a.locations(instances,
		res, func(root digest.Digest) (string, error) { return trees.Path(ctx, o.Blobs, root) })
	return ls, err == nil, err
}

// rootsOf are the trees of those toolchains that are in the store.
func rootsOf(instances []*plan.Instance) (out []addrs.Output) {
	for _, n := range instances {
		if installedAt(n) == "" {
			out = append(out, n.Output("dir"))
		}
	}
	return out
}

func (a *app) locations(instances []*plan.Instance, res engine.Result,
	path func(digest.Digest) (string, error)) ([]located, error) {
	var out []located
	for _, n := range instances {
		l := located{Name: n.At.Name, Version: n.Version, Path: installedAt(n)}
		if l.Path == "" {
			var err error
			l.root = res.Roots[n.Output("dir")]
			l.Digest = l.root.String()
			if l.Path, err = path(l.root); err != nil {
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
	Names  []string `arg:"" help:"Toolchains of the catalogue, NAME or NAME@VERSION."`
	Source string   `placeholder:"KIND" help:"Only from this source: archive, deb, git, embedded, installed … Default: as the profile says."`
}

// Run fetches.
func (c *toolchainFetchCmd) Run(ctx context.Context, a *app) error {
	var all []located
	for _, ws := range rounds(wantedOf(c.Names, c.Source), wantedName) {
		p, err := a.toolchainPlan(ws)
		if err != nil {
			return err
		}
		ls, err := a.fetch(ctx, p, a.here(), true)
		if err != nil {
			return err
		}
		all = append(all, ls...)
	}
	if a.JSON {
		return a.printJSON(all)
	}
	for _, l := range all {
		fmt.Fprintf(a.Env.Stdout, "%s %s: %s\n", l.Name, l.Version, l.Path)
	}
	return nil
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

// rounds splits what was asked for so that each name is in a round once: a pipeline has one release of a toolchain.
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
	Name   string `arg:"" help:"A toolchain of the catalogue, NAME or NAME@VERSION."`
	Source string `placeholder:"KIND" help:"Only from this source. Default: as the profile says."`
}

// Run prints the folder and nothing else.
func (c *toolchainPathCmd) Run(ctx context.Context, a *app) error {
	l, err := a.find(ctx, c.Name, c.Source)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(l)
	}
	isData(a.Env.Stdout)
	fmt.Fprintln(a.Env.Stdout, l.Path)
	return nil
}

// find locates one release; the error, with exit code 2, says how to get it.
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
		return located{}, usageError("%s %s is not on this machine: %s", w.name, n.Version,
			strings.Join(n.Missing, " "))
	}
	ls, ok, err := a.locate(ctx, p, a.here())
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
		return located{}, usageError("%s %s is not in the store: run `%s`", w.name, n.Version, action.Quote(cmd))
	}
	return ls[0], nil
}

// toolchainListCmd is `hexmage toolchain list [NAME…]`.
type toolchainListCmd struct {
	Names []string `arg:"" optional:"" help:"Only these toolchains."`
}

// toolchainState is how a release can be had on this machine.
type toolchainState string

const (
	inStore    toolchainState = "in the store"
	isHere     toolchainState = "installed"  // a copy of the user's own, or programs of the machine
	toFetch    toolchainState = "to fetch"   // its digest is known
	toLock     toolchainState = "to lock"    // its digest is not known yet
	byHand     toolchainState = "by hand"    // by people, or by a client of Qualcomm's that is not here
	notPlanned toolchainState = "impossible" // here: its plan fails
)

// toolchainRow is one release of the list.
type toolchainRow struct {
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	Default   bool           `json:"default,omitempty"`
	State     toolchainState `json:"state"`
	Profile   string         `json:"profile"` // in which it is so
	Source    string         `json:"source,omitempty"`
	Installed string         `json:"installed,omitempty"` // root of a copy on this machine
	Programs  []string       `json:"programs,omitempty"`  // of this machine, for a toolchain that is made of some
	Sources   []string       `json:"sources"`
	Arches    []string       `json:"arches,omitempty"`
	Size      int64          `json:"size,omitempty"` // of the download, in bytes
	Detail    string         `json:"detail,omitempty"`
}

// Run lists.
func (c *toolchainListCmd) Run(ctx context.Context, a *app) error {
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	var ts []*toolchains.Toolchain
	for _, name := range c.Names {
		t, _, err := d.catalogue().Find(parseWanted(name).name, "")
		if err != nil {
			return &exitError{Code: ExitUsage, Err: err}
		}
		ts = append(ts, t)
	}
	if len(ts) == 0 {
		ts = d.catalogue().Toolchains
	}
	rows, err := a.toolchainRows(ctx, d, ts)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(rows)
	}
	a.printRows(ts, rows)
	return nil
}

func (a *app) printRows(ts []*toolchains.Toolchain, rows []*toolchainRow) {
	w := a.Env.Stdout
	for i, t := range ts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s\n", a.painted("1", t.Name), t.Description)
		for _, r := range rows {
			if r.Name != t.Name {
				continue
			}
			mark := " "
			if r.Default {
				mark = "*"
			}
			fmt.Fprintf(w, "  %s %-16s %s  %s\n", mark, r.Version, a.stateText(r.State), r.text())
		}
	}
	fmt.Fprintln(w, "\n* what a pipeline gets that names no version. `hexmage show toolchain NAME` tells more.")
}

func (a *app) stateText(s toolchainState) string {
	colour := map[toolchainState]string{inStore: "32", isHere: "32", toLock: "33", byHand: "33", notPlanned: "31"}[s]
	text := fmt.Sprintf("%-12s", s)
	if colour == "" {
		return text
	}
	return a.painted(colour, text)
}

// text says where the release comes from.
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

// toolchainRows finds out the state of all releases of the toolchains. It fetches nothing.
func (a *app) toolchainRows(ctx context.Context, d *domain, ts []*toolchains.Toolchain) ([]*toolchainRow, error) {
	var rows []*toolchainRow
	ask := map[string][]*toolchainRow{} // by profile: what may be in the store
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

// toolchainRow settles how a release would be had: as the chosen profile says, and where that has no way, as the
// profile for real SDKs does.
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
		q := toolchains.Request{Name: t.Name, Version: r.Version, Profile: profile, Lock: d.lock, Machine: d.machine}
		ch, err := d.catalogue().Choose(q)
		row.Profile, row.State = profile, toFetch
		if err != nil && !errors.Is(err, toolchains.ErrNotAvailable) {
			q.Locking = true
			row.State, row.Detail = toLock, err.Error()
			ch, err = d.catalogue().Choose(q)
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
			Lock: d.lock, Machine: d.machine}
		if ch, err := d.catalogue().Choose(q); err == nil {
			row.Installed, row.Programs = ch.Host, programsOf(ch)
			if row.State == byHand || row.State == toLock {
				row.State, row.Source = isHere, "installed"
			}
		}
	}
	return row
}

// programsOf are the programs of the machine of which a toolchain is made.
func programsOf(ch *toolchains.Choice) (out []string) {
	for _, p := range ch.Spec.Programs {
		out = append(out, p.Target)
	}
	return out
}

// askStore finds out which of the releases are in the store.
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

// inStore plans the toolchains, each name once, and returns those of the plan's instances that are in the store.
func (a *app) inStore(ctx context.Context, ws []wanted) (here []*plan.Instance, _ hcl.Diagnostics, _ error) {
	p, diags, err := a.planToolchains(ws)
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	o, _, err := a.lookupOnly(ctx, a.here())
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

// stored tells whether all actions of the instance have results.
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

// toolchainShown is what there is to know of a release of a toolchain.
type toolchainShown struct {
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	Default      string         `json:"default"` // release
	DownloadPage string         `json:"download_page,omitempty"`
	Licence      string         `json:"licence,omitempty"`
	Note         string         `json:"note,omitempty"`
	Variables    []string       `json:"variables,omitempty"` // that `hexmage env` sets
	PushSets     []pushSetShown `json:"push_sets,omitempty"`
	Release      *toolchainRow  `json:"release"`
	Sources      []sourceShown  `json:"sources,omitempty"`
}

// pushSetShown is a push set; {arch} in it is the number of an arch.
type pushSetShown struct {
	Name   string            `json:"name"`
	Arches []string          `json:"arches,omitempty"` // of the release, where there is a set for each
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
	d, err := a.domain(a.here())
	if err != nil {
		return err
	}
	w := parseWanted(name)
	t, r, err := d.catalogue().Find(w.name, w.version)
	if err != nil {
		return &exitError{Code: ExitUsage, Err: err}
	}
	only := *t
	only.Releases = []*toolchains.Release{r}
	rows, err := a.toolchainRows(ctx, d, []*toolchains.Toolchain{&only})
	if err != nil {
		return err
	}
	s := toolchainShown{Name: t.Name, Description: t.Description, Default: t.Default, DownloadPage: t.DownloadPage,
		Licence: t.Licence, Note: r.Note, Release: rows[0], Sources: sourcesOf(d, t, r)}
	for _, v := range t.EnvVars {
		s.Variables = append(s.Variables, v.Name)
	}
	for _, p := range t.Pushes {
		shown := pushSetShown{Name: p.Name, Files: p.Files}
		if p.PerArch() {
			shown.Arches = d.catalogue().PushArches(t, r)
		}
		s.PushSets = append(s.PushSets, shown)
	}
	return a.showRecord(s)
}

// sourcesOf says of each source of a release what it is, and by which digest what comes is known.
func sourcesOf(d *domain, t *toolchains.Toolchain, r *toolchains.Release) (out []sourceShown) {
	for _, s := range r.Sources {
		q := toolchains.Request{Name: t.Name, Version: r.Version, Source: s.Kind, Profile: "device", Lock: d.lock,
			Machine: d.machine, Locking: true}
		shown := sourceShown{Kind: s.Kind, Locked: d.lock.Find(t.Name, r.Version, s.Kind) != nil}
		ch, err := d.catalogue().Choose(q)
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
			shown.Detail = "the simulation, part of hexmage"
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
