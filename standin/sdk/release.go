package sdk

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown is the error for a name or version that is not among Releases.
var ErrUnknown = errors.New("not a release of the open stand-in")

// A Release is one archive of the stand-in.
type Release struct {
	Name    string // "qairt", "hexagon", "ndk", "mllm"
	Version string // as the vendor spells it, so that pipelines need not know that it is the stand-in
	Prefix  string // the folder inside the archive that is the SDK's root: no slash at the end
	BuildID string // QNN_SDK_BUILD_ID; only of qairt

	spelling spelling // of the tensor API; only of qairt
	coreAPI  string   // QNN core API, "2.31.0"; only of qairt
	htpAPI   string   // HTP backend API; only of qairt
	tools    string   // Hexagon tools version; only of hexagon
	revision string   // Pkg.Revision; only of ndk
}

// File is the archive's usual file name.
func (r Release) File() string { return r.Name + "-open-" + r.Version + ".zip" }

// A spelling says which names the tensor API has.
type spelling string

const (
	newSpelling spelling = "new" // interface_scale, interface_offset: SDKs from 2.34 on
	oldSpelling spelling = "old" // get_interface_scale, get_interface_offset: before
)

// Releases returns all releases, the default one of each name first.
//
// The QNN API numbers between published pairs are interpolated; the build ids' time and number are zero, so that none can
// be taken for a vendor's.
func Releases() []Release {
	return []Release{
		qairt("2.41.0.251128", newSpelling, "2.31.0", "5.41.0"),
		qairt("2.31.0.250130", oldSpelling, "2.22.0", "5.31.0"),
		{Name: "hexagon", Version: "6.4.0.2", Prefix: "Hexagon_SDK/6.4.0.2", tools: "19.0.04"},
		{Name: "ndk", Version: "r28b", Prefix: "android-ndk-r28b", revision: "28.1.13356709"},
		{Name: "mllm", Version: "1", Prefix: "mllm-open"},
	}
}

func qairt(version string, s spelling, core, htp string) Release {
	return Release{
		Name: "qairt", Version: version, Prefix: "qairt/" + version,
		BuildID: "v" + version + "000000_0", spelling: s, coreAPI: core, htpAPI: htp,
	}
}

// Find returns the release of that name and version; version "" is the default one.
func Find(name, version string) (Release, error) {
	var have []string
	for _, r := range Releases() {
		if r.Name == name && (version == "" || r.Version == version) {
			return r, nil
		}
		have = append(have, r.Name+" "+r.Version)
	}
	return Release{}, fmt.Errorf("%s %s: %w; there are %s", name, version, ErrUnknown, strings.Join(have, ", "))
}

// arches are the numbers of the Hexagon archs that the stand-in has libraries and folders for.
func arches() []string { return []string{"68", "69", "73", "75", "79", "81"} }
