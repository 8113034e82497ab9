package qnn_test

import (
	"testing"

	"github.com/hexmage/hexmage/qnn"
)

func TestHexagon(t *testing.T) {
	for arch, flags := range map[string]uint32{"v68": 0x68, "v79": 0x79, "v81": 0x81, "v5": 5, "v100": 0x100} {
		if got := qnn.HexagonFlags(arch); got != flags {
			t.Errorf("%s: %#x, want %#x", arch, got, flags)
		}
		if got := qnn.HexagonArch(flags | 0x8000); got != arch { // bits beside the arch: a small core
			t.Errorf("%#x: %s, want %s", flags, got, arch)
		}
	}
	for _, arch := range []string{"", "x", "vx", "v7x", "v99999999999999"} {
		if got := qnn.HexagonFlags(arch); got != 0 {
			t.Errorf("%q: %#x", arch, got)
		}
	}
}
