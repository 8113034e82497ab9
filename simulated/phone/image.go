package phone

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hexmage/hexmage/simulated/phone/linux"
)

// Image says what a device consists of. Paths are of the host.
type Image struct {
	Busybox      string   // static, for the machine that runs the simulated phone: it is the device's shell and tools
	QemuAArch64  string   // static qemu-aarch64
	QemuHexagon  string   // static qemu-hexagon
	FastRPCShell string   // static Hexagon program that serves one DSP connection; empty: the device has no DSP
	Linux        Linux    // the zero value: the device runs only static programs for AArch64
	SoC          SoCProps //
}

// Linux is what a device has for programs of arm64 Linux.
type Linux struct {
	Root    string `json:"root"`    // tree of the distribution's libraries
	Cdsprpc string `json:"cdsprpc"` // libcdsprpc.so, by which such programs reach the DSP
	Load    string `json:"load"`    // qnn-load
}

// SoCProps is what the device says it is.
type SoCProps struct {
	Model    string `arg:"soc" json:"model"`           // "SM8750"
	SoCModel int    `arg:"soc_model" json:"soc_model"` // QNN's number: 69
	Arch     string `arg:"arch" json:"arch"`           // "v79"
	SoCID    int    `arg:"soc_id" json:"soc_id"`       // the kernel's number: 618
	VTCMMB   int    `arg:"vtcm_mb" json:"vtcm_mb"`     // 8
}

// Paths of an image folder. What is below hiddenDir is the simulated phone's own and not part of the device.
const (
	hiddenDir   = ".simulated"
	imageFile   = hiddenDir + "/image.json"
	qemuAArch64 = "qemu-aarch64-static"
	qemuHexagon = "qemu-hexagon-static"
	shellPath   = "dsp/fastrpc_shell_3"
	rpcFolder   = "odm" // has libcdsprpc.so alone, so that it can be hidden
)

// scripts are those of the device that busybox does not have.
//
//go:embed files
var scripts embed.FS

// skewed has functions that the shells of a device with a wrong clock begin with. They, and adbd, add CLOCK_SKEW to every time that they tell,
// and take it from every time that they are told; what the kernel writes down by itself is the host's time, so that all of it agrees.
// Programs that ask the kernel see the host's clock: none can be set in a namespace. They are functions because busybox prefers its own
// commands to those of the search path.
const skewed = "system/etc/skewed"

// BuildImage writes the image folder dir, which must not exist or be empty. The same Image gives the same files.
func BuildImage(ctx context.Context, dir string, m Image) error {
	if err := m.build(ctx, dir); err != nil {
		return fmt.Errorf("phone image %s: %w", dir, err)
	}
	return nil
}

func (m Image) build(ctx context.Context, dir string) error {
	if err := m.SoC.check(); err != nil {
		return err
	}
	if old, err := os.ReadDir(dir); err == nil && len(old) > 0 {
		return errors.New("the folder is not empty")
	}
	b := &builder{dir: dir}
	b.copy("system/bin/busybox", m.Busybox, 0o755)
	b.copy(hiddenDir+"/"+qemuAArch64, m.QemuAArch64, 0o755)
	b.copy(hiddenDir+"/"+qemuHexagon, m.QemuHexagon, 0o755)
	if m.FastRPCShell != "" {
		b.copy(shellPath, m.FastRPCShell, 0o755)
	}
	b.linux(m.Linux)
	b.own("system/bin/getprop", 0o755)
	b.own("system/bin/logcat", 0o755)
	b.own(skewed, 0o644)
	b.write("system/build.prop", strings.Join(m.SoC.properties(), "\n")+"\n", 0o644)
	b.write("vendor/etc/open_soc", m.SoC.openSoC(), 0o644)
	libs := vendorLibraries(m.SoC.Arch, vendorQNN)
	for _, name := range sortedKeys(libs) {
		b.write(name, string(libs[name]), 0o644)
	}
	b.link("bin", "system/bin")
	b.link("etc", "system/etc")
	b.write("system/etc/hosts", "127.0.0.1 localhost\n", 0o644)
	if b.err != nil {
		return b.err
	}
	applets, err := listApplets(ctx, m.Busybox)
	if err != nil {
		return err
	}
	for _, a := range applets {
		if _, err := os.Lstat(filepath.Join(dir, "system/bin", a)); err == nil {
			continue // our own
		}
		b.link("system/bin/"+a, "busybox")
	}
	info, err := json.MarshalIndent(m.SoC, "", "  ")
	if err != nil {
		return err
	}
	b.write(imageFile, string(info)+"\n", 0o644)
	return b.err
}

// ReadSoC returns what the device of an image folder will say it is.
func ReadSoC(dir string) (SoCProps, error) {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(imageFile)))
	if err != nil {
		return SoCProps{}, fmt.Errorf("%s is not a phone image (BuildImage makes them): %w", dir, err)
	}
	var s SoCProps
	if err := json.Unmarshal(b, &s); err != nil {
		return SoCProps{}, fmt.Errorf("phone image %s: %s: %w", dir, imageFile, err)
	}
	return s, s.check()
}

func (s SoCProps) check() error {
	if s.Model == "" || len(s.Arch) != 3 || s.Arch[0] != 'v' || strings.Trim(s.Arch[1:], "0123456789") != "" {
		return fmt.Errorf("soc %q, arch %q: want for example SM8750 and v79", s.Model, s.Arch)
	}
	if strings.ContainsAny(s.Model, "\n=;") {
		return fmt.Errorf("soc %q: a model has no line ends, '=' or ';'", s.Model)
	}
	return nil
}

// listApplets asks busybox which commands it has.
func listApplets(ctx context.Context, busybox string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, busybox, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --list: %w", busybox, err)
	}
	var names []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if name != "" && !strings.Contains(name, "/") && name != "." && name != ".." {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, need := range []string{"sh", "ls", "cat", "mkdir", "mv", "ln", "cp", "rm", "chmod", "stat", "sha256sum", "find", "kill"} {
		if !bytes.Contains(out, []byte(need+"\n")) {
			return nil, fmt.Errorf("%s has no applet %q: use a full busybox, for example Debian's busybox-static", busybox, need)
		}
	}
	return names, nil
}

// builder writes files and remembers the first error.
type builder struct {
	dir string
	err error
}

func (b *builder) path(name string) string {
	p := filepath.Join(b.dir, filepath.FromSlash(name))
	if b.err == nil {
		b.err = os.MkdirAll(filepath.Dir(p), 0o755)
	}
	return p
}

func (b *builder) write(name, content string, mode os.FileMode) {
	p := b.path(name)
	if b.err == nil {
		b.err = os.WriteFile(p, []byte(content), mode)
	}
	if b.err == nil {
		b.err = os.Chmod(p, mode) // whatever the umask is
	}
}

// own writes one of the device's own files, which is called as in scripts.
func (b *builder) own(name string, mode os.FileMode) {
	text, err := scripts.ReadFile("files/" + path.Base(name))
	if b.err == nil {
		b.err = err
	}
	b.write(name, string(text), mode)
}

func (b *builder) link(name, target string) {
	p := b.path(name)
	if b.err == nil {
		b.err = os.Symlink(target, p)
	}
}

// linux adds what programs of arm64 Linux need.
func (b *builder) linux(l Linux) {
	if l == (Linux{}) {
		return
	}
	libs := linux.Libraries()
	for _, name := range sortedKeys(libs) {
		b.copy(path.Join(linux.Folder, name), filepath.Join(l.Root, filepath.FromSlash(libs[name])), 0o755)
	}
	b.link(linux.Loader, linux.LoaderTo)
	b.copy(rpcFolder+"/lib64/"+linux.Library, l.Cdsprpc, 0o755)
	b.link(path.Join(linux.Folder, linux.Library), "../../"+rpcFolder+"/lib64/"+linux.Library)
	b.copy("vendor/bin/"+linux.Program, l.Load, 0o755)
}

// copy copies a host file.
func (b *builder) copy(name, from string, mode os.FileMode) {
	p := b.path(name)
	if b.err != nil {
		return
	}
	if from == "" {
		b.err = fmt.Errorf("no host file was given for %s", name)
		return
	}
	b.err = copyFile(p, from, mode)
}

func copyFile(to, from string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", from)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return errors.Join(out.Chmod(mode), out.Close())
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
