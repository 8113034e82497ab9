package equiv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/oppackage/equiv"
	"github.com/hexmage/hexmage/standin/sdk/sdktest"
)

// EnvMakefile names a Makefile of upstream, in the folder of its package: the comparison is printed, and fails for a
// difference that the table does not have.
const envMakefile = "HEXMAGE_TEST_UPSTREAM_MAKEFILE"

func TestUpstream(t *testing.T) {
	makefile := os.Getenv(envMakefile)
	if makefile == "" {
		t.Log(envMakefile + " is not set: TestSynthetic has the same on a Makefile of our own")
		return
	}
	p := packageOf(t, filepath.Dir(makefile))
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	m := maker(t, filepath.Dir(makefile))
	targets, err := equiv.Compare(t.Context(), m, makefile, p, arches)
	if err != nil {
		t.Fatal(err)
	}
	if err := equiv.Write(os.Stdout, targets); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if target.Unexplained() > 0 {
			t.Errorf("%s: %d differences without a reason", target.Target, target.Unexplained())
		}
	}
	n, err := equiv.Check(t.Context(), m, p, arches)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the generated Makefile and the pipeline run the same %d lines", n)
}
