package qnn

import (
	"slices"

	"github.com/hexmage/hexmage/internal/version"
)

// SDK is the record of an SDK or tool with its releases.
type SDK struct {
	Name     string
	Tools    []*Tools // what somebody has found out of versions of its compilers; of others the archs' records say it
	Releases []*Release
}

// Tools says which Hexagon archs a series of compilers can build for.
type Tools struct {
	Series string   `hcl:"series,label"` // the beginning of their versions: "8.8" is 8.8.02, 8.8.06, …
	Arches []string `hcl:"arches"`
}

// Release is what is true of one version of an SDK, wherever it comes from.
type Release struct {
	Version      string   `hcl:"version,label"`
	BuildID      string   `hcl:"build_id,optional"`      // the whole build id, where it is known
	ToolsVersion string   `hcl:"tools_version,optional"` // of the compilers in it
	Arches       []string `hcl:"arches,optional"`        // Hexagon archs it can build for, or has libraries for: "v79"; where nobody has said it, what the archs' records say
	Revision     string   `hcl:"revision,optional"`      // another name of the release that its own files use

	// Versions of the interfaces in it, as far as they are known: "2.32.0".
	CoreAPI     string `hcl:"core_api,optional"`     // QNN's own
	HTPAPI      string `hcl:"htp_api,optional"`      // the HTP backend's, which op packages are built against
	ContextBlob string `hcl:"context_blob,optional"` // newest format of context binaries it reads and writes
	SystemAPI   string `hcl:"system_api,optional"`

	Named []string // of Arches: those after which files in it are named; code for the others is compiled as for another
	Exact bool     // Arches is what is in it: it has no other
	Open  bool     // it can be had without an account of Qualcomm; set by who knows its sources
}

// Known is what is known of a release that is used: what its record says, or what an installed copy says of itself.
type Known struct {
	Name string // of the SDK
	Release
	Simulated, Installed bool
}

// Known returns what the record of a release says.
func (s *SDK) Known(r *Release) Known { return Known{Name: s.Name, Release: *r} }

// First returns the version of the oldest release that is is true of, "" when there is none.
func (s *SDK) First(is func(*Release) bool) string {
	best := ""
	for _, r := range s.Releases {
		if is(r) && (best == "" || version.Older(r.Version, best)) {
			best = r.Version
		}
	}
	return best
}

// Sorted returns the releases, newest first.
func (s *SDK) Sorted() []*Release {
	out := slices.Clone(s.Releases)
	slices.SortStableFunc(out, func(a, b *Release) int { return version.Compare(b.Version, a.Version) })
	return out
}
