package phone

import (
	"fmt"
	"slices"
	"strings"
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
		"ro.build.fingerprint=hexmage/hexmage_emulator/hexmage_emulator:15/HEXMAGE/" + s.Model + ":userdebug/test-keys",
		"ro.build.id=HEXMAGE",
		"ro.build.type=userdebug",
		"ro.build.version.release=15",
		"ro.build.version.sdk=35",
		"ro.hardware=qcom",
		"ro.product.board=" + s.platform(),
		"ro.product.brand=hexmage",
		"ro.product.cpu.abi=arm64-v8a",
		"ro.product.cpu.abilist=arm64-v8a",
		"ro.product.device=hexmage_emulator",
		"ro.product.manufacturer=hexmage",
		"ro.product.model=" + s.productModel(),
		"ro.product.name=hexmage_emulator",
		"ro.soc.manufacturer=QTI",
		"ro.soc.model=" + s.Model,
	}
}

func (s SoCProps) productModel() string { return "hexmage emulator " + s.Model + " " + s.Arch }

// openSoC is the file by which the open stand-in's programs know what their device is.
func (s SoCProps) openSoC() string {
	return fmt.Sprintf("arch=%s\nsoc=%s\nsoc_model=%d\nsoc_id=%d\nvtcm_mb=%d\n", s.Arch, s.Model, s.SoCModel, s.SoCID, s.VTCMMB)
}
