// Package check finds files that would fail on a device before they are pushed.
//
// Files finds wrong machines and archs, mixed SDKs, missing libraries, contexts that the runtime cannot load, and
// arguments that name missing files. The package applies the rules of package qnn and runs nothing.
package check

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/elffile"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/transport"
)

// Files checks the files of a run. The error lists files for another machine or arch, mixed QNN SDKs, and missing
// libraries. If dev is nil, Files does not look for libraries on the device.
func Files(ctx context.Context, q session.Request, want qnn.Target, dev transport.Device) error {
	c, err := examine(ctx, q, want, dev)
	if err != nil {
		return err
	}
	var all []error
	for _, m := range c.found {
		all = append(all, m)
	}
	return errors.Join(all...)
}

// Set describes the files that a run uses together on a device.
type Set struct {
	Builds   map[string][]string `json:"builds"`   // files by the build id of their QNN SDK
	Systems  []string            `json:"systems"`  // operating systems of the libraries: android, linux
	Contexts []string            `json:"contexts"` // context binaries
	Problems []*devinfo.Mismatch `json:"problems"`
	Warnings []qnn.Finding       `json:"warnings"` // possible problems
}

// Together runs those checks of [Files] that need no device, and describes the files.
func Together(ctx context.Context, files map[string]push.File, want qnn.Target) (*Set, error) {
	c, err := examine(ctx, session.Request{Files: files}, want, nil)
	if err != nil {
		return nil, err
	}
	s := &Set{Builds: c.builds, Systems: slices.Sorted(maps.Keys(c.systems)), Contexts: []string{}, Problems: c.found, Warnings: c.warned}
	for _, b := range c.binaries {
		s.Contexts = append(s.Contexts, b.Name)
	}
	return s, nil
}

func examine(ctx context.Context, q session.Request, want qnn.Target, dev transport.Device) (*checker, error) {
	c := &checker{want: want, bases: map[string]string{}, builds: map[string][]string{}, needed: map[string]string{}, systems: map[string][]string{}, found: []*devinfo.Mismatch{}, warned: []qnn.Finding{}}
	for p := range q.Files {
		c.bases[path.Base(p)] = p
	}
	for p := range q.Links {
		c.bases[path.Base(p)] = p
	}
	for _, p := range slices.Sorted(maps.Keys(q.Files)) {
		if err := c.file(p, q.Files[p]); err != nil {
			return nil, fmt.Errorf("check %s: %w", p, err)
		}
	}
	c.command(q)
	c.sdk()
	c.system()
	c.contextBinaries()
	c.lengths(q)
	c.htp()
	return c, c.libraries(ctx, dev)
}

// checker collects the facts and problems of a set of files.
type checker struct {
	want    qnn.Target
	bases   map[string]string   // base name to path of a pushed file or link
	builds  map[string][]string // build id to files
	needed  map[string]string   // library to the first file that needs it
	systems map[string][]string // operating system to files
	found   []*devinfo.Mismatch
	warned  []qnn.Finding

	binaries []qnn.ContextBinary
	graphs   []string // of the context binaries
}

// maxScan is the largest program or library that is checked, in bytes. A larger one is not expected.
const maxScan = 512 << 20

// maxContext is the checked length of a context binary, in bytes. Its description is at the beginning.
const maxContext = 25 << 20

// pointer is the beginning of the pointer file that Git LFS leaves in place of a large file.
const pointer = "version https://git-lfs.github.com/spec/"

func (c *checker) mismatch(file, remedy, format string, args ...any) {
	c.found = append(c.found, &devinfo.Mismatch{File: file, What: fmt.Sprintf(format, args...), Remedy: remedy})
}

func isLibrary(p string) bool {
	base := path.Base(p)
	return strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}

func (c *checker) file(p string, f push.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return err
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte(pointer)) {
		c.mismatch(p, "run `git lfs pull` in the file's repository, or download the file",
			"the file is a Git LFS pointer")
		return nil
	}
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		if isLibrary(p) {
			c.mismatch(p, "replace the file with the real library", "the library is not an ELF file")
		} else if strings.HasSuffix(p, ".json") && f.Size <= maxConfig {
			return c.config(p, io.MultiReader(bytes.NewReader(head), r))
		} else if len(head) >= 8 && qnnctx.Is(head) {
			rest, err := io.ReadAll(io.LimitReader(r, maxContext))
			if err != nil {
				return err
			}
			if info, err := qnnctx.Parse(bytes.NewReader(append(head, rest...)), f.Size); err == nil {
				c.contextBinary(p, info)
			}
		}
		return nil
	}
	if f.Size > maxScan {
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(r, maxScan))
	if err != nil {
		return err
	}
	c.elf(p, append(head, rest...))
	return nil
}

func (c *checker) elf(p string, b []byte) {
	e, err := elffile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		c.mismatch(p, "build or fetch the file again", "corrupt ELF file: %v", err)
		return
	}
	switch e.Machine {
	case qnn.MachineHexagon:
		c.hexagon(p, e)
	case elf.EM_AARCH64:
		d, err := e.Dynamic()
		if err != nil {
			c.mismatch(p, "build or fetch the file again", "corrupt dynamic section: %v", err)
		}
		for _, lib := range d.Needed {
			if _, seen := c.needed[lib]; !seen {
				c.needed[lib] = p
			}
		}
		interpreter, _ := e.Interpreter() // an error is ignored: the dynamic section is enough
		if system := qnn.System(e.Machine, interpreter, d.Needed); system != "" {
			c.systems[system] = append(c.systems[system], p)
		}
	default:
		c.mismatch(p, "push the build for the device (aarch64-android)", "is built for %v, but devices run AArch64 "+
			"and Hexagon code", e.Machine)
		return
	}
	if isLibrary(p) {
		id, err := buildid.First(bytes.NewReader(b))
		if id, _, _ = strings.Cut(id, "_"); err == nil && id != "" { // some builds append a number
			c.builds[id] = append(c.builds[id], p)
		}
	}
}

// hexagon compares the arch in the ELF header's flags with the target's.
func (c *checker) hexagon(p string, e *elffile.File) {
	if e.Class != elf.ELFCLASS32 {
		c.mismatch(p, "build the file again", "the Hexagon file is not a 32-bit ELF")
		return
	}
	if arch := qnn.HexagonArch(e.Flags); c.want.Arch != "" && arch != c.want.Arch {
		c.mismatch(p, "push the build for "+c.want.Arch, "is built for Hexagon %s, but the device has %s",
			arch, c.want.Arch)
	}
}

// sdk checks that all libraries come from one QNN SDK.
func (c *checker) sdk() {
	var files []qnn.File
	for _, id := range slices.Sorted(maps.Keys(c.builds)) {
		for _, p := range c.builds[id] {
			files = append(files, qnn.File{Name: p, BuildID: id})
		}
	}
	for _, f := range qnn.PushSet(files, c.want.Arch) {
		c.mismatch("", f.Remedy, "%s", f.Reason)
	}
}

// system checks that all files are for one operating system.
func (c *checker) system() {
	if android, linux := c.systems[qnn.Android], c.systems[qnn.Linux]; len(android) > 0 && len(linux) > 0 {
		c.mismatch("", "push only the libraries in the SDK's folder for the device's system",
			"contains libraries for Android "+
				"(%s) and for Linux (%s), and neither system loads the libraries of the other", few(android), few(linux))
	}
}

// few returns a short list of names for a message.
func few(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:2], ", ") + fmt.Sprintf(" and %d more", len(names)-2)
	}
	return strings.Join(names, ", ")
}

// contextBinaries checks that the target and the pushed runtime can load the context binaries.
func (c *checker) contextBinaries() {
	run := qnn.Runtime{Target: c.want}
	for id, files := range c.builds {
		if slices.ContainsFunc(files, func(p string) bool { return path.Base(p) == "libQnnHtp.so" }) {
			run.BuildID = id
		}
	}
	for _, x := range c.binaries {
		for _, f := range qnn.CheckContext(x, run) {
			if f.Severity != qnn.SeverityError {
				c.warned = append(c.warned, f)
				continue
			}
			c.mismatch("", f.Remedy, "%s", f.Reason) // the reason names the file
		}
	}
}

// contextBinary keeps the description of a context binary.
func (c *checker) contextBinary(p string, info qnnctx.Info) {
	c.binaries = append(c.binaries, info.Binary(p))
	for _, g := range info.Graphs {
		c.graphs = append(c.graphs, g.Name)
	}
}

// htp checks that the libraries that QNN's HTP backend opens by name are pushed.
func (c *checker) htp() {
	at, ok := c.bases["libQnnHtp.so"]
	if !ok || c.want.Arch == "" {
		return
	}
	v := strings.ToUpper(c.want.Arch)
	for _, need := range []string{"libQnnSystem.so", "libQnnHtp" + v + "Stub.so", "libQnnHtp" + v + "Skel.so"} {
		if _, ok := c.bases[need]; !ok {
			c.mismatch(at, "add "+need+" of the same SDK to the push set", "opens %s, which is not in the push set",
				need)
		}
	}
}

// libraries asks the device for needed libraries that are not pushed.
func (c *checker) libraries(ctx context.Context, dev transport.Device) error {
	var absent []string
	for lib := range c.needed {
		if _, ok := c.bases[lib]; !ok && path.Base(lib) == lib {
			absent = append(absent, lib)
		}
	}
	if len(absent) == 0 || dev == nil {
		return nil
	}
	slices.Sort(absent)
	out, err := transport.Output(ctx, dev, librariesScript, strings.NewReader(strings.Join(absent, "\n")+"\n"))
	if err != nil {
		return fmt.Errorf("cannot list the libraries of the device: %w", err)
	}
	for lib := range strings.Lines(out) {
		lib = strings.TrimSpace(lib)
		if p, ok := c.needed[lib]; ok && qnn.Glibc(lib) {
			c.mismatch(p, "push the build for Android (aarch64-android)", "is built for Linux, but the device runs "+
				"Android and has no %s", lib)
		} else if ok {
			c.mismatch(p, "add this library to the push set",
				"needs %s, which is neither in the push set nor on the device", lib)
		}
	}
	return nil
}

// Input: names of libraries. Output: the names that the device does not have.
const librariesScript = `while read -r l; do
	for d in /system/lib64 /vendor/lib64 /odm/lib64 /apex/com.android.runtime/lib64/bionic /apex/com.android.art/lib64 /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu /lib /lib64 /usr/lib /usr/lib64; do
		[ -e "$d/$l" ] && continue 2
	done
	echo "$l"
done
exit 0`

// command checks that the program and the files in its arguments are pushed.
func (c *checker) command(q session.Request) {
	if len(q.Args) == 0 || strings.HasPrefix(q.Args[0], "/") {
		return
	}
	p := path.Clean(q.Args[0])
	if !has(q, p) {
		if strings.Contains(q.Args[0], "/") {
			c.mismatch(p, "add the program to push. Pushed files: "+pushedFiles(q), "the program is not in the push set")
		}
		return // a command of the device: hexmage does not know its arguments
	}
	for flag, value := range arguments(q.Args[1:]) {
		p, ok := fileName(value)
		if !ok || writes(flag) || has(q, p) {
			continue
		}
		c.mismatch(p, "add the file to push, or to pull if the program writes the file. Pushed files: "+pushedFiles(q), ""+
			"the command names this file (%s), which is neither in the push set nor in pull",
			strings.TrimSpace(flag+" "+value))
	}
}

// arguments yields each argument with its flag, which may be "". It splits "-m", "model.bin" and "--model=model.bin".
func arguments(args []string) func(yield func(flag, value string) bool) {
	return func(yield func(flag, value string) bool) {
		flag := ""
		for _, a := range args {
			if strings.HasPrefix(a, "-") {
				name, value, ok := strings.Cut(a, "=")
				if flag = name; !ok {
					continue
				}
				a = value
			}
			if !yield(flag, a) {
				return
			}
			flag = ""
		}
	}
}

// fileName returns the path in the run's folder that an argument names, if it looks like a data file of a runner. It
// is strict: to miss a file is better than to refuse a run because of another word.
func fileName(value string) (string, bool) {
	value = strings.TrimPrefix(value, "$HEXMAGE_ROOT/")
	if !regexp.MustCompile(`^[\w.+-]+(/[\w.+-]+)*\.(bin|json|mllm|so|raw|dlc|model|vocab|merges|txt|gguf|safetensors|onnx|npy|yaml|serialized)$`).MatchString(value) {
		return "", false
	}
	p := path.Clean(value)
	return p, !strings.HasPrefix(p, "../")
}

// writes reports whether a flag names an output of the program.
func writes(flag string) bool {
	name := strings.ToLower(strings.TrimLeft(flag, "-"))
	return name == "o" || slices.ContainsFunc([]string{"out", "log", "save", "dump", "write", "trace", "prof", "result"}, func(w string) bool { return strings.Contains(name, w) })
}

// has reports whether a path of the run's folder exists before the program runs, or is an output.
func has(q session.Request, p string) bool {
	if _, ok := q.Files[p]; ok {
		return true
	}
	for at := p; at != "."; at = path.Dir(at) {
		if _, ok := q.Links[at]; ok || slices.Contains(q.Pull, at) {
			return true
		}
	}
	return false
}

// pushedFiles returns a short list of the pushed files for a message.
func pushedFiles(q session.Request) string {
	const most = 12
	names := slices.Sorted(maps.Keys(q.Files))
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// lengths checks that the contexts have graphs of the length in --ar_len. mllm compiles a graph for prefill and one
// for decoding, and names them model.0.s32 and model.0.s1.
func (c *checker) lengths(q session.Request) {
	var have []int
	for _, g := range c.graphs {
		if _, s, ok := strings.Cut(path.Ext(g), ".s"); ok {
			if n, err := strconv.Atoi(s); err == nil && n > 0 && !slices.Contains(have, n) {
				have = append(have, n)
			}
		}
	}
	if len(have) == 0 {
		return
	}
	slices.Sort(have)
	for flag, value := range arguments(q.Args) {
		if flag != "--ar_len" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err == nil && !slices.Contains(have, n) {
			c.mismatch("", fmt.Sprintf("set --ar_len to one of %s, or compile the context for %d",
				strings.Trim(fmt.Sprint(have), "[]"), n),
				"--ar_len %d: the context has no graph of this length. Available: %s",
				n, strings.Trim(fmt.Sprint(have), "[]"))
		}
	}
}

// maxConfig is the largest file that is checked for settings of the backend, in bytes.
const maxConfig = 1 << 20

// config checks settings in a JSON file against the target. It knows QNN's backend extensions (devices[].soc_model,
// dsp_arch, graphs[].vtcm_mb) and mllm's compiler (target_machine.htp_arch, htp_chipset, htp_vtcm_capability_in_mb).
// It skips other files.
func (c *checker) config(p string, r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, maxConfig))
	if err != nil {
		return err
	}
	var v any
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	c.settings(p, "", v)
	return nil
}

// settings walks through a value. The JSON decoder bounds its depth.
func (c *checker) settings(p, at string, v any) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			c.settings(p, fmt.Sprintf("%s[%d]", at, i), e)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := strings.TrimPrefix(at+"."+key, ".")
			c.setting(p, name, key, v[key])
			c.settings(p, name, v[key])
		}
	}
}

// setting checks one setting.
func (c *checker) setting(p, name, key string, v any) {
	text, _ := v.(string)
	number, isNumber := v.(float64)
	switch key {
	case "dsp_arch", "htp_arch":
		if arch := strings.ToLower(text); c.want.Arch != "" && strings.HasPrefix(arch, "v") && arch != c.want.Arch {
			c.mismatch(p, fmt.Sprintf("set the value to %q, or choose the target of the file",
				c.want.Arch), "%s is %q, but the target has Hexagon %s", name, text, c.want.Arch)
		}
	case "htp_chipset":
		if soc := strings.ToUpper(text); c.want.SoC != "" && strings.HasPrefix(soc, "S") && soc != strings.ToUpper(c.want.SoC) {
			c.mismatch(p, fmt.Sprintf("set the value to %q, or choose the target of the file",
				c.want.SoC), "%s is %q, but the target is %s", name, text, c.want.SoC)
		}
	case "soc_model", "soc_id":
		if model := float64(c.want.SoCModel); isNumber && model > 0 && number != model && number != 0 {
			c.mismatch(p, fmt.Sprintf("set the value to %d, QNN's number for %s; Android's soc_id is another number",
				c.want.SoCModel, c.want.SoC), "%s is %v, but the target's soc_model is %d",
				name, number, c.want.SoCModel)
		}
	case "vtcm_mb", "htp_vtcm_capability_in_mb":
		if most := float64(c.want.VTCMMB); isNumber && most > 0 && number > most {
			c.mismatch(p, fmt.Sprintf("set the value to %d or less",
				c.want.VTCMMB), "%s is %v, but the target has %d MB of VTCM", name, number, c.want.VTCMMB)
		}
	}
}
