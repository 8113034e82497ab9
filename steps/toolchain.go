package steps

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/python"
	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

const (
	treeDir      = "tree"
	verifiedFile = "verified.json"
	fetchTimeout = 4 * time.Hour // for several gigabytes over a slow line
)

// Toolchain holds the arguments of toolchain blocks.
type Toolchain struct {
	Version     string   `arg:"version"`
	Source      string   `arg:"source"`
	Path        string   `arg:"path"`
	URLs        []string `arg:"urls"`
	SHA256      string   `arg:"sha256"`
	Size        int64    `arg:"size"`
	StripPrefix string   `arg:"strip_prefix"`
	Only        []string `arg:"only,nonull"`

	Python       string   `arg:"python"`
	Requirements []string `arg:"requirements,nonull"`
	Overrides    []string `arg:"overrides,nonull"`
	ExcludeNewer string   `arg:"exclude_newer"`
	Index        string   `arg:"index"`
}

func toolchainSchema() step.Schema {
	return step.Schema{
		Summary: "Downloads or finds a release of an SDK or tool in the catalog, and verifies it. It appears at " +
			"toolchains/<name>.",
		ArgDocs: map[string]string{
			"version": "Release in the catalog. Default: the catalog's default.",
			"source": "Only source to use: \"archive\", \"deb\", \"embedded\", \"installed\", \"maven\", " +
				"\"pypi\", \"qpm\" or \"qsc\". Default: the profile's order. Profile \"simulated\" uses the simulation.",
			"path":         "Root of an installed copy to use. It must be the requested release.",
			"urls":         "Addresses of the archive, in place of the catalog's: https, http or file.",
			"sha256":       "Digest of the archive at urls.",
			"size":         "Size of the archive at urls, in bytes.",
			"strip_prefix": "Folder of the archive at urls that is the SDK's root.",
			"only": "Patterns of the files to use: [\"sdk.yaml\", \"include/**\"]. Default: all. An " +
				"installed copy is used whole. After `hexmage lock --whole`, hexmage downloads only these files of a " +
				"zip.",
			"python": "Release of toolchain python, such as \"3.11\". Makes the toolchain a Python " +
				"environment, whatever its name.",
			"requirements": "With python: packages in pip's syntax: [\"numpy==2.4.6\"], or the lines of a file: " +
				"split(\"\\n\", file(\"requirements.txt\")). `hexmage lock` resolves them and their dependencies.",
			"overrides": "With python: requirements that replace those in package metadata.",
			"exclude_newer": "With python: date such as \"2026-11-20\". hexmage ignores files that were uploaded on " +
				"that day or later.",
			"index": "With python: package index to use. Default: the indexes in the machine's own " +
				"configuration.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The toolchain's root."}},
		Example: `toolchain "qairt" { version = "2.41.0.251128" }`,
	}
}

// Plan chooses a source for the release and plans the download.
func (t Toolchain) Plan(p *step.Plan, w Workspace) {
	if w.Asked != nil {
		t.ask(p, w)
		return
	}
	var reads step.Reads
	q := t.request(p, w)
	q.Machine = w.Machine.Recording(&reads.Paths, &reads.Env)
	cat := w.Catalog().For(q)
	ch, missing, err := choose(cat, q)
	p.Read(reads)
	var attrs map[string]cty.Value
	if err == nil {
		attrs = toolchainAttrs(ch)
		pushSets(attrs, cat, ch.Toolchain, ch.Release)
	}
	w.askToolchain(p, t.Version, attrs)
	if err != nil {
		summary := "Toolchain not available"
		if _, _, unknown := cat.Find(q.Name, q.Version); unknown != nil {
			summary = unknownSummary(cat, q.Name)
		}
		p.Fail("version", summary, "%s", said(q.Name, err))
		return
	}
	passedOver(p, ch)
	if err := take(p, ch); err != nil {
		p.Fail("", "Toolchain", "%s.", err)
	}
	p.Attrs(attrs)
	p.Missing(missing...)
	if w := ch.Spec.Wheel; w != nil && strings.Contains(w.Tags, "x86_64") && p.CPULevel != "" && !strings.HasPrefix(p.CPULevel, "x86-64") {
		p.Missing(fmt.Sprintf("%s runs only on x86-64 Linux, but this machine is %s; use an x86-64 machine or "+
			"container, or --profile simulated", ch.Toolchain.Description, p.CPULevel))
	}
}

// unknownSummary returns the title of the error for a toolchain that the catalog does not have.
func unknownSummary(cat *toolchains.Catalog, name string) string {
	if _, _, err := cat.Find(name, ""); err == nil {
		return "Unknown release"
	}
	return "Unknown toolchain"
}

// ask passes on the block's request to the catalog. A block with its own source makes no request.
func (t Toolchain) ask(p *step.Plan, w Workspace) {
	q := t.request(p, w)
	cat := w.Catalog().For(q)
	sdk, r, err := cat.Find(q.Name, q.Version)
	if err != nil {
		p.Fail("", unknownSummary(cat, q.Name), "%s.", err)
		return
	}
	if q.Own == nil || t.Python != "" { // other sources need no pin
		w.Asked(q)
	}
	attrs := toolchainAttrs(&toolchains.Choice{Toolchain: sdk, Release: r, Source: &toolchains.Source{}})
	pushSets(attrs, cat, sdk, r)
	w.askToolchain(p, t.Version, attrs)
	p.Tree("dir")
	p.Attrs(attrs)
}

// choose selects the source of the release. A real release that is not pinned, or not on this machine, is not an error
// in the pipeline. The plan then shows the download and the missing parts.
func choose(cat *toolchains.Catalog, q toolchains.Request) (*toolchains.Choice, []string, error) {
	ch, err := cat.Choose(q)
	if err == nil || q.Profile == toolchains.ProfileSimulated || q.Profile == "" {
		return ch, nil, err
	}
	q.Locking = true
	ch, lockErr := cat.Choose(q)
	if errors.Is(lockErr, toolchains.ErrNotAvailable) && q.Source == "" && q.Own == nil {
		ch, lockErr = cat.Absent(q)
	}
	if lockErr != nil {
		return nil, nil, err
	}
	return ch, []string{said(q.Name, err)}, nil
}

// said returns an error as a sentence. If it begins with the toolchain's name, the name keeps its case.
func said(name string, err error) string {
	if text := err.Error(); strings.HasPrefix(text, name+" ") {
		return strings.TrimSuffix(text, ".") + "."
	}
	return qnn.Sentence(err.Error())
}

// request returns the block's request to the catalog.
func (t Toolchain) request(p *step.Plan, w Workspace) toolchains.Request {
	q := toolchains.Request{Name: p.At.Name, Version: t.Version, Source: t.Source, Profile: p.Profile, Lock: w.Lock,
		Machine: w.Machine, Only: t.Only}
	switch {
	case t.Python != "":
		q.Version = cmp.Or(t.Version, t.Python)
		q.Own = &toolchains.Source{Kind: "python", Python: t.Python, Requirements: t.Requirements,
			Overrides: t.Overrides, ExcludeNewer: t.ExcludeNewer, Index: t.Index}
	case len(t.URLs) > 0:
		q.Lock = nil
		q.Own = &toolchains.Source{Kind: "archive", URLs: t.URLs, SHA256: t.SHA256, StripPrefix: t.StripPrefix,
			Size: t.Size}
	case t.Path != "":
		path := t.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.Dir, path)
		}
		q.Own = &toolchains.Source{Kind: "installed", Paths: []string{path}, Named: true}
	}
	return q
}

// environment plans a Python environment: its interpreter, and its packages, which uv installs without the network.
func environment(p *step.Plan, ch *toolchains.Choice) error {
	e := ch.Packages
	interpreter, err := get(p, "python", e.Interpreter)
	if err != nil {
		return err
	}
	uv, err := get(p, "uv", e.UV)
	if err != nil {
		return err
	}
	spec := python.Spec{Python: "toolchains/python/bin/python3", UV: "toolchains/uv/bin/uv", Wheels: "wheels", Out: treeDir}
	var wheels []action.Input
	for _, w := range e.Wheels {
		from := toolchains.WheelSpec(w, e.Asked.Index)
		from.Out = w.File
		a := fetch(p, "wheel/"+w.Project, "fetch "+from.Name, from)
		online(a, "fetch")
		wheels = append(wheels, a.Out(w.File).As("wheels/"+w.File))
		spec.Files = append(spec.Files, w)
	}
	if len(e.Wheels) == 0 { // not locked: digests are missing
		for _, r := range e.Asked.Requirements {
			spec.Files = append(spec.Files, pypi.Wheel{Project: r})
		}
	}
	shared := func(in action.Input, name string) action.Input {
		in = in.As("toolchains/" + name)
		in.Shared = true
		return in
	}
	install := step.Tool(p, "", fmt.Sprintf("install %d packages for Python "+
		"%s", len(e.Wheels), e.Asked.Python), python.Tool, spec)
	install.In(shared(interpreter, "python"), shared(uv, "uv")).In(wheels...)
	install.Timeout = fetchTimeout
	p.Tree("dir", install.OutTree(treeDir))
	return nil
}

// take plans the actions that get the chosen release.
func take(p *step.Plan, ch *toolchains.Choice) error {
	if ch.Packages != nil {
		return environment(p, ch)
	}
	spec := ch.Spec
	spec.Out = treeDir
	if ch.Source.Kind == "installed" && ch.Host != "" {
		// The copy stays in place. The toolchain's tree is the copy with its verification report.
		spec.File, spec.Out = "sdk", verifiedFile
		verify := fetch(p, "", "verify "+spec.Name+" at "+ch.Host, spec)
		copied := action.Input{Host: &action.HostPath{Path: ch.Host}}
		sdk := copied.As(spec.File)
		sdk.Shared = true
		verify.In(sdk)
		p.Tree("dir", copied, verify.Out(verifiedFile).As(".hexmage/"+verifiedFile))
		return nil
	}
	tree, err := get(p, "", ch)
	if err == nil {
		p.Tree("dir", tree)
	}
	return err
}

// get plans the action that writes the tree of a choice.
func get(p *step.Plan, name string, ch *toolchains.Choice) (action.Input, error) {
	spec := ch.Spec
	spec.Out = treeDir
	a := fetch(p, name, "fetch "+spec.Name, spec)
	switch ch.Source.Kind {
	case "embedded":
		b, err := ch.Archive()
		if err != nil {
			return action.Input{}, err
		}
		a.Description = "unpack the simulated " + spec.Name
		a.In(action.Input{Path: toolchains.EmbeddedFile, Content: &action.Content{Data: b}})
	case "installed":
		a.Description = "take " + spec.Name + " of this machine"
		a.Set(action.PropertyHost, "fetch") // the action runs the installed programs
	default:
		online(a, "fetch") // apt needs the system's lists, Qualcomm's client the user's login
	}
	return a.OutTree(treeDir), nil
}

// toolchainAttrs returns the attributes of the toolchain that other steps can use at plan time.
func toolchainAttrs(ch *toolchains.Choice) map[string]cty.Value {
	str := func(s string) cty.Value {
		if s == "" {
			return cty.NullVal(cty.String)
		}
		return cty.StringVal(s)
	}
	arches := cty.ListValEmpty(cty.String)
	if len(ch.Release.Arches) > 0 {
		var vs []cty.Value
		for _, a := range ch.Release.Arches {
			vs = append(vs, cty.StringVal(a))
		}
		arches = cty.ListVal(vs)
	}
	return map[string]cty.Value{
		"version":       cty.StringVal(ch.Release.Version),
		"build_id":      str(ch.BuildID()),
		"tools_version": str(cmp.Or(ch.Found.ToolsVersion, ch.Release.ToolsVersion)),
		"arches":        arches,
		"source":        cty.StringVal(ch.Source.Kind),
		"simulated":     cty.BoolVal(ch.Source.Kind == "embedded" || ch.Found.Simulated),
	}
}

// ToolchainAttributes returns the documentation of a toolchain's attributes, including its push sets, by attribute
// name.
func ToolchainAttributes(t *toolchains.Toolchain) map[string]string {
	all := map[string]string{
		"dir":           "Path of the toolchain's tree.",
		"version":       "Chosen release.",
		"build_id":      "Whole build id; `null` if unknown.",
		"tools_version": "Version of its compilers; `null` if unknown.",
		"arches":        "Hexagon archs that its compilers support.",
		"source":        "Source of the release: `\"archive\"`, `\"installed\"`, …",
		"simulated":     "Whether hexmage's simulation replaces Qualcomm's release.",
	}
	for _, s := range t.Pushes {
		all[s.Name] = "Its files for a device, name → path, as `push` of kind `run` expects them."
		if s.PerArch() {
			all[s.Name] += " One set for each arch: `toolchain." + t.Name + "." + s.Name + "[target.arch]`."
		}
	}
	return all
}

// SimulatedSDK is the title of the warning about a simulated toolchain that the pipeline did not request.
const SimulatedSDK = "Simulated SDK"

// passedOver reports the sources that were tried before the chosen one.
func passedOver(p *step.Plan, ch *toolchains.Choice) {
	warn := func(summary, text string) {
		p.Report(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: qnn.Sentence(text), Subject: p.ArgRange("version")})
	}
	if p.Profile == "" && ch.Source.Kind == "embedded" {
		warn(SimulatedSDK, ch.Spec.Name+": hexmage's simulation replaces Qualcomm's SDK, because the pipeline has no "+
			"profile. Its results do not run on a phone. Write profile \"simulated\" { default = true } to keep it, or a "+
			"profile such as \"device\" to use Qualcomm's")
	}
	if ch.OnTrust {
		warn("Unverified parts", ch.Spec.Name+": hexmage has not compared the downloaded parts with the whole zip. "+
			"To compare them, run `hexmage lock --whole`")
	}
	for _, n := range ch.Notes {
		warn("Other source skipped",
			ch.Spec.Name+": from source "+strconv.Quote(ch.Source.Kind)+"; hexmage skipped another source: "+n)
	}
}

// pushSets adds the toolchain's push sets to its attributes: objects of name on the device → path, per arch if the sets
// differ.
func pushSets(attrs map[string]cty.Value, c *toolchains.Catalog, t *toolchains.Toolchain, r *toolchains.Release) {
	for _, s := range t.Pushes {
		set := func(arch string) cty.Value {
			files := map[string]cty.Value{}
			for name, from := range s.For(arch) {
				files[name] = cty.StringVal(from).Mark(step.TreePath("dir"))
			}
			return cty.ObjectVal(files)
		}
		if !s.PerArch() {
			attrs[s.Name] = set("")
			continue
		}
		byArch := map[string]cty.Value{}
		for _, a := range c.PushArches(t, r) {
			byArch[a] = set(a)
		}
		attrs[s.Name] = cty.ObjectVal(byArch)
	}
}
