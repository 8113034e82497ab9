package oppackage_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/standin/sdk/sdktest"
)

func runTool(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var stderr bytes.Buffer
	code := oppackage.Run(t.Context(), args, nil, &stderr, &stderr)
	return code, stderr.String()
}

func TestRun(t *testing.T) {
	source := t.TempDir()
	sdktest.Write(t, source, map[string]string{"src/TestPackageInterface.cpp": "", "src/ops/A.cpp": "", "Makefile": "their own"})
	out := filepath.Join(t.TempDir(), "out")
	if code, text := runTool(t, "--source", source, "--targets", "htp_aarch64,htp_v79", "--hvx", "v66", "--out", out); code != 0 {
		t.Fatalf("exit %d: %s", code, text)
	}
	data, err := os.ReadFile(filepath.Join(out, "Makefile"))
	if err != nil || !bytes.Contains(data, []byte("PACKAGE_NAME ?= TestPackage\n")) || !bytes.Contains(data, []byte("?= -mhvx=v66\n")) || bytes.Contains(data, []byte("htp_v75")) {
		t.Errorf("Makefile: %v\n%s", err, data)
	}
	if text, err := runMake(t, out, fakeRoots(t, out), "-n"); err != nil || strings.Count(text, " -c ") != 4 {
		t.Errorf("make -n: %v\n%s", err, text)
	}
	alone := filepath.Join(t.TempDir(), "alone")
	if code, text := runTool(t, "--package", "P", "--out", alone); code != 0 {
		t.Errorf("exit %d: %s", code, text)
	}
	for want, args := range map[string][]string{
		"--out and":            {"--package", "P"},
		"no target \"htp_v7\"": {"--package", "P", "--out", out, "--targets", "htp_v7"},
		"not a C++ name":       {"--package", "a b", "--out", out},
		"only compiler flags":  {"--package", "P", "--out", out, "--hvx", "$(shell x)"},
		"is not empty":         {"--source", source, "--out", out},
		"there are 0 files":    {"--source", t.TempDir(), "--out", filepath.Join(t.TempDir(), "x")},
	} {
		if code, text := runTool(t, args...); code == 0 || !strings.Contains(text, want) {
			t.Errorf("%q: exit %d: %s", args, code, text)
		}
	}
}

// TestToolVersion ties the tool's behaviour version to what it writes. When it fails because the Makefile changed on
// purpose, raise ToolVersion and take the new digest.
func TestToolVersion(t *testing.T) {
	arches, err := oppackage.Arches()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := oppackage.Makefile(&text, oppackage.Package{Name: "P"}, arches); err != nil {
		t.Fatal(err)
	}
	const want = "3 eefc6a58a0e5d402"
	if got := fmt.Sprintf("%s %.8x", oppackage.ToolVersion, sha256.Sum256(text.Bytes())); got != want {
		t.Errorf("version and digest are %s, were %s", got, want)
	}
}

func TestDiagnose(t *testing.T) {
	for output, want := range map[string]string{
		"src/ops/IRoPE.cpp:144:86: error: no member named 'get_interface_scale' in 'Tensor'": `rename rule "interface_scale"`,
	} {
		if hints := oppackage.Diagnose(output); len(hints) != 1 || !strings.Contains(hints[0], want) {
			t.Errorf("Diagnose(%q) = %q, want %q", output, hints, want)
		}
	}
	if hints := oppackage.Diagnose("a.cpp:1:1: error: expected ';'"); hints != nil {
		t.Errorf("hints %q", hints)
	}
}
