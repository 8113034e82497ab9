package toolchains

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// Checks are what a release must hold; package verify says what each means.
type Checks struct {
	Layout   []string     `hcl:"layout,optional"`
	Absent   []string     `hcl:"absent,optional"`   // patterns that nothing may match
	Identity bool         `hcl:"identity,optional"` // version files, headers, tools and folder must agree about what the SDK is
	Host     []string     `hcl:"host,optional"`     // patterns of programs that run on the host: doctor says what they lack
	ELF      []*ELFCheck  `hcl:"elf,block"`
	Text     []*TextCheck `hcl:"text,block"`
	Run      []*RunCheck  `hcl:"run,block"`
	Build    *BuildCheck  `hcl:"build_id,block"`
}

// ELFCheck says what ELF files of a pattern must be.
type ELFCheck struct {
	Pattern   string   `hcl:"pattern,label"`
	Machine   int      `hcl:"machine"`
	FlagsArg  string   `hcl:"flags,optional"`      // "folder": the number after "hexagon-v" in the path, read as hexadecimal
	Soname    bool     `hcl:"soname,optional"`     // a library that says its name must have the file's
	NotNeeded []string `hcl:"not_needed,optional"` // libraries, as patterns, that only a file for another system needs
}

// TextCheck says what a file must say.
type TextCheck struct {
	Path    string `hcl:"path,label"`
	Pattern string `hcl:"pattern"` // regular expression with one group
	Want    string `hcl:"want"`    // "${version}" and the like are filled in
	Prefix  bool   `hcl:"prefix,optional"`
}

// RunCheck is a program that must run.
type RunCheck struct {
	Path  string            `hcl:"path,label"`
	Args  []string          `hcl:"args,optional"`
	Env   map[string]string `hcl:"env,optional"`
	Match string            `hcl:"match,optional"` // regular expression for what it prints
}

// BuildCheck says where build ids are that must agree.
type BuildCheck struct {
	Files []string `hcl:"files"`
}

// Verify returns what a tree of the release must hold.
func (t *Toolchain) Verify(r *Release) verify.Checks {
	var v verify.Checks
	for _, c := range []*Checks{t.Checks, r.Checks} {
		if c == nil {
			continue
		}
		for _, l := range c.Layout {
			v.Layout = append(v.Layout, r.fill(l))
		}
		for _, l := range c.Absent {
			v.Absent = append(v.Absent, r.fill(l))
		}
		for _, h := range c.Host {
			v.Host = append(v.Host, r.fill(h))
		}
		v.Identity = v.Identity || c.Identity
		for _, e := range c.ELF {
			v.ELF = append(v.ELF, verify.ELF{Pattern: r.fill(e.Pattern), Machine: e.Machine, FlagsFromFolder: e.FlagsArg == "folder",
				Soname: e.Soname, NotNeeded: e.NotNeeded})
		}
		for _, x := range c.Text {
			v.Text = append(v.Text, verify.Text{Path: r.fill(x.Path), Pattern: x.Pattern, Want: r.fill(x.Want), Prefix: x.Prefix})
		}
		for _, x := range c.Run {
			v.Run = append(v.Run, verify.Run{Path: r.fill(x.Path), Args: x.Args, Env: x.Env, Match: x.Match})
		}
		if c.Build != nil {
			v.BuildID.Files = append(v.BuildID.Files, c.Build.Files...)
		}
	}
	if len(v.BuildID.Files) > 0 && r.BuildID != "" {
		v.BuildID.Want = r.BuildID
	} else if len(v.BuildID.Files) > 0 {
		v.BuildID.Want = "v" + r.Version
	}
	for _, a := range r.Arches {
		v.Arches = append(v.Arches, strings.TrimPrefix(a, "v"))
	}
	return v
}

// ReleaseOf returns the release that the SDK at root says it is. Where the catalogue does not have it, known is false, and
// the release has what the SDK says of itself: its checks are those that hold for all releases of the toolchain.
func (c *Catalogue) ReleaseOf(is sdk.SDK, root string) (t *Toolchain, r *Release, known bool, err error) {
	t = c.toolchain(is.Name)
	if t == nil {
		return nil, nil, false, fmt.Errorf("%s is an SDK %q, which is not in the catalogue", root, is.Name)
	}
	for _, r := range t.Releases {
		if is.Is(r.Version) || r.Revision != "" && is.Is(r.Revision) {
			return t, r, true, nil
		}
	}
	return t, &Release{Release: &qnn.Release{Version: is.Version, Revision: is.Version, BuildID: is.BuildID, ToolsVersion: is.ToolsVersion,
		Arches: is.Arches(root)}}, false, nil
}
