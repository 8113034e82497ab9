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
	fetchTimeout = 4 * time.Hour // some gigabytes over a slow line
)

// Toolchain are the arguments of toolchain blocks.
type Toolchain struct {
	Version     string   `arg:"version"`
	Source      string   `arg:"source"`
	Path        string   `arg:"path"`
	URLs        []string `arg:"urls"`
	SHA256      string   `arg:"sha256"`
	Size        int64    `arg:"size"`
	StripPrefix string   `arg:"strip_prefix"`

	Python       string   `arg:"python"`
	Requirements []string `arg:"requirements,nonull"`
	Overrides    []string `arg:"overrides,nonull"`
	ExcludeNewer string   `arg:"exclude_newer"`
	Index        string   `arg:"index"`
}

func toolchainSchema() step.Schema {
	return step.Schema{
		Summary: "Takes a release of an SDK or tool of the catalogue, verified; it appears at toolchains/<name>.",
		ArgDocs: map[string]string{
			"version":       "A release of the catalogue. The default is the catalogue's.",
			"source":        "Only this source: \"archive\", \"deb\", \"embedded\", \"installed\", \"maven\", \"pypi\", \"qpm\" or \"qsc\". The default is the profile's: \"simulated\" takes the simulation.",
			"path":          "Root of an installed copy to use; it must be the release that is asked for.",
			"urls":          "Addresses to take the archive from instead of the catalogue's: https, http or file.",
			"sha256":        "Digest of the archive at urls.",
			"size":          "Size of the archive at urls, in bytes.",
			"strip_prefix":  "Folder of the archive at urls that is the SDK's root.",
			"python":        "Makes it an environment of Python's, whatever its name: the release of toolchain python that it stands on, such as \"3.11\".",
			"requirements":  "With python: the packages, as pip has them: [\"numpy==2.4.6\"], or the lines of a file: split(\"\\n\", file(\"requirements.txt\")). `hexmage lock` chooses them and all that they need.",
			"overrides":     "With python: requirements in place of what packages say of others.",
			"exclude_newer": "With python: a day such as \"2026-11-20\"; what was uploaded on it or later is not there.",
			"index":         "With python: a package index to ask, rather than those that the machine's own configuration names.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The toolchain's root."}},
		Example: `toolchain "qairt" { version = "2.41.0.251128" }`,
	}
}

// Plan settles where the release comes from and plans its fetching.
func (t Toolchain) Plan(p *step.Plan, w Workspace) {
	if w.Asked != nil {
		t.ask(p, w)
		return
	}
	var reads step.Reads
	q := t.request(p, w)
	q.Machine = w.Machine.Recording(&reads.Paths, &reads.Env)
	cat := w.Catalogue().For(q)
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
		p.Missing(fmt.Sprintf("%s runs on x86-64 Linux only, and this machine is %s: use an x86-64 machine or container, "+
			"or another profile, such as --profile simulated", ch.Toolchain.Description, p.CPULevel))
	}
}

// unknownSummary says what it is of a toolchain that the catalogue does not have.
func unknownSummary(cat *toolchains.Catalogue, name string) string {
	if _, _, err := cat.Find(name, ""); err == nil {
		return "Unknown release"
	}
	return "Unknown toolchain"
}

// ask tells what the block asks of the catalogue; of what it says itself there is nothing to ask.
func (t Toolchain) ask(p *step.Plan, w Workspace) {
	q := t.request(p, w)
	cat := w.Catalogue().For(q)
	sdk, r, err := cat.Find(q.Name, q.Version)
	if err != nil {
		p.Fail("", unknownSummary(cat, q.Name), "%s.", err)
		return
	}
	if q.Own == nil || t.Python != "" { // else there is nothing to pin
		w.Asked(q)
	}
	attrs := toolchainAttrs(&toolchains.Choice{Toolchain: sdk, Release: r, Source: &toolchains.Source{}})
	pushSets(attrs, cat, sdk, r)
	w.askToolchain(p, t.Version, attrs)
	p.Tree("dir")
	p.Attrs(attrs)
}

// choose settles where the release comes from. A real release that nobody has pinned yet, or that is not on this machine,
// is no mistake in the pipeline: the plan shows what would be fetched, and what is missing for it.
func choose(cat *toolchains.Catalogue, q toolchains.Request) (*toolchains.Choice, []string, error) {
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

// said is an error as a sentence; one that begins with the toolchain's name keeps that as it is written.
func said(name string, err error) string {
	if text := err.Error(); strings.HasPrefix(text, name+" ") {
		return strings.TrimSuffix(text, ".") + "."
	}
	return qnn.Sentence(err.Error())
}

// request is what the block asks of the catalogue.
func (t Toolchain) request(p *step.Plan, w Workspace) toolchains.Request {
	q := toolchains.Request{Name: p.At.Name, Version: t.Version, Source: t.Source, Profile: p.Profile, Lock: w.Lock,
		Machine: w.Machine}
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

// environment plans an environment of Python's: its interpreter, and its packages, which uv installs without network.
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
	if len(e.Wheels) == 0 { // not locked: each lacks its digest
		for _, r := range e.Asked.Requirements {
			spec.Files = append(spec.Files, pypi.Wheel{Project: r})
		}
	}
	shared := func(in action.Input, name string) action.Input {
		in = in.As("toolchains/" + name)
		in.Shared = true
		return in
	}
	install := step.Tool(p, "", fmt.Sprintf("install %d packages for Python %s", len(e.Wheels), e.Asked.Python), python.Tool, spec)
	install.In(shared(interpreter, "python"), shared(uv, "uv")).In(wheels...)
	install.Timeout = fetchTimeout
	p.Tree("dir", interpreter, install.OutTree(treeDir))
	return nil
}

// take plans the getting of the choice.
func take(p *step.Plan, ch *toolchains.Choice) error {
	if ch.Packages != nil {
		return environment(p, ch)
	}
	spec := ch.Spec
	spec.Out = treeDir
	if ch.Source.Kind == "installed" && ch.Host != "" {
		// The copy is used where it is; the toolchain's tree is that copy and the report of having been verified.
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

// get plans the action that makes the tree of a choice.
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
		a.Set(action.PropertyHost, "fetch") // the programs are tried where they are
	default:
		online(a, "fetch") // apt needs the system's lists, a vendor's client the user's login
	}
	return a.OutTree(treeDir), nil
}

// toolchainAttrs is what other steps know of the toolchain at plan time.
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

// ToolchainAttributes says of each attribute of a toolchain, by name, what it is: those of toolchainAttrs, its push sets, and the path of its tree.
func ToolchainAttributes(t *toolchains.Toolchain) map[string]string {
	all := map[string]string{
		"dir":           "Path of its tree.",
		"version":       "The release that was chosen.",
		"build_id":      "Its whole build id; `null` where it is not known.",
		"tools_version": "Version of the compilers in it; `null` where it is not known.",
		"arches":        "Hexagon archs that it can build for.",
		"source":        "Where it comes from: `\"archive\"`, `\"installed\"`, …",
		"simulated":     "Whether it is hexmage's own, in place of Qualcomm's.",
	}
	for _, s := range t.Pushes {
		all[s.Name] = "Files that a device needs of it, name → path, as `push` of a step `run` takes them."
		if s.PerArch() {
			all[s.Name] += " One set for each arch: `toolchain." + t.Name + "." + s.Name + "[target.arch]`."
		}
	}
	return all
}

// SimulatedSDK is the summary of a warning that each toolchain has which is the simulation, where nobody asked for it.
const SimulatedSDK = "Simulated SDK"

// passedOver says which other sources were tried before the one that is taken.
func passedOver(p *step.Plan, ch *toolchains.Choice) {
	warn := func(summary, text string) {
		p.Report(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: qnn.Sentence(text), Subject: p.ArgRange("version")})
	}
	if p.Profile == "" && ch.Source.Kind == "embedded" {
		warn(SimulatedSDK, ch.Spec.Name+" is hexmage's own, in place of Qualcomm's, since the pipeline has no profile: what is built with it runs on no phone. "+
			"Write profile \"simulated\" { default = true } if that is meant, and a profile such as \"device\" for Qualcomm's")
	}
	for _, n := range ch.Notes {
		warn("Another source was passed over",
			ch.Spec.Name+" is taken from source "+strconv.Quote(ch.Source.Kind)+": "+n)
	}
}

// pushSets adds the toolchain's push sets to its attributes: objects of name on the device → path, by arch where there is one for each.
func pushSets(attrs map[string]cty.Value, c *toolchains.Catalogue, t *toolchains.Toolchain, r *toolchains.Release) {
	for _, s := range t.Pushes {
		set := func(arch string) cty.Value {
			files := map[string]cty.Value{}
			for name, from := range s.For(arch) {
				files[name] = cty.StringVal(from).Mark(step.InTree("dir"))
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
