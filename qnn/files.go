package qnn

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn/buildid"
)

// File is what is known of a library in a push set.
type File struct {
	Name    string // on the device: "libQnnHtpV79Stub.so"
	From    string // where it comes from, for people; may be ""
	BuildID string // of the QNN SDK it belongs to, whole or cut short; "" when it has none
	Arch    string // of a Hexagon library: "v79"
}

// PushSet says what of a push set will not work together. arch is the target's ("v79"), "" when it is not known.
func PushSet(files []File, arch string) []Finding {
	var out []Finding
	if f, ok := oneSDK(files); !ok {
		out = append(out, f)
	}
	for _, f := range files {
		if f.Arch != "" && arch != "" && f.Arch != arch {
			out = append(out, coded("push-arch", "push",
				fmt.Sprintf("%s is built for Hexagon %s, the target has %s: its loader refuses it (0x80000406)", named(f), f.Arch, arch),
				"push the build for "+arch))
		}
	}
	return out
}

// oneSDK compares the build ids. Stub, skel and backend do the same when they meet, and fail with "Stub lib id mismatch".
func oneSDK(files []File) (Finding, bool) {
	groups := map[string][]string{} // by the longest spelling of a build id
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
		"the libraries come from different QNN SDKs: "+strings.Join(each, "; ")+"; on the phone that is \"Stub lib id mismatch\", \"Skel lib id mismatch\" or error 1009",
		"take backend, stub, skel and system library from one SDK, and build op packages with its headers"), false
}

func named(f File) string {
	if f.From != "" && f.From != f.Name {
		return f.Name + " from " + f.From
	}
	return f.Name
}

// ContextBinary is what the header of a context binary says. What is empty is not known, and is not compared.
type ContextBinary struct {
	Name     string // for people
	BuildID  string // of the SDK that made it
	CoreAPI  string // "2.32.0"
	HTPAPI   string
	Blob     string // version of the format
	Arch     string // "v79"
	SoC      string // "SM8750"
	SoCModel int
	VTCMMB   int
}

// Runtime is what is to load a context binary: the SDK whose libraries are pushed, and the target.
type Runtime struct {
	Version string // of the SDK: "2.41.0.251128"
	BuildID string
	CoreAPI string
	HTPAPI  string
	Blob    string // newest format that it reads
	Target
}

// CheckContext says what keeps the runtime from loading the context binary, in the order in which QNN finds out.
func CheckContext(c ContextBinary, r Runtime) []Finding {
	var out []Finding
	add := func(id, remedy, reason string, args ...any) {
		out = append(out, coded(id, "push", fmt.Sprintf(reason, args...), remedy))
	}
	runtime := r.Version
	if runtime == "" {
		runtime = buildid.Version(r.BuildID)
	}
	again := "compile the context again with QAIRT " + runtime + ", or push the libraries of a QAIRT that is at least as new as the context"
	made := buildid.Version(c.BuildID)
	switch {
	case version.Older(r.CoreAPI, c.CoreAPI):
		add("context-newer", again, "%s was made with QNN API %s, the runtime %s has %s: it cannot load the context (error 5000)", c.Name, c.CoreAPI, runtime, r.CoreAPI)
	case version.Older(r.HTPAPI, c.HTPAPI):
		add("context-newer", again, "%s was made with HTP API %s, the runtime %s has %s: it cannot load the context (error 5000)", c.Name, c.HTPAPI, runtime, r.HTPAPI)
	case version.Older(r.Blob, c.Blob):
		add("context-newer", again, "%s is of context format %s, the runtime %s reads up to %s (error 5000)", c.Name, c.Blob, runtime, r.Blob)
	case version.Older(release(runtime), release(made)):
		add("context-newer", again, "%s was made by QAIRT %s, the runtime is the older %s: it cannot load the context (error 5000)", c.Name, made, runtime)
	case version.Older(short(runtime), made):
		add("context-build", again, "%s was made by QAIRT %s, the runtime is %s, an older build of the same release: nobody has seen on a phone whether it loads the context", c.Name, made, runtime)
	}
	if c.Arch != "" && r.Arch != "" && c.Arch != r.Arch {
		add("context-arch", "compile the context for the target", "%s is compiled for Hexagon %s, the target has %s: loading fails, or gives other results", c.Name, c.Arch, r.Arch)
	}
	if c.VTCMMB > 0 && r.VTCMMB > 0 && c.VTCMMB > r.VTCMMB {
		add("context-vtcm", fmt.Sprintf("compile the context with vtcm_mb = %d", r.VTCMMB), "%s wants %d MB of VTCM, the target has %d (error 5005)", c.Name, c.VTCMMB, r.VTCMMB)
	}
	if c.SoCModel > 0 && r.SoCModel > 0 && c.SoCModel != r.SoCModel {
		add("context-soc", "compile the context for the target's SoC", "%s is compiled for soc_model %s, the target's is %s", c.Name, soc(c.SoCModel, c.SoC), soc(r.SoCModel, r.SoC))
	}
	return out
}

// soc is a SoC's number, with its name where that is known.
func soc(model int, name string) string {
	if name == "" {
		return strconv.Itoa(model)
	}
	return fmt.Sprintf("%d (%s)", model, name)
}

// release is the minor release that a version belongs to: "2.48" of "2.48.40.260702". It counts with the versions of QNN's interfaces.
func release(v string) string {
	major, rest, _ := strings.Cut(v, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return strings.TrimSuffix(major+"."+minor, ".")
}

// short is the version without the day it was built.
func short(v string) string {
	if p := strings.SplitN(v, ".", 4); len(p) == 4 {
		return strings.Join(p[:3], ".")
	}
	return v
}
