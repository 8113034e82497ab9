//go:build linux

package mainjob_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestSDKMatrix: a table shows what compiles with which SDK, as on the page. A planted call that an SDK has removed is
// in the table of errors, with the rule.
func TestSDKMatrix(t *testing.T) {
	w := Warmed(t)
	page := Read(t, filepath.Join(Repo(), "docs/oppackages.md"))
	for _, args := range [][]string{{"sdk-matrix"}, {"sdk-matrix", "--var", "series=mllm"}} {
		_, shown, ok := strings.Cut(page, "$ hexmage run "+strings.Join(args, " ")+"\n")
		shown, _, _ = strings.Cut(shown, "\n```")
		shown, _, _ = strings.Cut(shown, "\n$ ")
		if !ok || !strings.Contains(shown, "QAIRT  htp_aarch64") {
			t.Fatalf("docs/oppackages.md does not show hexmage run %s", strings.Join(args, " "))
		}
		o := w.Run(t, append([]string{"--offline", "run"}, args...)...)
		Wants(t, o, ExitOK)
		start, _, elided := strings.Cut(shown, "\n…") // … stands for the table of errors
		start = strings.TrimSpace(start)
		if !strings.Contains(o.Stdout, start) || !elided && !strings.HasSuffix(strings.TrimSpace(o.Stdout), start) {
			t.Errorf("docs/oppackages.md shows\n%s\nand it prints\n%s", shown, o.Stdout)
		}
	}

	w.Write(t, "P/src/PInterface.cpp",
		"#include \"HTP/core/tensor.h\"\nfloat one(const Tensor &t) { return t.interface_scale(); }\n")
	w.Write(t, "P/src/ops/Old.cpp",
		"#include \"HTP/core/tensor.h\"\nfloat two(const Tensor &t) { return t.get_interface_scale(); }\n")
	planted := []string{"--offline", "run", "sdk-matrix", "--var", "sources=P", "--var", "package=P", "--var",
		`targets=["htp_v79"]`, "--var", `releases=["2.31.0.250130", "2.41.0.251128"]`}
	o := w.Run(t, planted...)
	Wants(t, o, ExitOK, "2.41.0.251128  src/ops/Old.cpp:2:", "no member named 'get_interface_scale'",
		"rename interface_scale of patches/mllm/qairt2.31-qairt2.34")
	if m := regexp.MustCompile(`(?m)^ +(2\.\S+) +(\d of \d.*)$`).FindAllStringSubmatch(o.Stdout, -1); len(m) != 2 ||
		m[0][2] != "2 of 2" || m[1][2] != "1 of 2" {
		t.Errorf("%q", m)
	}
	o = w.Run(t, append(planted, "--var", "series=mllm")...)
	if Wants(t, o, ExitOK); strings.Contains(o.Stdout, "1 of 2") || strings.Contains(o.Stdout, "interface_scale") {
		t.Errorf("after the series: %s", o.Stdout)
	}
}
