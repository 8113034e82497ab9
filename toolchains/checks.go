package toolchains

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// Verify returns what a tree of the release must hold.
func (t *Toolchain) Verify(r *Release) verify.Checks {
	var v verify.Checks
	for _, c := range []*verify.Checks{t.Checks, r.Checks} {
		if c == nil {
			continue
		}
		v.Layout = append(v.Layout, r.fillAll(c.Layout)...)
		v.Absent = append(v.Absent, r.fillAll(c.Absent)...)
		v.Identity = v.Identity || c.Identity
		for _, e := range c.ELF {
			e.Pattern = r.fill(e.Pattern)
			v.ELF = append(v.ELF, e)
		}
		for _, x := range c.Text {
			x.Path, x.Want = r.fill(x.Path), r.fill(x.Want)
			v.Text = append(v.Text, x)
		}
		for _, x := range c.Run {
			x.Path = r.fill(x.Path)
			v.Run = append(v.Run, x)
		}
		if c.BuildID != nil && v.BuildID == nil {
			v.BuildID = &verify.BuildID{Want: cmp.Or(r.BuildID, "v"+r.Version)}
		}
		if c.BuildID != nil {
			v.BuildID.Files = append(v.BuildID.Files, c.BuildID.Files...)
		}
	}
	for _, a := range r.Named {
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
		if is.Version == r.Version || r.Revision != "" && is.Version == r.Revision {
			return t, r, true, nil
		}
	}
	return t, &Release{Release: &qnn.Release{Version: is.Version, Revision: is.Version, BuildID: is.BuildID, ToolsVersion: is.ToolsVersion,
		Arches: is.Arches(root), Named: is.Arches(root)}}, false, nil
}
