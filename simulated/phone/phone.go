package phone

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// platform is what Android calls the board of a SoC: the code name of its kernel's tree, as far as it is well known.
func (s SoCProps) platform() string {
	for platform, socs := range map[string][]string{
		"lahaina": {"SM8350", "SM7325"}, "taro": {"SM8450", "SM8475", "SM7450"}, "kalama": {"SM8550", "QCS8550"}, "pineapple": {"SM8650"},
		"sun": {"SM8750"}, "canoe": {"SM8850"}, "kona": {"SM8250"}, "lito": {"SM7250", "SM6350"},
	} {
		if slices.Contains(socs, s.Model) {
			return platform
		}
	}
	return strings.ToLower(s.Model)
}

// properties are those of the image, sorted; what differs from start to start comes on top of them.
func (s SoCProps) properties() []string {
	return []string{
		"ro.board.platform=" + s.platform(),
		"ro.build.characteristics=default",
		"ro.build.fingerprint=hexmage/hexmage_simulated_phone/hexmage_simulated_phone:15/HEXMAGE/" + s.Model + ":userdebug/test-keys",
		"ro.build.id=HEXMAGE",
		"ro.build.type=userdebug",
		"ro.build.version.release=15",
		"ro.build.version.sdk=35",
		"ro.hardware=qcom",
		"ro.product.board=" + s.platform(),
		"ro.product.brand=hexmage",
		"ro.product.cpu.abi=arm64-v8a",
		"ro.product.cpu.abilist=arm64-v8a",
		"ro.product.device=hexmage_simulated_phone",
		"ro.product.manufacturer=hexmage",
		"ro.product.model=" + s.productModel(),
		"ro.product.name=hexmage_simulated_phone",
		"ro.soc.manufacturer=QTI",
		"ro.soc.model=" + s.Model,
	}
}

func (s SoCProps) productModel() string { return "hexmage simulated phone " + s.Model + " " + s.Arch }

// openSoC is the file by which the simulation's programs know what their device is.
func (s SoCProps) openSoC() string {
	return fmt.Sprintf("arch=%s\nsoc=%s\nsoc_model=%d\nsoc_id=%d\nvtcm_mb=%d\n", s.Arch, s.Model, s.SoCModel, s.SoCID, s.VTCMMB)
}

// Tool is the name of the tool that puts the image of a simulated phone together, and its behaviour version.
const Tool tool.Name[Spec] = "phone-image/5"

// Spec says which image to make.
type Spec struct {
	SoC     SoCProps `json:"soc"`
	Busybox string   `json:"busybox"` // static busybox
	Qemu    string   `json:"qemu"`    // folder with qemu-aarch64-static and qemu-hexagon-static
	DSP     string   `json:"dsp"`     // the DSP's protection domain, compiled
	Linux   *Linux   `json:"linux,omitempty"`
	Out     string   `json:"out"` // folder to write
}

// RunTool is the tool.
func RunTool(ctx context.Context, s Spec, _ tool.Env) error {
	if s.Out == "" || s.Qemu == "" || s.Busybox == "" {
		return errors.New("out, qemu and busybox are needed")
	}
	m := Image{SoC: s.SoC, Busybox: s.Busybox, FastRPCShell: s.DSP,
		QemuAArch64: filepath.Join(s.Qemu, "qemu-aarch64-static"), QemuHexagon: filepath.Join(s.Qemu, "qemu-hexagon-static")}
	if s.Linux != nil {
		m.Linux = *s.Linux
	}
	return BuildImage(ctx, s.Out, m)
}

// ambient is the temperature of the device's surroundings in °C.
const ambient = 30.0

// zones returns the names of the device's temperature sensors.
func zones() []string {
	return []string{"cpu-0-0-0", "cpu-1-0-0", "gpuss-0", "nsphvx-0", "nsphmx-0", "ddr", "skin-msm-therm", "battery"}
}

// Build ids of the QNN libraries that the device's vendor has put on it. They are made up, so that they are those of no SDK: what is pushed
// never agrees with them by chance, as it seldom does on a phone.
const (
	vendorQNN      = "v2.28.0.241101000000_100000"
	olderVendorQNN = "v2.20.0.240301000000_100000"
)

func checkBuildID(id string) error {
	if !buildid.Valid(id) {
		return fmt.Errorf("%q is no build id: want one such as %s", id, olderVendorQNN)
	}
	return nil
}

// vendorLibraries returns the vendor's QNN libraries by their paths on the device. They are ELF files that say what they are, and nothing else.
func vendorLibraries(arch, buildID string) map[string][]byte {
	number := strings.TrimPrefix(arch, "v")
	phone := elffile.Library{Class: elf.ELFCLASS64, Machine: elf.EM_AARCH64, Page: 0x4000}
	dsp := elffile.Library{Class: elf.ELFCLASS32, Machine: qnn.MachineHexagon, Flags: qnn.HexagonFlags(arch), Page: 0x10000}
	libs := map[string][]byte{}
	for at, l := range map[string]elffile.Library{
		"vendor/lib64/libQnnHtp.so": phone, "vendor/lib64/libQnnHtpV" + number + "Stub.so": phone, "vendor/lib64/libQnnSystem.so": phone,
		"vendor/dsp/cdsp/libQnnHtpV" + number + "Skel.so": dsp,
	} {
		l.Soname, l.Label, l.Comment = path.Base(at), "hexmage_simulated_phone", "hexmage simulated phone"
		l.Texts = []string{"hexmage simulated phone: in the place of a vendor's " + l.Soname + "; no vendor code, does nothing", buildID}
		libs[at] = l.Bytes()
	}
	return libs
}
