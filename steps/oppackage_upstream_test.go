package steps_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// Variables with which a package of somebody else's is built by hand: its folder, and the patch series that it needs ("" is
// none). It is built for all targets that the simulations can build it for, by actions and by make, and the objects are counted.
const (
	envPackage = "HEXMAGE_TEST_PACKAGE"
	envSeries  = "HEXMAGE_TEST_SERIES"
)

const othersPipeline = `
pipeline {
  description = "somebody else's op package"
}

toolchain "qairt" {}
toolchain "hexagon" {}
toolchain "ndk" {}
@patch@
step "makefile" "it" {
  source = @source@
}

step "oppackage" "it" {
  source  = @source@
  targets = ["htp_aarch64", "htp_v73", "htp_v75", "htp_v79", "htp_v81"]
  env     = { HEXMAGE_LLVM = "@llvm@" }
}

output "dir" {
  value = step.oppackage.it.outputs.dir
}

output "report" {
  value = step.oppackage.it.outputs.report
}

output "makefile" {
  value = step.makefile.it.outputs.dir
}
`

const patchStep = `
step "patch" "it" {
  source = "pkg"
  series = "@series@"
  sdk    = toolchain.qairt
}
`

func TestOthers(t *testing.T) {
	dir := os.Getenv(envPackage)
	if dir == "" {
		t.Log(envPackage + " is not set; TestEngine and TestGeneratedInterface build packages of our own")
		return
	}
	w := newWorkspace(t)
	pkg := filepath.Join(w.dir, "pkg")
	if err := os.RemoveAll(pkg); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(pkg, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	text, series := strings.NewReplacer("@patch@", "", "@source@", `"pkg"`).Replace(othersPipeline), os.Getenv(envSeries)
	if series != "" {
		text = strings.NewReplacer("@patch@", strings.ReplaceAll(patchStep, "@series@", series), "@source@", "step.patch.it.outputs.dir").Replace(othersPipeline)
	}
	w.pipeline(text)
	begun := time.Now()
	ran, failures := w.build()
	for _, f := range failures {
		t.Errorf("%s\n%s\n%q", f.Summary, f.Output, f.Hints)
	}
	if t.Failed() {
		t.FailNow()
	}
	targets := []string{"htp_aarch64", "htp_v73", "htp_v75", "htp_v79", "htp_v81"}
	objects := map[string]int{}
	for _, r := range ran {
		if target, object, ok := strings.Cut(strings.TrimPrefix(r, "oppackage.it "), "/"); ok && strings.HasSuffix(object, ".o") {
			objects[target]++
		}
	}
	t.Logf("actions: %v, %v", objects, time.Since(begun).Round(time.Millisecond))

	// make, in a copy of what the makefile step made.
	made := t.TempDir()
	if err := os.CopyFS(made, os.DirFS(filepath.Join(w.at, "out/makefile"))); err != nil {
		t.Fatal(err)
	}
	env, _ := sdktest.SDKs(t, filepath.Join(t.TempDir(), "toolchains"))
	cmd := exec.Command(toolchaintest.Path(t, "make", "usr/bin/make"), append([]string{"-C", made, "-j2"}, targets...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}, env...)
	begun = time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make: %v\n%s", err, out)
	}
	folders := map[string]string{"htp_aarch64": "aarch64-android"}
	counts := map[string]int{}
	for _, target := range targets {
		folder := folders[target]
		if folder == "" {
			folder = "hexagon-" + strings.TrimPrefix(target, "htp_")
		}
		for _, pattern := range []string{"*.o", "ops/*.o"} {
			names, err := filepath.Glob(filepath.Join(made, "build", folder, pattern))
			if err != nil {
				t.Fatal(err)
			}
			counts[target] += len(names)
		}
		if counts[target] != objects[target] {
			t.Errorf("%s: make made %d objects, the actions %d", target, counts[target], objects[target])
		}
		libs, err := filepath.Glob(filepath.Join(made, "build", folder, "libQnn*.so"))
		if err != nil || len(libs) != 1 {
			t.Fatalf("%s: libraries %q, %v", target, libs, err)
		}
		a, errA := os.ReadFile(libs[0])
		b, errB := os.ReadFile(filepath.Join(w.at, "out/dir", target, filepath.Base(libs[0])))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s: make and the actions made libraries of %d and %d bytes that differ (%v, %v)", target, len(a), len(b), errA, errB)
		}
		report, err := os.ReadFile(filepath.Join(w.at, "out/report", target+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", report)
	}
	t.Logf("make: %v, %v", counts, time.Since(begun).Round(time.Millisecond))
}
