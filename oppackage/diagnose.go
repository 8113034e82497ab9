package oppackage

import "regexp"

// failure is a message of a compiler or linker whose cause lies in how op packages are made.
type failure struct{ message, hint string }

func failures() []failure {
	return []failure{
		{`undefined symbol: open_(op_execute|op_name|sdk_build_id)`,
			"the op package was compiled with a vendor's headers: only those of the open stand-in (profile open) can run an op on its own"},
		{`undefined symbol: .*op_file_of<(\w+)>`,
			"the interface lists an op that no source defines: add its source to src/ops, or take its DECLARE_PKG_OPS_OPTS_LIST out of the interface (of a generated one: the op out of the op config)"},
	}
}

// diagnose says causes and remedies for slips in op packages, by the output of a compiler or linker. Failures that are no matter of op
// packages alone are in the catalogue of package runner/diagnose.
func diagnose(output string) []string {
	var hints []string
	for _, f := range failures() {
		if regexp.MustCompile(f.message).MatchString(output) {
			hints = append(hints, f.hint)
		}
	}
	return hints
}
