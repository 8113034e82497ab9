package phone

import (
	"debug/elf"
	"fmt"
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/elffile"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/buildid"
)

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
		l.Soname, l.Label, l.Comment = path.Base(at), "hexmage_emulator", "hexmage emulator"
		l.Texts = []string{"hexmage emulator: in the place of a vendor's " + l.Soname + "; no vendor code, does nothing", buildID}
		libs[at] = l.Bytes()
	}
	return libs
}
