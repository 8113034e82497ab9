package oppackage

import (
	"regexp"

	"github.com/hexmage/hexmage/patches"
)

// failure is a message of a compiler or linker whose cause is not where it points.
type failure struct{ message, hint string }

func failures() []failure {
	return []failure{
		{`'(hvx_internal|qhmath_hvx)\.h' file not found`,
			"the Hexagon SDK has no libs/qhl_hvx, which HVX ops include: take a full Hexagon SDK, not the tools alone"},
		{`(unknown|unsupported) argument:? '-mv\d+`,
			"the Hexagon tools are older than the arch: v75 needs tools 8.7, v79 needs 8.8 (Hexagon SDK 6.2), v81 needs 19.0 (Hexagon SDK 6.4)"},
		{`undeclared (function|identifier) 'Q6_`,
			"an op uses an HVX instruction that the arch, or the step's hvx argument, does not have: the llama ops need v73 or newer and no hvx argument"},
		{`(unable to find library|cannot find) -lQnnHtp`,
			"the QAIRT SDK has no lib/aarch64-android with libQnnHtp.so and libQnnHtpPrepare.so: take the full SDK"},
		{`'(QnnOpPackage|HTP/core/\w+)\.h' file not found`,
			"the QAIRT SDK has no include/QNN with the HTP headers: take the full SDK"},
	}
}

// Diagnose says causes and remedies for the output of a compiler or linker that failed, one a line; none if it knows none.
func Diagnose(output string) []string {
	var hints []string
	for _, h := range patches.Diagnose(output) {
		hints = append(hints, h.String())
	}
	for _, f := range failures() {
		if regexp.MustCompile(f.message).MatchString(output) {
			hints = append(hints, f.hint)
		}
	}
	return hints
}
