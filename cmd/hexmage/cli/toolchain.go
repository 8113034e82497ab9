package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/toolchains"
)

// toolchainCmd is `hexmage toolchain …`.
type toolchainCmd struct {
	List   toolchainListCmd   `cmd:"" help:"List the releases of the catalogue: where each comes from, which are here."`
	Show   toolchainShowCmd   `cmd:"" help:"Tell everything about a toolchain or one of its releases."`
	Fetch  toolchainFetchCmd  `cmd:"" help:"Download, verify and unpack releases into the store, as a pipeline would."`
	Verify toolchainVerifyCmd `cmd:"" help:"Check a release in the store, or any folder, against what the catalogue says of it."`
	Where  toolchainWhereCmd  `cmd:"" help:"Print the folder of a release, for scripts. Exit code 2 when it is not on this machine."`
	Env    toolchainEnvCmd    `cmd:"" help:"Print what the SDKs' own environment scripts would set, for a shell."`
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

func (w wanted) String() string {
	if w.version == "" {
		return w.name
	}
	return w.name + "@" + w.version
}

// here is the workspace whose catalogue and lock count when no pipeline is named.
func (a *app) here() string {
	if a.root != "" {
		return a.root
	}
	return a.dir
}

// toolchainPlan plans a pipeline that has these toolchains and nothing else. Its actions are those of any pipeline with the
// same blocks, so that what one fetched the other finds. Each name may be there once.
func (a *app) toolchainPlan(ws []wanted) (*plan.Plan, error) {
	p, diags, err := a.planToolchains(ws)
	if err != nil {
		return nil, err
	}
	a.printDiags(plain(diags), nil)
	if diags.HasErrors() {
		return nil, &exitError{code: ExitUsage}
	}
	return p, nil
}

func (a *app) planToolchains(ws []wanted) (*plan.Plan, hcl.Diagnostics, error) {
	f := hclwrite.NewEmptyFile()
	open := f.Body().AppendNewBlock("profile", []string{toolchains.ProfileOpen}).Body()
	open.SetAttributeValue("default", cty.True)
	if a.Profile != "" && a.Profile != toolchains.ProfileOpen {
		f.Body().AppendNewBlock("profile", []string{a.Profile})
	}
	for _, w := range ws {
		if !hclsyntax.ValidIdentifier(w.name) {
			return nil, nil, usage("%q is no name of a toolchain: `hexmage toolchain list` has them; a release is NAME@VERSION", w.name)
		}
		b := f.Body().AppendNewBlock(addrs.Toolchain, []string{w.name}).Body()
		if w.version != "" {
			b.SetAttributeValue("version", cty.StringVal(w.version))
		}
		if w.source != "" {
			b.SetAttributeValue("use", cty.StringVal(w.source))
		}
		out := f.Body().AppendNewBlock("output", []string{w.name}).Body() // what nobody uses is not planned
		out.SetAttributeTraversal("value", hcl.Traversal{hcl.TraverseRoot{Name: addrs.Toolchain}, hcl.TraverseAttr{Name: w.name}, hcl.TraverseAttr{Name: "dir"}})
	}
	return a.planText("toolchain", f.Bytes())
}

// planText plans a pipeline that no file has.
func (a *app) planText(name string, text []byte) (*plan.Plan, hcl.Diagnostics, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf) // a file system in memory
	out, err := z.Create(config.Folder + "/" + name + ".hcl")
	if err == nil {
		_, err = out.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, nil, engine(err)
	}
	fsys, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		return nil, nil, engine(err)
	}
	cfg, diags := config.Load(fsys, name)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	p, more, err := a.planConfig(a.here(), cfg)
	if p != nil {
		for _, n := range p.Instances { // failures are shown without the place in a file that nobody has written
			n.Where, n.Source = "", nil
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

// fetch fetches and verifies the plan's toolchains, unless they are there, and says where they are. show tells whether the
// build is shown also when nobody looks.
func (a *app) fetch(ctx context.Context, p *plan.Plan, workspace string, show bool) ([]located, error) {
	nodes := toolchainInstances(p)
	var steps []addrs.Step
	for _, n := range nodes {
		steps = append(steps, n.At.Step)
		for _, m := range n.Missing {
			fmt.Fprintf(a.env.Stderr, "missing: %s: %s\n", n.At, m)
		}
		if len(n.Missing) > 0 {
			return nil, usage("this machine can't get it yet (profile %q)", p.Profile)
		}
	}
	p, err := p.Select(steps...)
	if err != nil {
		return nil, engine(err)
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	o := e.options(a)
	var sink event.Sink = report.Lines(io.Discard, report.Options{})
	done := func() {}
	if a.live || show && !a.JSON {
		sink, done = a.display(nil)
	}
	failures := &failureSink{next: sink}
	o.Sink, o.Workspace, o.Roots = a.diagnosed(workspace, failures), workspace, rootsOf(nodes)
	res, err := build.Run(ctx, p, o)
	done()
	if err != nil || res.Failed > 0 {
		for _, f := range failures.seen {
			if !show || a.JSON {
				fmt.Fprintf(a.env.Stderr, "hexmage: %s: %s\n%s\n", f.step, f.Summary, f.Output)
				for _, h := range f.Hints {
					fmt.Fprintf(a.env.Stderr, "hint: %s\n", h)
				}
			}
		}
		return nil, outcome(ctx, res, err)
	}
	return a.locations(nodes, res, func(root digest.Digest) (string, error) { return e.trees.Path(ctx, e.blobs, root) })
}

// locate says where the plan's toolchains are, without fetching anything. ok is false when not all of them are here.
func (a *app) locate(ctx context.Context, p *plan.Plan, workspace string) (_ []located, ok bool, err error) {
	if err := a.settle(ctx); err != nil {
		return nil, false, err
	}
	o, err := a.onlyLook(workspace)
	if err != nil {
		return nil, false, err
	}
	nodes := toolchainInstances(p)
	o.Sink, o.Roots, o.Fresh, o.State = report.Lines(io.Discard, report.Options{}), rootsOf(nodes), nil, ""
	trees := merkle.NewTrees(a.cache)
	res, err := build.Run(ctx, p, o)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil || res.Failed > 0 {
		return nil, false, nil // something would have to be executed
	}
	ls, err := a.locations(nodes, res, func(root digest.Digest) (string, error) { return trees.Path(ctx, o.Blobs, root) })
	return ls, err == nil, err
}

// rootsOf are the trees of those toolchains that are in the store.
func rootsOf(nodes []*plan.Instance) (out []addrs.Output) {
	for _, n := range nodes {
		if installedAt(n) == "" {
			out = append(out, n.Output("dir"))
		}
	}
	return out
}

func (a *app) locations(nodes []*plan.Instance, res build.Result, path func(digest.Digest) (string, error)) ([]located, error) {
	var out []located
	for _, n := range nodes {
		l := located{Name: n.At.Name, Version: n.Version, Path: installedAt(n)}
		if l.Path == "" {
			var err error
			l.root = res.Roots[n.Output("dir")]
			l.Digest = l.root.String()
			if l.Path, err = path(l.root); err != nil {
				return nil, engine(err)
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
	for _, ws := range rounds(c.Names, c.Source) {
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
		fmt.Fprintf(a.env.Stdout, "%s %s: %s\n", l.Name, l.Version, l.Path)
	}
	return nil
}

// rounds splits what was asked for so that each name is in a round once: a pipeline has one release of a toolchain.
func rounds(names []string, source string) (out [][]wanted) {
next:
	for _, s := range names {
		w := parseWanted(s)
		w.source = source
		for i, r := range out {
			if !slices.ContainsFunc(r, func(have wanted) bool { return have.name == w.name }) {
				out[i] = append(r, w)
				continue next
			}
		}
		out = append(out, []wanted{w})
	}
	return out
}

// toolchainWhereCmd is `hexmage toolchain where NAME[@VERSION]`.
type toolchainWhereCmd struct {
	Name   string `arg:"" help:"A toolchain of the catalogue, NAME or NAME@VERSION."`
	Source string `placeholder:"KIND" help:"Only from this source. Default: as the profile says."`
}

// Run prints the folder and nothing else.
func (c *toolchainWhereCmd) Run(ctx context.Context, a *app) error {
	l, _, err := a.find(ctx, c.Name, c.Source)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.printJSON(l)
	}
	fmt.Fprintln(a.env.Stdout, l.Path)
	return nil
}

// find locates one release; the error, with exit code 2, says how to get it.
func (a *app) find(ctx context.Context, name, source string) (located, *plan.Instance, error) {
	w := parseWanted(name)
	w.source = source
	p, err := a.toolchainPlan([]wanted{w})
	if err != nil {
		return located{}, nil, err
	}
	n := toolchainInstances(p)[0]
	if at := installedAt(n); at != "" {
		return located{Name: w.name, Version: n.Version, Path: at}, n, nil
	}
	if len(n.Missing) > 0 {
		return located{}, nil, usage("%s %s is not on this machine: %s", w.name, n.Version, strings.Join(n.Missing, " "))
	}
	ls, ok, err := a.locate(ctx, p, a.here())
	if err != nil {
		return located{}, nil, err
	}
	if !ok {
		cmd := []string{"hexmage", "toolchain", "fetch", w.name + "@" + n.Version}
		if a.Profile != "" {
			cmd = append(cmd, "--profile", a.Profile)
		}
		if source != "" {
			cmd = append(cmd, "--source", source)
		}
		return located{}, nil, usage("%s %s is not in the store: run `%s`", w.name, n.Version, action.Quote(cmd))
	}
	return ls[0], n, nil
}
