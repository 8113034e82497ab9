package phone

import (
	"debug/elf"
	"fmt"
	"path"
	"strings"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/elffile"
)

// properties returns the image's properties. A boot adds properties to them.
func (s SoCProps) properties() []string {
	return []string{
		"ro.build.fingerprint=hexmage/hexmage_simulated_phone/hexmage_simulated_phone:15/HEXMAGE/" + s.Model + ":userdebug/test-keys",
		"ro.build.version.release=15",
		"ro.build.version.sdk=35",
		"ro.hardware=qcom",
		"ro.product.cpu.abi=arm64-v8a",
		"ro.product.model=" + s.productModel(),
		"ro.soc.manufacturer=QTI",
		"ro.soc.model=" + s.Model,
	}
}

func (s SoCProps) productModel() string { return "hexmage simulated phone " + s.Model + " " + s.Arch }

// openSoC returns the file by which the simulation's programs recognize the device.
func (s SoCProps) openSoC() string {
	return fmt.Sprintf("arch=%s\nsoc=%s\nsoc_model=%d\nsoc_id=%d\nvtcm_mb=%d\n", s.Arch, s.Model, s.SoCModel, s.SoCID, s.VTCMMB)
}

// ambient is the temperature of the device's surroundings in °C.
const ambient = 30.0

// zones returns the names of the device's temperature sensors.
func zones() []string {
	return []string{"cpu-0-0-0", "cpu-1-0-0", "gpuss-0", "nsphvx-0", "nsphmx-0", "ddr", "skin-msm-therm", "battery"}
}

// vendorLibraries returns the QNN libraries of the phone's maker, by their paths on the device. They are ELF files
// that name themselves and do nothing. Their build id is made up, so that it differs from the id of pushed libraries,
// as on most phones.
func vendorLibraries(arch string) map[string][]byte {
	number := strings.TrimPrefix(arch, "v")
	phone := elffile.Library{Class: elf.ELFCLASS64, Machine: elf.EM_AARCH64, Page: 0x4000}
	dsp := elffile.Library{Class: elf.ELFCLASS32, Machine: qnn.MachineHexagon, Flags: qnn.HexagonFlags(arch), Page: 0x10000}
	libs := map[string][]byte{}
	for at, l := range map[string]elffile.Library{
		"vendor/lib64/libQnnHtp.so": phone, "vendor/lib64/libQnnHtpV" + number + "Stub.so": phone, "vendor/lib64/libQnnSystem.so": phone,
		"vendor/dsp/cdsp/libQnnHtpV" + number + "Skel.so": dsp,
	} {
		l.Soname, l.Label, l.Comment = path.Base(at), "hexmage_simulated_phone", "hexmage simulated phone"
		l.Texts = []string{"hexmage simulated phone: in the place of Qualcomm's " + l.Soname + "; does nothing",
			"v2.28.0.241101000000_100000"}
		libs[at] = l.Bytes()
	}
	return libs
}
