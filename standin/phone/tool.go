package phone

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
)

// ImageToolVersion is the behaviour version of the tool emulator-image.
const ImageToolVersion = "4"

// ImageTool is the tool emulator-image: it puts the image of an emulated phone together.
func ImageTool(ctx context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
	f := flag.NewFlagSet("emulator-image", flag.ContinueOnError)
	f.SetOutput(stderr)
	var m Image
	f.StringVar(&m.SoC.Model, "soc", "", "name of the SoC, such as SM8750")
	f.StringVar(&m.SoC.Arch, "arch", "", "Hexagon arch, such as v79")
	f.IntVar(&m.SoC.SoCModel, "soc_model", 0, "QNN's number of the SoC")
	f.IntVar(&m.SoC.SoCID, "soc_id", 0, "the kernel's number of the SoC")
	f.IntVar(&m.SoC.VTCMMB, "vtcm_mb", 0, "VTCM in MB")
	f.StringVar(&m.Busybox, "busybox", "", "static busybox")
	qemu := f.String("qemu", "", "folder with qemu-aarch64-static and qemu-hexagon-static")
	f.StringVar(&m.FastRPCShell, "dsp", "", "the DSP's protection domain, compiled")
	out := f.String("out", "", "folder to write")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *out == "" || *qemu == "" || m.Busybox == "" {
		fmt.Fprintln(stderr, "emulator-image: --out, --qemu and --busybox are needed")
		return 2
	}
	m.QemuAArch64 = filepath.Join(*qemu, "qemu-aarch64-static")
	m.QemuHexagon = filepath.Join(*qemu, "qemu-hexagon-static")
	if err := BuildImage(ctx, *out, m); err != nil {
		fmt.Fprintln(stderr, "emulator-image:", err)
		return 1
	}
	return 0
}
