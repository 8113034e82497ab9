package phone

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/simulated/phone/linux"
)

// Tool is the name and version of the tool that writes a simulated phone's image.
const Tool tool.Name[Image] = "phone-image/6"

// Image describes a simulated phone. Paths are on the host.
type Image struct {
	SoC          SoCProps `json:"soc"`
	Busybox      string   `json:"busybox"`         // static busybox for the host's machine: the phone's shell and tools
	Qemu         string   `json:"qemu"`            // folder with qemu-aarch64-static and qemu-hexagon-static
	FastRPCShell string   `json:"dsp"`             // static program that serves one DSP connection; empty: no DSP
	Linux        *Linux   `json:"linux,omitempty"` // nil: the device runs only static programs for AArch64
	Out          string   `json:"out"`             // output folder
}

// Linux holds the device's files for arm64 Linux programs.
type Linux struct {
	Root    string `json:"root"`    // tree with the distribution's libraries
	Cdsprpc string `json:"cdsprpc"` // path of libcdsprpc.so, which connects arm64 Linux programs to the DSP
	Load    string `json:"load"`    // path of qnn-load
}

// SoCProps are the properties of the device's SoC.
type SoCProps struct {
	Model    string `arg:"soc" json:"model"`           // "SM8750"
	SoCModel int    `arg:"soc_model" json:"soc_model"` // QNN's number: 69
	Arch     string `arg:"arch" json:"arch"`           // "v79"
	SoCID    int    `arg:"soc_id" json:"soc_id"`       // the kernel's number: 618
	VTCMMB   int    `arg:"vtcm_mb" json:"vtcm_mb"`     // 8
}

// Paths of an image folder. Files below hiddenDir belong to the simulated phone and are hidden from the device.
const (
	hiddenDir   = ".simulated"
	imageFile   = hiddenDir + "/image.json"
	qemuAArch64 = "qemu-aarch64-static"
	qemuHexagon = "qemu-hexagon-static"
	shellPath   = "dsp/fastrpc_shell_3"
	rpcFolder   = "odm" // has only libcdsprpc.so, so that it can be hidden
)

// scripts are the device's commands that busybox does not have.
//
//go:embed files
var scripts embed.FS

// RunTool writes an image. Equal Images produce equal files.
func RunTool(ctx context.Context, m Image, _ tool.Env) error {
	if err := m.build(ctx); err != nil {
		return fmt.Errorf("phone image %s: %w", m.Out, err)
	}
	return nil
}

func (m Image) build(ctx context.Context) error {
	if err := m.SoC.check(); err != nil {
		return err
	}
	applets, err := exec.CommandContext(ctx, m.Busybox, "--list").Output()
	if err != nil {
		return fmt.Errorf("%s --list: %w", m.Busybox, err)
	}
	info, err := json.Marshal(m.SoC)
	if err != nil {
		return err
	}
	b := &builder{dir: m.Out}
	b.copy("system/bin/busybox", m.Busybox, 0o755)
	for _, name := range []string{qemuAArch64, qemuHexagon} {
		b.copy(hiddenDir+"/"+name, filepath.Join(m.Qemu, name), 0o755)
	}
	if m.FastRPCShell != "" {
		b.copy(shellPath, m.FastRPCShell, 0o755)
	}
	for _, name := range []string{"getprop", "logcat"} {
		text, err := scripts.ReadFile("files/" + name)
		b.write("system/bin/"+name, string(text), 0o755)
		b.err = errors.Join(b.err, err)
	}
	b.linux(m.Linux)
	b.write("system/build.prop", strings.Join(m.SoC.properties(), "\n")+"\n", 0o644)
	b.write("vendor/etc/open_soc", m.SoC.openSoC(), 0o644)
	for name, library := range vendorLibraries(m.SoC.Arch) {
		b.write(name, string(library), 0o644)
	}
	b.link("bin", "system/bin")
	b.link("etc", "system/etc")
	b.write("system/etc/hosts", "127.0.0.1 localhost\n", 0o644)
	for name := range strings.FieldsSeq(string(applets)) {
		b.link("system/bin/"+name, "busybox")
	}
	b.write(imageFile, string(info), 0o644)
	return b.err
}

// ReadSoC returns the SoC properties in an image folder.
func ReadSoC(dir string) (SoCProps, error) {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(imageFile)))
	if err != nil {
		return SoCProps{}, fmt.Errorf("%s is not a phone image: %w", dir, err)
	}
	var s SoCProps
	if err := json.Unmarshal(b, &s); err != nil {
		return SoCProps{}, fmt.Errorf("phone image %s: %s: %w", dir, imageFile, err)
	}
	return s, s.check()
}

func (s SoCProps) check() error {
	if s.Model == "" || len(s.Arch) != 3 || s.Arch[0] != 'v' || strings.Trim(s.Arch[1:], "0123456789") != "" {
		return fmt.Errorf("invalid soc %q or arch %q: use values such as SM8750 and v79", s.Model, s.Arch)
	}
	if strings.ContainsAny(s.Model, "\n=;") {
		return fmt.Errorf("invalid soc %q: remove line ends, '=' and ';'", s.Model)
	}
	return nil
}

// builder writes files and keeps the first error.
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

// link makes a symbolic link, unless the file exists.
func (b *builder) link(name, target string) {
	p := b.path(name)
	if b.err == nil {
		if err := os.Symlink(target, p); !errors.Is(err, fs.ErrExist) {
			b.err = err
		}
	}
}

// copy copies a host file.
func (b *builder) copy(name, from string, mode os.FileMode) {
	content, err := os.ReadFile(from)
	if b.err == nil {
		b.err = err
	}
	b.write(name, string(content), mode)
}

// linux adds the files for programs of arm64 Linux.
func (b *builder) linux(l *Linux) {
	if l == nil {
		return
	}
	for name, from := range linux.Libraries() {
		b.copy(path.Join(linux.Folder, name), filepath.Join(l.Root, filepath.FromSlash(from)), 0o755)
	}
	b.link(linux.Loader, linux.LoaderTo)
	b.copy(rpcFolder+"/lib64/"+linux.Library, l.Cdsprpc, 0o755)
	b.link(path.Join(linux.Folder, linux.Library), "../../"+rpcFolder+"/lib64/"+linux.Library)
	b.copy("vendor/bin/"+linux.Program, l.Load, 0o755)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
