package qnn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn/buildid"
)

// File describes a library in a push set.
type File struct {
	Name    string // on the device: "libQnnHtpV79Stub.so"
	From    string // origin of the file, for messages; may be ""
	BuildID string // build id of its QNN SDK, complete or shortened; "" if the file has none
	Arch    string // "v79", for Hexagon libraries only
}

// PushSet returns the incompatibilities in a push set. The parameter arch is the target's arch, such as "v79", or "".
func PushSet(files []File, arch string) []Finding {
	var out []Finding
	if f, ok := oneSDK(files); !ok {
		out = append(out, f)
	}
	for _, f := range files {
		if f.Arch != "" && arch != "" && f.Arch != arch {
			out = append(out, coded("push-arch", "push",
				fmt.Sprintf("%s is built for Hexagon %s, but the target has %s, whose loader rejects the file "+
					"(0x80000406)", named(f), f.Arch, arch),
				"push the build for "+arch))
		}
	}
	return out
}

// oneSDK compares the build ids. Stub, skel and backend do so when they connect, and fail with "Stub lib id
// mismatch".
func oneSDK(files []File) (Finding, bool) {
	groups := map[string][]string{} // by the longest form of a build id
	for _, f := range files {
		if f.BuildID == "" {
			continue
		}
		id := f.BuildID
		for _, have := range slices.Sorted(maps.Keys(groups)) {
			if !buildid.Same(have, id) {
				continue
			}
			if len(have) < len(id) {
				groups[id] = append(groups[id], groups[have]...)
				delete(groups, have)
			} else {
				id = have
			}
		}
		groups[id] = append(groups[id], named(f))
	}
	if len(groups) < 2 {
		return Finding{}, true
	}
	var each []string
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		names := slices.Compact(slices.Sorted(slices.Values(groups[id])))
		if len(names) > 4 {
			names = append(names[:3], fmt.Sprintf("and %d more", len(names)-3))
		}
		each = append(each, id+" ("+strings.Join(names, ", ")+")")
	}
	return coded("push-one-sdk", "push",
		"the libraries come from different QNN SDKs: "+strings.Join(each, "; ")+"; a phone rejects such libraries "+
			"with \"Stub lib id mismatch\", \"Skel lib id mismatch\" or error 1009",
		"use backend, stub, skel and system library of one SDK, and build op packages with the headers of this SDK"), false
}

func named(f File) string {
	if f.From != "" && f.From != f.Name {
		return f.Name + " from " + f.From
	}
	return f.Name
}

// ContextBinary holds values from the header of a context binary. Empty fields are unknown, and CheckContext skips
// them.
type ContextBinary struct {
	Name     string // for messages
	BuildID  string // build id of the compiling SDK
	CoreAPI  string // "2.32.0"
	HTPAPI   string
	Blob     string // format version
	Arch     string // "v79"
	SoC      string // "SM8750"
	SoCModel int
	VTCMMB   int
}

// Runtime describes a target that loads context binaries, and the SDK of the target's libraries.
type Runtime struct {
	Version string // SDK version: "2.41.0.251128"
	BuildID string
	CoreAPI string
	HTPAPI  string
	Blob    string // newest format of context binaries that it reads
	Target
}

// CheckContext returns the reasons why the runtime cannot load the context binary, in the order of QNN's checks.
func CheckContext(c ContextBinary, r Runtime) []Finding {
	var out []Finding
	add := func(id, remedy, reason string, args ...any) {
		out = append(out, coded(id, "push", fmt.Sprintf(reason, args...), remedy))
	}
	runtime := r.Version
	if runtime == "" {
		runtime = buildid.Version(r.BuildID)
	}
	again := "compile the context again with QAIRT " + runtime + ", or push the libraries of a QAIRT release that is " +
		"not older than the context"
	made, build, id := buildid.Version(c.BuildID), c.BuildID, cmp.Or(r.BuildID, r.Version)
	if !dated.MatchString(id) {
		build = made // without days, which cannot be compared
	}
	switch {
	case version.Older(r.CoreAPI, c.CoreAPI):
		add("context-newer", again, "%s needs QNN API %s, but the runtime %s has %s and cannot load the context "+
			"(error 5000)", c.Name, c.CoreAPI, runtime, r.CoreAPI)
	case version.Older(r.HTPAPI, c.HTPAPI):
		add("context-newer", again, "%s needs HTP API %s, but the runtime %s has %s and cannot load the context "+
			"(error 5000)", c.Name, c.HTPAPI, runtime, r.HTPAPI)
	case version.Older(r.Blob, c.Blob):
		add("context-newer", again, "%s has context format %s, but the runtime %s reads formats up to %s (error 5000)",
			c.Name, c.Blob, runtime, r.Blob)
	case version.Older(release(runtime), release(made)):
		add("context-newer", again, "%s was made by QAIRT %s, and the older runtime %s cannot load the context "+
			"(error 5000)", c.Name, made, runtime)
	case !strings.HasPrefix(strings.TrimPrefix(id, "v")+".", made+".") && OlderRelease(id, build):
		add("context-build", again, "%s was made by QAIRT %s, but the runtime is %s, an older build of the same "+
			"release. This combination is not tested on phones", c.Name, build, id)
	}
	if c.Arch != "" && r.Arch != "" && c.Arch != r.Arch {
		add("context-arch", "compile the context for the target", "%s is compiled for Hexagon %s, but the target has "+
			"%s, where loading fails or results differ", c.Name, c.Arch, r.Arch)
	}
	if c.VTCMMB > 0 && r.VTCMMB > 0 && c.VTCMMB > r.VTCMMB {
		add("context-vtcm", fmt.Sprintf("compile the context with vtcm_mb = %d", r.VTCMMB), "%s needs %d MB of VTCM, "+
			"but the target has %d MB (error 5005)", c.Name, c.VTCMMB, r.VTCMMB)
	}
	if c.SoCModel > 0 && r.SoCModel > 0 && c.SoCModel != r.SoCModel {
		add("context-soc", "compile the context for the target's SoC", "%s is compiled for soc_model %s, but the "+
			"target has soc_model %s", c.Name, soc(c.SoCModel, c.SoC), soc(r.SoCModel, r.SoC))
	}
	return out
}

// soc formats a SoC's number, with its name if it is known.
func soc(model int, name string) string {
	if name == "" {
		return strconv.Itoa(model)
	}
	return fmt.Sprintf("%d (%s)", model, name)
}

// release returns the minor release of a version: "2.48" for "2.48.40.260702". QNN's interface versions follow it.
func release(v string) string {
	major, rest, _ := strings.Cut(v, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return strings.TrimSuffix(major+"."+minor, ".")
}
