package phone

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
)

// Tool is the name of the tool that puts the image of an emulated phone together, and its behaviour version.
const Tool tool.Name[Spec] = "emulator-image/4"

// Spec says which image to make.
type Spec struct {
	SoC     SoCProps `json:"soc"`
	Busybox string   `json:"busybox"` // static busybox
	Qemu    string   `json:"qemu"`    // folder with qemu-aarch64-static and qemu-hexagon-static
	DSP     string   `json:"dsp"`     // the DSP's protection domain, compiled
	Out     string   `json:"out"`     // folder to write
}

// RunTool is the tool.
func RunTool(ctx context.Context, s Spec, _ tool.Env) error {
	if s.Out == "" || s.Qemu == "" || s.Busybox == "" {
		return errors.New("out, qemu and busybox are needed")
	}
	return BuildImage(ctx, s.Out, Image{SoC: s.SoC, Busybox: s.Busybox, FastRPCShell: s.DSP,
		QemuAArch64: filepath.Join(s.Qemu, "qemu-aarch64-static"), QemuHexagon: filepath.Join(s.Qemu, "qemu-hexagon-static")})
}
