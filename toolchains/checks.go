package toolchains

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/sdk"
	"github.com/hexmage/hexmage/toolchains/verify"
)

// Verify returns the checks for an unpacked tree of the release.
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
	if v.Identity {
		v.Version, v.ToolsVersion = cmp.Or(r.Revision, r.Version), r.ToolsVersion
	}
	for _, a := range r.Named {
		v.Arches = append(v.Arches, strings.TrimPrefix(a, "v"))
	}
	return v
}

// ReleaseOf identifies the release of the SDK at root by the SDK's own files. If the catalog does not contain the
// release, known is false, and r contains only data from these files.
func (c *Catalog) ReleaseOf(is sdk.SDK, root string) (t *Toolchain, r *Release, known bool, err error) {
	t = c.toolchain(is.Name)
	if t == nil {
		return nil, nil, false, fmt.Errorf("%s: SDK %q is not in the catalog", root, is.Name)
	}
	if r := t.releaseOf(is); r != nil {
		return t, r, true, nil
	}
	return t, released(is, root), false, nil
}

// released returns a release with the data in the files of the SDK at root.
func released(is sdk.SDK, root string) *Release {
	return &Release{Release: &qnn.Release{Version: is.Version, Revision: is.Version, BuildID: is.BuildID,
		ToolsVersion: is.ToolsVersion, Arches: is.Arches(root), Named: is.Arches(root)}}
}
