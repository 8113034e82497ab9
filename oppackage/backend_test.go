package oppackage_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hexmage/hexmage/oppackage"
)

func TestBackend(t *testing.T) {
	for text, want := range map[string]string{
		"#include \"QnnOpPackage.h\"\n#include \"HTP/core/optimize.h\"\n": "",
		"// #include \"QnnCpuOpPackage.h\"\n":                             "",
		"\ufeff#include \"CPU/QnnCpuOpPackage.h\"\r\n":                    "for QNN's CPU backend",
		"int x;\n\t# include <QnnGpuOpPackage.h>":                         "for QNN's GPU backend",
		"#include \"DSP\\QnnDspOpPackage.h\"":                             "for QNN's DSP backend",
		"#include \"LPAI/QnnLpaiOpPackage.h\"":                            "for QNN's LPAI backend",
		"#include \"HTP/core/qhpi.h\"":                                    "QHPI, the newer interface of HTP. The simulated SDK",
	} {
		files := fstest.MapFS{"src/ops/a.cpp": {Data: []byte("int a;")}, "src/PInterface.c": {Data: []byte(text)}, "Makefile": {}}
		b := oppackage.FindBackend(files)
		if (b == nil) != (want == "") || b != nil && !strings.Contains(b.String(), want) || b != nil && b.Source != "src/PInterface.c" {
			t.Errorf("%q: %v", text, b)
		}
	}
	if b := oppackage.FindBackend(fstest.MapFS{"include/a.h": {Data: []byte("#include \"qhpi.h\"")}}); b != nil {
		t.Errorf("no sources: %v", b)
	}
}

// A source that the compiler would not be given is refused by its name.
func TestSourcesElsewhere(t *testing.T) {
	for stray, want := range map[string]string{
		"src/ops/A.cc": "rename the file to .cpp", "src/AInterface.CPP": "rename the file to .cpp",
		"src/ops/a/B.cpp":   "move the file there",
		"src/kernels/k.cxx": "move the file there", "src/ops/k.c": "hexmage builds only C++ op packages",
		"src/ops/a/B.inc": "", "src/ops/v79_asm/a.S": "", "test/a.cpp": "", "src/a.h": "",
	} {
		p := oppackage.Package{Name: "P", Files: []string{stray, "src/ops/C.cpp"}}
		err := p.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), stray+": ") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", stray, err)
		}
		if _, err := oppackage.FindName("", p.Files); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("name of a package with %s: %v", stray, err)
		}
	}
}
