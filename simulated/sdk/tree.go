package sdk

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/qnn"
	devrunner "github.com/hexmage/hexmage/simulated/mllm/runner"
	"github.com/hexmage/hexmage/simulated/phone/cdsp"
)

// sources has the files of the trees, each once. A layout places each file.
//
//go:embed all:files
var sources embed.FS

// entries returns all files of a release, sorted by path, below its prefix.
func (r Release) entries(world *qnn.Facts) ([]entry, error) {
	t := &tree{world: world, values: strings.NewReplacer(
		"@BUILD_ID@", r.BuildID,
		"@VERSION@", r.Version,
		"@SHORT_VERSION@", shortVersion(r.Version),
		"@BUILD_NUMBER@", strings.TrimPrefix(r.BuildID, "v"+shortVersion(r.Version)+"."),
		"@CORE_API_DOTTED@", r.coreAPI,
		"@CORE_API@", strings.ReplaceAll(r.coreAPI, ".", ", "),
		"@HTP_API@", strings.ReplaceAll(r.htpAPI, ".", ", "),
		"@TOOLS@", r.tools,
		"@REVISION@", r.revision,
	)}
	switch r.Name {
	case "qairt":
		t.qairt(r)
	case "hexagon":
		t.hexagon(r)
	case "ndk":
		t.ndk()
	case "mllm":
		t.mllm()
	}
	if t.err != nil {
		return nil, t.err
	}
	slices.SortFunc(t.entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	for i := range t.entries {
		t.entries[i].path = r.Prefix + "/" + t.entries[i].path
	}
	return t.entries, nil
}

// shortVersion returns the first three fields: "2.41.0" of "2.41.0.251128".
func shortVersion(v string) string {
	f := strings.SplitN(v, ".", 4)
	return strings.Join(f[:min(3, len(f))], ".")
}

// A tree collects entries and the first error.
type tree struct {
	entries []entry
	world   *qnn.Facts
	values  *strings.Replacer
	err     error
}

func (t *tree) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *tree) add(name string, data []byte, mode fs.FileMode) {
	t.entries = append(t.entries, entry{name, data, mode})
}

// link adds a symbolic link. target is relative to the link's folder.
func (t *tree) link(name, target string) { t.add(name, []byte(target), fs.ModeSymlink|0o777) }

// copy adds a source file or all files of a source folder, below sdk/, with values filled in. A file that starts with
// "#!" becomes executable, because embedding keeps no modes.
func (t *tree) copy(to, from string, edits ...func(name, text string) string) {
	t.copyFrom(sources, path.Join("files", from), to, edits...)
}

// copyFrom is copy with the files below root of any file system.
func (t *tree) copyFrom(files fs.FS, root, to string, edits ...func(name, text string) string) {
	err := fs.WalkDir(files, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, p)
		if err != nil {
			return err
		}
		name := path.Join(to, strings.TrimPrefix(strings.TrimPrefix(p, root), "/"))
		text := t.values.Replace(string(data))
		for _, edit := range edits {
			text = edit(name, text)
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		t.add(name, []byte(text), mode)
		return nil
	})
	if err != nil {
		t.fail(fmt.Errorf("simulation sources: %w", err))
	}
}

func (t *tree) qairt(r Release) {
	t.copy("", "qairt", func(name, text string) string {
		if !r.old() || path.Base(name) != "tensor.h" {
			return text
		}
		return tensorNames.ReplaceAllString(text, "$0\n${1}get_$2")
	})
	for name, library := range r.libraries(t.world) {
		t.add(name, library, 0o644)
	}
}

// tensorNames matches members of Tensor that had a second name with get_ in front before SDK 2.34.
var tensorNames = lazyregexp.New(`(?m)^(.*)\b((?:interface_scale|interface_offset)\b.*)$`)

func (t *tree) hexagon(r Release) {
	tools := "tools/HEXAGON_Tools/" + r.tools + "/Tools"
	t.copy("", "hexagon/root")
	t.copy("libs", "hexagon/libs")
	t.copy("incs", "hexagon/incs")
	t.copy(tools+"/bin", "hexagon/tools/bin")
	t.link(tools+"/bin/hexagon-clang++", "hexagon-clang")
	t.copy(tools+"/libnative/include", "hexagon/tools/libnative/include")
	t.copy(tools+"/libnative/bin", "hexagon/tools/libnative/bin")
	t.add(tools+"/libnative/lib/libnative.a", emptyArchive(), 0o644)
	t.copy(tools+"/target/hexagon/include", "freestanding")
	for _, a := range r.arches(t.world) {
		t.copy("rtos/qurt/computev"+a+"/include", "hexagon/rtos")
	}
}

func (t *tree) ndk() {
	const prebuilt = "toolchains/llvm/prebuilt/linux-x86_64"
	t.copy("", "ndk/root")
	t.copy("build/cmake", "ndk/cmake")
	t.copy(prebuilt+"/bin", "ndk/bin")
	t.link(prebuilt+"/bin/clang++", "clang")
	for _, api := range []string{"21", "28", "30", "35"} {
		t.link(prebuilt+"/bin/aarch64-linux-android"+api+"-clang", "clang")
		t.link(prebuilt+"/bin/aarch64-linux-android"+api+"-clang++", "clang")
	}
	t.copy(prebuilt+"/sysroot/usr/include", "freestanding")
}

func (t *tree) mllm() {
	t.copy("", "mllm")
	mark := func(_, text string) string { return "// " + qnn.Simulated + "\n" + text }
	t.copyFrom(devrunner.Sources(), ".", "src/runner", mark)
	t.copyFrom(cdsp.Sources(), cdsp.Wire, "src/runner/"+cdsp.Wire, mark)
}

// emptyArchive returns an ar file without members. The simulation's mark is in its table of long names, which linkers
// ignore.
func emptyArchive() []byte {
	names := qnn.Simulated + "/\n\n" // members have an even length
	return fmt.Appendf(nil, "!<arch>\n%-48s%-10d`\n%s", "//", len(names), names)
}
