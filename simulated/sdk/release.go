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

// ErrUnknown is the error for a name or version that is not among Releases.
var ErrUnknown = errors.New("not a release of the simulation")

// A Release is one archive of the simulation.
type Release struct {
	Name    string // "qairt", "hexagon", "ndk", "mllm"
	Version string // as the vendor spells it, so that pipelines need not know that it is the simulation
	Prefix  string // the folder inside the archive that is the SDK's root: no slash at the end
	BuildID string // QNN_SDK_BUILD_ID; only of qairt

	spelling spelling // of the tensor API; only of qairt
	coreAPI  string   // QNN core API, "2.31.0"; only of qairt
	htpAPI   string   // HTP backend API; only of qairt
	tools    string   // Hexagon tools version; only of hexagon
	revision string   // Pkg.Revision; only of ndk
}

// A spelling says which names the tensor API has.
type spelling string

const (
	newSpelling   spelling = "new"  // interface_scale, interface_offset: SDKs from 2.34 on
	bothSpellings spelling = "both" // get_interface_scale, get_interface_offset, too: those from 2.20 on
)

// Releases returns all releases, the default one of each name first.
//
// The QNN API numbers between published pairs are interpolated; the build ids' time and number are zero, so that none can
// be taken for a vendor's.
func Releases() []Release {
	return []Release{
		qairt("2.41.0.251128", newSpelling, "2.31.0", "5.41.0"),
		qairt("2.42.0.251225", newSpelling, "2.32.0", "5.41.0"), // the first that knows v81
		qairt("2.31.0.250130", bothSpellings, "2.22.0", "5.31.0"),
		qairt("2.37.0.250724", newSpelling, "2.27.0", "5.37.0"), // the reproduction's of llm.npu
		{Name: "hexagon", Version: "6.4.0.2", Prefix: "Hexagon_SDK/6.4.0.2", tools: "19.0.04"},
		{Name: "hexagon", Version: "6.3.0.0", Prefix: "Hexagon_SDK/6.3.0.0", tools: "8.8.06"},
		{Name: "ndk", Version: "r28b", Prefix: "android-ndk-r28b", revision: "28.1.13356709"},
		{Name: "mllm", Version: "1", Prefix: "mllm-simulated"},
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

// arches are the numbers of the Hexagon archs that the simulation has libraries and folders for: those that the vendor's release has.
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

// qairtLibraries lists the shared libraries of a QAIRT tree.
func qairtLibraries(r Release, world *qnn.Facts) []library {
	var libs []library
	add := func(dir, name string, m machine, flags uint32, provider string, functions ...string) {
		libs = append(libs, library{
			path: path.Join("lib", dir, name), machine: m, flags: flags, functions: functions,
			strings: r.texts(world, name, provider),
		})
	}
	const android, linux = "aarch64-android", "x86_64-linux-clang"
	add(android, "libQnnHtp.so", aarch64(), 0, "HTP_QTI_AISW", "QnnInterface_getProviders")
	add(android, "libQnnHtpPrepare.so", aarch64(), 0, "HTP_QTI_AISW")
	add(android, "libQnnSystem.so", aarch64(), 0, "SYSTEM_QTI_AISW", "QnnSystemInterface_getProviders")
	add(android, "libQnnHtpProfilingReader.so", aarch64(), 0, "")
	add(android, "libQnnHtpOptraceProfilingReader.so", aarch64(), 0, "")
	add(android, "libQnnHtpNetRunExtensions.so", aarch64(), 0, "")
	for _, a := range r.arches(world) {
		add(android, "libQnnHtpV"+a+"Stub.so", aarch64(), 0, "")
		add(android, "libQnnHtpV"+a+"CalculatorStub.so", aarch64(), 0, "")
		add("hexagon-v"+a+"/unsigned", "libQnnHtpV"+a+"Skel.so", hexagon(), qnn.HexagonFlags(a), "")
		add("hexagon-v"+a+"/unsigned", "libQnnHtpV"+a+".so", hexagon(), qnn.HexagonFlags(a), "")
		add("hexagon-v"+a+"/unsigned", "libCalculator_skel.so", hexagon(), qnn.HexagonFlags(a), "")
	}
	add(linux, "libQnnHtp.so", x8664(), 0, "HTP_QTI_AISW", "QnnInterface_getProviders")
	add(linux, "libHtpPrepare.so", x8664(), 0, "HTP_QTI_AISW")
	add(linux, "libQnnSystem.so", x8664(), 0, "SYSTEM_QTI_AISW", "QnnSystemInterface_getProviders")
	return libs
}

// texts are what a library says of itself. The first line is what a person sees who looks for strings in the file.
func (r Release) texts(world *qnn.Facts, name, provider string) []string {
	s := []string{
		"hexmage simulated " + name + ": no vendor code, does nothing",
		r.BuildID,
		"AISW_VERSION: " + shortVersion(r.Version),
	}
	if provider != "" {
		s = append(s, provider)
	}
	if name == "libQnnHtp.so" {
		s = append(s, r.knows(world)...)
	}
	return s
}

// knows are the SoCs and the options of a device's configuration that a release's backend takes, by QNN's numbers. The compiler and the runner of
// the simulation look for them in the library that they are given, so an older library on a newer phone fails as a vendor's does.
func (r Release) knows(world *qnn.Facts) []string {
	return []string{"open_socs=" + strings.Join(r.socs(world), ",") + ";", "open_device_options=" + strings.Join(r.deviceOptions(), ",") + ";"}
}

// socs are the soc_model numbers of the SoCs that the release is said to know; of one of which nobody has said which is the first that does,
// its arch decides.
func (r Release) socs(world *qnn.Facts) []string {
	var out []string
	for _, s := range world.SoCs {
		if version.Older(r.Version, s.MinSDK) || s.MinSDK == "" && !slices.Contains(world.Since("qairt", r.Version), s.Arch) {
			continue
		}
		out = append(out, strconv.Itoa(s.SoCModel))
	}
	return out
}

// deviceOptions are SoC, arch, and the signed protection domain, which upstream's users met as unsupported in older releases.
func (r Release) deviceOptions() []string {
	if version.Older(r.Version, "2.34") {
		return []string{"0", "1"}
	}
	return []string{"0", "1", "2"}
}

// A library is a shared library that says what it stands for and whose functions all return 1, an error to every
// caller there is.
type library struct {
	path      string // its base is the soname
	machine   machine
	flags     uint32 // e_flags
	functions []string
	strings   []string // of .rodata; the first one has the symbol hexmage_open_stand_in
}

// A machine is what differs between targets.
type machine struct {
	class elf.Class
	id    elf.Machine
	page  uint64 // alignment of segments
	code  string // a function that returns 1
}

// The code was made with LLVM's assembler; page sizes are the largest the system of the target uses.

func aarch64() machine {
	return machine{elf.ELFCLASS64, elf.EM_AARCH64, 0x4000, "\x20\x00\x80\x52\xc0\x03\x5f\xd6"} // mov w0, #1; ret
}

func x8664() machine {
	return machine{elf.ELFCLASS64, elf.EM_X86_64, 0x1000, "\xb8\x01\x00\x00\x00\xc3\xcc\xcc"} // mov eax, 1; ret
}

func hexagon() machine {
	return machine{elf.ELFCLASS32, qnn.MachineHexagon, 0x10000, "\xc0\x3f\x10\x48"} // { r0 = #1; jumpr r31 }
}

// elf returns the library's file.
func (l library) elf() []byte {
	return elffile.Library{
		Class: l.machine.class, Machine: l.machine.id, Flags: l.flags, Page: l.machine.page, Soname: path.Base(l.path),
		Texts: l.strings, Label: "hexmage_open_stand_in", Functions: l.functions, Code: l.machine.code, Comment: "hexmage simulated",
	}.Bytes()
}
