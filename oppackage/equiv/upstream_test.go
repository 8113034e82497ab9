package equiv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/oppackage/equiv"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// TestUpstream compares the Makefile of upstream's op package with ours, for each arch that both know: a difference that the table has no reason for fails it.
func TestUpstream(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of upstream; TestSynthetic has the same on a Makefile of our own")
	}
	makefile := filepath.Join(clone, "mllm/backends/qnn/custom-op-package/LLaMAPackage/Makefile")
	p := packageOf(t, filepath.Dir(makefile))
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	targets, err := equiv.Compare(t.Context(), maker(t, filepath.Dir(makefile)), makefile, p, arches)
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
}
