package qnn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
)

// SDK is the record of an SDK or tool, with its releases.
type SDK struct {
	Name     string
	Tools    []*Tools // some versions of its compilers; the records of archs describe all other versions
	Releases []*Release
}

// Tools lists the Hexagon archs that a series of compiler versions supports.
type Tools struct {
	Series string   `hcl:"series,label"` // prefix of their versions: "8.8" for 8.8.02, 8.8.06, …
	Arches []string `hcl:"arches"`
}

// Release is the record of one version of an SDK.
type Release struct {
	Version string `hcl:"version,label" json:"version"`
	// complete build id, if it is known
	BuildID string `hcl:"build_id,optional" json:"build_id,omitempty"`
	// version of its compilers
	ToolsVersion string `hcl:"tools_version,optional" json:"tools_version,omitempty"`
	// Hexagon archs with libraries or compiler support, such as "v79"; default: from the records of archs
	Arches []string `hcl:"arches,optional" json:"arches,omitempty"`
	// another name of the release, which its own files use
	Revision string `hcl:"revision,optional" json:"revision,omitempty"`

	// Versions of the release's interfaces, such as "2.32.0"; "" if unknown. CoreAPI is the version of QNN's own
	// interface.
	CoreAPI string `hcl:"core_api,optional" json:"core_api,omitempty"`
	// interface of the HTP backend for op packages
	HTPAPI string `hcl:"htp_api,optional" json:"htp_api,omitempty"`
	// newest format of context binaries
	ContextBlob string `hcl:"context_blob,optional" json:"context_blob,omitempty"`
	SystemAPI   string `hcl:"system_api,optional" json:"system_api,omitempty"`

	Facts []*Fact `hcl:"fact,block" json:"-"`
	// workspace file with the record; "" for a shipped record
	From string `json:"-"`

	// Arches, except archs that run another arch's code
	Named []string `json:"-"`
	// whether Arches is complete
	Exact bool `json:"-"`
	// available without a Qualcomm account; the package that knows the sources sets it
	Open bool `json:"open"`
}

// Known is a release in use. The values come from its record or from an installed SDK.
type Known struct {
	Name string // of the SDK
	Release
	Simulated, Installed bool
}

// Known returns the release with the values of its record.
func (s *SDK) Known(r *Release) Known { return Known{Name: s.Name, Release: *r} }

// First returns the version of the oldest release for which the callback returns true, or "".
func (s *SDK) First(is func(*Release) bool) string {
	best := ""
	for _, r := range s.Releases {
		if is(r) && (best == "" || OlderRelease(r.Version, best)) {
			best = r.Version
		}
	}
	return best
}

// Sorted returns the releases, newest first.
func (s *SDK) Sorted() []*Release {
	out := slices.Clone(s.Releases)
	slices.SortStableFunc(out, func(a, b *Release) int { return CompareReleases(b.Version, a.Version) })
	return out
}

// dated matches a version or a build id with a date: 2.49.1.260821, v2.49.1.260821105127_200413.
var dated = lazyregexp.New(`^v?(\d+\.\d+)(\.\d+)\.(\d{6})(\d{6})?`)

// CompareReleases compares versions or build ids of an SDK's releases. Within a minor release, the build date
// decides: 2.49.1.260821 is newer than 2.49.40.260810.
func CompareReleases(a, b string) int {
	x, y := dated.FindStringSubmatch(a), dated.FindStringSubmatch(b)
	if x == nil || y == nil || x[1] != y[1] {
		return version.Compare(strings.TrimPrefix(a, "v"), strings.TrimPrefix(b, "v"))
	}
	n := cmp.Or(cmp.Compare(x[3], y[3]), version.Compare(x[2], y[2]))
	if n == 0 && x[4] != "" && y[4] != "" {
		n = cmp.Compare(x[4], y[4])
	}
	return n
}

// OlderRelease reports whether release a precedes b. An unknown release ("") is neither older nor newer.
func OlderRelease(a, b string) bool { return a != "" && b != "" && CompareReleases(a, b) < 0 }
