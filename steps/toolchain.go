package steps

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/sources"
)

const (
	specFile     = "spec.json"
	treeDir      = "tree"
	verifiedFile = "verified.json"
	fetchTimeout = 4 * time.Hour // some gigabytes over a slow line
)

// environment is what the tools get: apt-get and its helpers are in PATH.
func environment() map[string]string {
	return map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
}

// Toolchain is the kind of toolchain blocks.
type Toolchain struct {
	Catalogue *toolchains.Catalogue
	Lock      *toolchains.Lock
	Machine   toolchains.Machine // asked for installed copies
	Workspace string             // a relative path of a block is seen from here; an absolute path
}

// Schema returns the arguments of a toolchain block.
func (Toolchain) Schema() step.Schema {
	str := func(n string) hcldec.Spec { return &hcldec.AttrSpec{Name: n, Type: cty.String} }
	return step.Schema{
		Summary: "Takes a release of an SDK or tool of the catalogue, verified; it appears at toolchains/<name>.",
		Args: hcldec.ObjectSpec{
			"version": str("version"), "use": str("use"), "path": str("path"),
			"urls":   &hcldec.AttrSpec{Name: "urls", Type: cty.List(cty.String)},
			"sha256": str("sha256"), "strip_prefix": str("strip_prefix"),
			"size": &hcldec.AttrSpec{Name: "size", Type: cty.Number},
		},
		ArgDocs: map[string]string{
			"version":      "A release of the catalogue. The default is the catalogue's.",
			"use":          "Only this source: \"archive\", \"deb\", \"embedded\", \"installed\", \"maven\", \"qpm\" or \"qsc\". The default is the profile's: \"open\" takes the open stand-in.",
			"path":         "Root of an installed copy to use; it must be the release that is asked for.",
			"urls":         "Addresses to take the archive from instead of the catalogue's: https, http or file.",
			"sha256":       "Digest of the archive at urls.",
			"size":         "Size of the archive at urls, in bytes.",
			"strip_prefix": "Folder of the archive at urls that is the SDK's root.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The toolchain's root."}},
	}
}

// Plan settles where the release comes from and plans its fetching.
func (k Toolchain) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	var reads step.Reads
	k.Machine = k.Machine.Recording(&reads.Paths, &reads.Env)
	planned, diags := k.plan(r)
	planned.Reads = reads
	return planned, diags
}

func (k Toolchain) plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	cat, q := k.override(r)
	ch, missing, err := choose(cat, q)
	if err != nil {
		summary := "Toolchain not available"
		if _, _, unknown := cat.Find(q.Name, q.Version); unknown != nil {
			summary = "Unknown toolchain"
		}
		return step.Planned{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: sentence(err.Error()), Subject: r.ArgRange("version")}}
	}
	diags := passedOver(r, ch)
	planned, err := k.planned(ch)
	if err != nil {
		return step.Planned{}, append(diags, r.Errorf("Toolchain", "%s.", err))
	}
	planned.Attrs = toolchainAttrs(ch)
	planned.Missing = missing
	return planned, diags
}

// choose settles where the release comes from. A real release that nobody has pinned yet, or that is not on this machine,
// is no mistake in the pipeline: the plan shows what would be fetched, and what is missing for it.
func choose(cat *toolchains.Catalogue, q toolchains.Request) (*toolchains.Choice, []string, error) {
	ch, err := cat.Choose(q)
	if err == nil || q.Profile == toolchains.ProfileOpen || q.Profile == "" {
		return ch, nil, err
	}
	q.Locking = true
	ch, lockErr := cat.Choose(q)
	if errors.Is(lockErr, toolchains.ErrNotAvailable) && q.Source == "" {
		ch, lockErr = cat.Absent(q)
	}
	if lockErr != nil {
		return nil, nil, err
	}
	return ch, []string{sentence(err.Error())}, nil
}

// override returns the catalogue with what the block says of the release on top, and the request.
func (k Toolchain) override(r step.Request) (*toolchains.Catalogue, toolchains.Request) {
	q := toolchains.Request{Name: r.At.Name, Version: r.String("version"), Source: r.String("use"), Profile: r.Profile, Lock: k.Lock, Machine: k.Machine}
	cat := k.Catalogue
	if path := r.String("path"); path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(k.Workspace, path)
		}
		q.Source = "installed"
		cat = cat.Learn(q.Name, q.Version, k.Machine, path).With(q.Name, q.Version, &toolchains.Source{Kind: "installed", Paths: []string{path}})
	}
	if q.Source == "installed" {
		cat = cat.Learn(q.Name, q.Version, k.Machine)
	}
	if urls := r.Strings("urls"); len(urls) > 0 {
		q.Source, q.Lock = "archive", nil
		cat = cat.With(q.Name, q.Version, &toolchains.Source{Kind: "archive", URLs: urls, SHA256: r.String("sha256"),
			StripPrefix: r.String("strip_prefix"), Size: int64(r.Int("size", 0))})
	}
	return cat, q
}

func (k Toolchain) planned(ch *toolchains.Choice) (step.Planned, error) {
	tool, platform := step.Tool(sources.Name, sources.Version)
	spec := action.Spec{Description: "fetch " + ch.Spec.Name, Env: environment(), Platform: platform, Timeout: fetchTimeout,
		Inputs: []action.Input{{Path: specFile}}}
	art := action.Artifact{Class: action.Tree}
	out := treeDir
	switch ch.Source.Kind {
	case "embedded":
		b, err := ch.Archive()
		if err != nil {
			return step.Planned{}, err
		}
		spec.Description = "unpack the open stand-in of " + ch.Spec.Name
		spec.Inputs = append(spec.Inputs, action.Input{Path: toolchains.EmbeddedFile, Content: &action.Content{Data: b}})
	case "installed":
		if ch.Host == "" {
			spec.Description = "take " + ch.Spec.Name + " of this machine"
			platform[action.PropertyHost] = "fetch" // the programs are tried where they are
			break
		}
		// The copy is used where it is; the toolchain's tree is that copy and the report of having been verified.
		const at = "sdk"
		spec.Description, out = "verify "+ch.Spec.Name+" at "+ch.Host, verifiedFile
		spec.Inputs = append(spec.Inputs, action.Input{Path: at, Host: &action.HostPath{Path: ch.Host}, Shared: true})
		ch.Spec.File = at
		art.Parts = []action.Input{{Host: &action.HostPath{Path: ch.Host}}, {Path: ".hexmage/" + verifiedFile, Spec: &action.SpecOutput{Path: out}}}
	default:
		platform[action.PropertyNetwork] = "true"
		platform[action.PropertyHost] = "fetch" // apt needs the system's lists, a vendor's client the user's login
	}
	if art.Parts == nil {
		art.Parts = []action.Input{{Spec: &action.SpecOutput{Path: out}}}
	}
	spec.Inputs[0].Content = &action.Content{Data: ch.Spec.Encode()}
	spec.Args = append(tool, "--spec", specFile, "--out", out)
	spec.Outputs = []action.Output{{Path: out, Tree: out == treeDir}}
	return step.Planned{Specs: []action.Spec{spec}, Outputs: map[string]action.Artifact{"dir": art}}, nil
}

// toolchainAttrs is what other steps know of the toolchain at plan time.
func toolchainAttrs(ch *toolchains.Choice) map[string]cty.Value {
	str := func(s string) cty.Value {
		if s == "" {
			return cty.NullVal(cty.String)
		}
		return cty.StringVal(s)
	}
	id := ch.BuildID()
	tools := ch.Release.ToolsVersion
	if ch.Found.ToolsVersion != "" {
		tools = ch.Found.ToolsVersion
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
		"build_id":      str(id),
		"tools_version": str(tools),
		"arches":        arches,
		"source":        cty.StringVal(ch.Source.Kind),
		"stand_in":      cty.BoolVal(ch.Source.Kind == "embedded"),
	}
}

// passedOver says which other sources were tried before the one that is taken.
func passedOver(r step.Request, ch *toolchains.Choice) (diags hcl.Diagnostics) {
	for _, w := range ch.Warnings {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Several copies of an SDK", Detail: sentence(w), Subject: r.ArgRange("version")})
	}
	for _, n := range ch.Notes {
		if n != "" {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Another source was passed over",
				Detail: sentence(ch.Spec.Name + " is taken from source " + strconv.Quote(ch.Source.Kind) + ": " + n), Subject: r.ArgRange("version")})
		}
	}
	return diags
}

// sentence makes an error's text one for people: a capital letter first, a full stop at the end.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if c := s[0]; c >= 'a' && c <= 'z' && !strings.ContainsAny(strings.SplitN(s, " ", 2)[0], ".:/_") {
		s = fmt.Sprintf("%c%s", c-32, s[1:])
	}
	return strings.TrimSuffix(s, ".") + "."
}
