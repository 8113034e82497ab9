package oppackage_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

func TestRun(t *testing.T) {
	arches := func(targets ...string) []oppackage.Arch {
		all, err := sdktest.Targets(t).Select(targets)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	out := t.TempDir()
	sdktest.Write(t, out, map[string]string{"src/TestPackageInterface.cpp": "", "src/ops/A.cpp": "", "Makefile": "their own"})
	run := func(s oppackage.Spec) (int, string) {
		_, stderr, code := tooltest.Run(t, oppackage.Tool, oppackage.Run, s)
		return code, stderr
	}
	if code, text := run(oppackage.Spec{Package: "TestPackage", Arches: arches("htp_aarch64", "htp_v79"), HVX: "v66", Out: out}); code != 0 {
		t.Fatalf("exit %d: %s", code, text)
	}
	data, err := os.ReadFile(filepath.Join(out, "Makefile"))
	if err != nil || !bytes.Contains(data, []byte("PACKAGE_NAME ?= TestPackage\n")) || !bytes.Contains(data, []byte("?= -mhvx=v66\n")) || bytes.Contains(data, []byte("htp_v75")) {
		t.Errorf("Makefile: %v\n%s", err, data)
	}
	if text, err := runMake(t, out, fakeRoots(t, out), "-n"); err != nil || strings.Count(text, " -c ") != 4 {
		t.Errorf("make -n: %v\n%s", err, text)
	}
	if code, text := run(oppackage.Spec{Package: "P", Arches: arches("htp_x86"), Out: filepath.Join(out, "new", "folder")}); code != 0 {
		t.Errorf("exit %d: %s", code, text)
	}
	for want, s := range map[string]oppackage.Spec{
		"out: missing value":     {Package: "P"},
		"missing target":         {Package: "P", Out: out},
		"invalid C++ identifier": {Package: "a b", Arches: arches("htp_v79"), Out: out},
		"invalid compiler flag":  {Package: "P", Arches: arches("htp_v79"), Out: out, HVX: "$(shell x)"},
	} {
		if code, text := run(s); code != 1 || !strings.Contains(text, want) {
			t.Errorf("%+v: exit %d: %s", s, code, text)
		}
	}
}

func TestFindName(t *testing.T) {
	for want, files := range map[string][]string{"P": {"src/PInterface.cpp", "src/ops/XInterface.cpp"}, "": {"src/a.cpp"}} {
		if got, err := oppackage.FindName("", files); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", files, got, err)
		}
	}
	if _, err := oppackage.FindName("", nil); err == nil || !strings.Contains(err.Error(), "found 0.") || !strings.Contains(err.Error(), "PackageName in the op config") {
		t.Error(err)
	}
}

// TestToolVersion ties the tool's behavior version to what it writes. When it fails because the Makefile changed on
// purpose, raise the version and take the new digest.
func TestToolVersion(t *testing.T) {
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := oppackage.Makefile(&text, oppackage.Package{Name: "P"}, arches); err != nil {
		t.Fatal(err)
	}
	const want = "makefile/3 eefc6a58a0e5d402"
	if got := fmt.Sprintf("%s %.8x", string(oppackage.Tool), sha256.Sum256(text.Bytes())); got != want {
		t.Errorf("version and digest are %s, were %s", got, want)
	}
}

func TestExplain(t *testing.T) {
	renames := func(output string) []string {
		if strings.Contains(output, "no member named") {
			return []string{"a rename rule"}
		}
		return nil
	}
	for _, c := range []struct {
		spec, output string
		want         []string
	}{
		{"htp_v79/ops/RoPE.o", "in/source/src/ops/RoPE.cpp:144:86: error: no member named 'get_interface_scale' in 'Tensor'",
			[]string{"op RoPE does not compile for htp_v79, first at src/ops/RoPE.cpp:144:86", "a rename rule"}},
		{"htp_v79/link", "a.cpp:1:1: error: expected ';'", nil},
	} {
		got := oppackage.Explain(c.spec, c.output, renames)
		if len(got) != len(c.want) {
			t.Errorf("%q: %q, want %q", c.output, got, c.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%q: %q, want %q", c.output, got[i], c.want[i])
			}
		}
	}
}
