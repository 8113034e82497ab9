package sdk

import (
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// ErrUnknown means that Releases contains no release with the name and version.
var ErrUnknown = errors.New("not a release of a simulated SDK")

// Release is one release of a simulated SDK.
type Release struct {
	Name    string // "qairt", "hexagon", "ndk", "mllm"
	Version string // Qualcomm's version, so that pipelines work with the simulation unchanged
	Prefix  string // the SDK's root folder inside the archive, without a slash at the end
	BuildID string // QNN_SDK_BUILD_ID, for qairt only

	coreAPI  string // QNN core API, "2.31.0"; only of qairt
	htpAPI   string // HTP backend API; only of qairt
	tools    string // Hexagon tools version; only of hexagon
	revision string // Pkg.Revision; only of ndk
}

// Releases returns all releases. For each name, the default release is first.
//
// If QNN API numbers of a release are not published, Releases interpolates them. In the build ids, time and number are
// zero, unlike in Qualcomm's build ids.
func Releases() []Release {
	return []Release{
		qairt("2.41.0.251128", "2.31.0", "5.41.0"),
		qairt("2.42.0.251225", "2.32.0", "5.41.0"), // the first with SM8850
		qairt("2.31.0.250130", "2.22.0", "5.31.0"),
		qairt("2.37.0.250724", "2.27.0", "5.37.0"), // of the reproduction of llm.npu
		{Name: "hexagon", Version: "6.4.0.2", Prefix: "Hexagon_SDK/6.4.0.2", tools: "19.0.04"},
		{Name: "hexagon", Version: "6.3.0.0", Prefix: "Hexagon_SDK/6.3.0.0", tools: "8.8.06"},
		{Name: "ndk", Version: "r28b", Prefix: "android-ndk-r28b", revision: "28.1.13356709"},
		{Name: "mllm", Version: "1", Prefix: "mllm-simulated"},
	}
}

func qairt(version, core, htp string) Release {
	return Release{
		Name: "qairt", Version: version, Prefix: "qairt/" + version,
		BuildID: "v" + version + "000000_0", coreAPI: core, htpAPI: htp,
	}
}

// Find returns the release with the name and version. The version "" means the default.
func Find(name, version string) (Release, error) {
	var have []string
	for _, r := range Releases() {
		if r.Name == name && (version == "" || r.Version == version) {
			return r, nil
		}
		have = append(have, r.Name+" "+r.Version)
	}
	return Release{}, fmt.Errorf("%s %s: %w; choose from %s", name, version, ErrUnknown, strings.Join(have, ", "))
}

// arches returns the numbers of the Hexagon archs of Qualcomm's release, for which the simulation has libraries and
// folders.
func (r Release) arches(world *qnn.Facts) []string {
	known := world.Since("qairt", r.Version)
	if r.tools != "" {
		known = world.Since("tools", r.tools)
	}
	var out []string
	for _, a := range known {
		out = append(out, strings.TrimPrefix(a, "v"))
	}
	return out
}

// libraries returns the shared libraries of a QAIRT tree, by path. Each has a text that names it, and its functions
// return 1, an error to every caller.
func (r Release) libraries(world *qnn.Facts) map[string][]byte {
	// LLVM's assembler made the code. Page sizes are the largest of the target's system.
	android := elffile.Library{Class: elf.ELFCLASS64, Machine: elf.EM_AARCH64, Page: 0x4000,
		Code: "\x20\x00\x80\x52\xc0\x03\x5f\xd6"} // mov w0, #1; ret
	host := elffile.Library{Class: elf.ELFCLASS64, Machine: elf.EM_X86_64, Page: 0x1000,
		Code: "\xb8\x01\x00\x00\x00\xc3\xcc\xcc"} // mov eax, 1; ret
	dsp := elffile.Library{Class: elf.ELFCLASS32, Machine: qnn.MachineHexagon, Page: 0x10000,
		Code: "\xc0\x3f\x10\x48"} // { r0 = #1; jumpr r31 }
	libs := map[string][]byte{}
	add := func(dir string, l elffile.Library, names ...string) {
		for _, name := range names {
			l.Soname, l.Label, l.Comment = name, "hexmage_open_stand_in", "hexmage simulated"
			l.Texts = []string{"hexmage simulated " + name + ": no vendor code, does nothing", r.BuildID,
				"AISW_VERSION: " + shortVersion(r.Version)}
			l.Functions = nil
			switch name {
			case "libQnnHtp.so":
				l.Texts = append(append(l.Texts, "HTP_QTI_AISW"), r.knows(world)...)
				l.Functions = []string{"QnnInterface_getProviders"}
			case "libQnnHtpPrepare.so", "libHtpPrepare.so":
				l.Texts = append(l.Texts, "HTP_QTI_AISW")
			case "libQnnSystem.so":
				l.Texts = append(l.Texts, "SYSTEM_QTI_AISW")
				l.Functions = []string{"QnnSystemInterface_getProviders"}
			}
			libs[path.Join("lib", dir, name)] = l.Bytes()
		}
	}
	add("aarch64-android", android, "libQnnHtp.so", "libQnnHtpPrepare.so", "libQnnSystem.so",
		"libQnnHtpProfilingReader.so", "libQnnHtpOptraceProfilingReader.so", "libQnnHtpNetRunExtensions.so")
	for _, a := range r.arches(world) {
		add("aarch64-android", android, "libQnnHtpV"+a+"Stub.so", "libQnnHtpV"+a+"CalculatorStub.so")
		dsp.Flags = qnn.HexagonFlags(a)
		add("hexagon-v"+a+"/unsigned", dsp, "libQnnHtpV"+a+"Skel.so", "libQnnHtpV"+a+".so", "libCalculator_skel.so")
	}
	add("x86_64-linux-clang", host, "libQnnHtp.so", "libHtpPrepare.so", "libQnnSystem.so", "libQnnModelDlc.so",
		"libQnnHtpNetRunExtensions.so")
	return libs
}

// knows returns the SoCs and device options that a release's backend accepts, by QNN's numbers. The simulated
// compiler and runner look for them in their library. So an older library on a newer phone fails as Qualcomm's does.
func (r Release) knows(world *qnn.Facts) []string {
	var socs []string
	for _, s := range world.SoCs { // without a first release, the SoC's arch decides
		if version.Older(r.Version, s.MinSDK) || s.MinSDK == "" && !slices.Contains(world.Since("qairt", r.Version), s.Arch) {
			continue
		}
		socs = append(socs, strconv.Itoa(s.SoCModel))
	}
	options := "0,1,2" // SoC, arch, signed protection domain
	if r.old() {
		options = "0,1"
	}
	return []string{"open_socs=" + strings.Join(socs, ",") + ";", "open_device_options=" + options + ";"}
}

// old reports whether a release also has the tensor API's older names, and lacks signed protection domains.
func (r Release) old() bool { return version.Older(r.Version, "2.34") }
