package steps

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// Git is kind git: the files of one commit of a repository.
type Git struct{}

// Schema returns the arguments of git.
func (Git) Schema() step.Schema {
	return step.Schema{
		Summary: "Takes the files of one commit of a git repository.",
		Args: hcldec.ObjectSpec{
			"url":             &hcldec.AttrSpec{Name: "url", Type: cty.String, Required: true},
			"commit":          &hcldec.AttrSpec{Name: "commit", Type: cty.String, Required: true},
			"sub":             &hcldec.AttrSpec{Name: "sub", Type: cty.String},
			"mirrors":         &hcldec.AttrSpec{Name: "mirrors", Type: cty.List(cty.String)},
			"submodules":      &hcldec.AttrSpec{Name: "submodules", Type: cty.Bool},
			"submodule_paths": &hcldec.AttrSpec{Name: "submodule_paths", Type: cty.List(cty.String)},
			"lfs_pointers":    &hcldec.AttrSpec{Name: "lfs_pointers", Type: cty.Bool},
		},
		ArgDocs: map[string]string{
			"url":             "Address of the repository (https, http, ssh, git), or the path of one on this machine (its folder, or its .git folder).",
			"commit":          "The whole commit id: 40 hexadecimal digits. A branch or tag would mean something else tomorrow.",
			"sub":             "Take only this folder of the repository.",
			"mirrors":         "More addresses of the same repository, tried in order.",
			"submodules":      "Whether to take the files of submodules too, at the commits that the commit names. Without it their folders are empty, as are those whose update is none.",
			"submodule_paths": "Take only the submodules at these paths of the repository, and all that are in them.",
			"lfs_pointers":    "Whether to take files of Git LFS as the small pointers that the repository has for them. Without it they are an error.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The files of the commit, without .git."}},
	}
}

var (
	commitRE = lazyregexp.New(`^[0-9a-f]{40}$`)
	schemeRE = lazyregexp.New(`^(https?|ssh|git)://`)
	scpRE    = lazyregexp.New(`^[\w.-]+@[\w.-]+:`)
)

// Plan plans the checkout.
func (Git) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	addr, commit := r.String("url"), strings.ToLower(r.String("commit"))
	if !commitRE.MatchString(commit) {
		return step.Planned{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Not a commit", Subject: r.ArgRange("commit"),
			Detail: fmt.Sprintf("%q is no whole commit id. `git ls-remote %s` prints those of branches and tags.", r.String("commit"), addr)}}
	}
	short := commit[:10]
	args, platform := step.Tool(git.Name, git.Version, "--commit", commit, "--out", treeDir)
	spec := action.Spec{Description: "check out " + short + " of " + addr, Env: environment(), Platform: platform, Timeout: fetchTimeout, Outputs: []action.Output{{Path: treeDir, Tree: true}}}
	if schemeRE.MatchString(addr) || scpRE.MatchString(addr) {
		platform[action.PropertyNetwork] = "true"
		platform[action.PropertyHost] = "git" // ssh needs the user's keys
		spec.Args = append(args, "--url", addr)
	} else {
		const at = "repository"
		spec.Inputs = []action.Input{r.Input("url", strings.TrimPrefix(addr, "file://"), at)}
		spec.Args = append(args, "--url", at)
	}
	for _, m := range r.Strings("mirrors") {
		spec.Args = append(spec.Args, "--other", m)
	}
	if r.Bool("submodules") {
		spec.Args = append(spec.Args, "--submodules")
	}
	for _, p := range r.Strings("submodule_paths") {
		spec.Args = append(spec.Args, "--submodule", p)
	}
	if r.Bool("lfs_pointers") {
		spec.Args = append(spec.Args, "--lfs-pointers")
	}
	if sub := r.String("sub"); sub != "" {
		spec.Args = append(spec.Args, "--sub", sub)
	}
	return step.Planned{
		Specs:   []action.Spec{spec},
		Outputs: map[string]action.Artifact{"dir": {Class: action.Tree, Parts: []action.Input{{Spec: &action.SpecOutput{Path: treeDir}}}}},
	}, nil
}
