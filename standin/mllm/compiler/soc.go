package compiler

import (
	"strconv"
	"strings"
)

// arches are the htp_arch values of the schema, without their V; NONE is 0.
func archNumber(name string) (uint32, bool) {
	switch name {
	case "NONE":
		return 0, true
	case "V68", "V69", "V73", "V75", "V79", "V81":
		n, err := strconv.ParseUint(strings.TrimPrefix(name, "V"), 10, 32)
		return uint32(n), err == nil
	}
	return 0, false
}

// chipset is QNN's number for an htp_chipset value of the schema.
func chipset(name string) (uint32, bool) {
	n, ok := map[string]uint32{
		"UNKNOWN_SM": 0, "SA8295": 39, "SM8350": 35, "SM8450": 36, "SM8475": 42, "SM8550": 43, "SM8650": 57, "SM8750": 69, "SM8850": 87,
		"SM8845": 97, "SSG2115P": 46, "SSG2125P": 58, "SXR1230P": 45, "SXR2230P": 53, "SXR2330P": 75, "QCS9100": 77, "SAR2230P": 95,
		"SA8255": 52, "SW6100": 96,
	}[name]
	return n, ok
}

func knownPerformance(name string) bool {
	switch name {
	case "HtpDefault", "HtpSustainedHighPerformance", "HtpBurst", "HtpHighPerformance", "HtpPowerSaver", "HtpLowPowerSaver",
		"HtpHighPowerSaver", "HtpLowBalanced", "HtpBalanced":
		return true
	}
	return false
}
