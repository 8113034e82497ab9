package equiv_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/oppackage/equiv"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// TestMllm compares the Makefile of mllm's op package, at two commits, with the Makefile of hexmage, for each arch
// that both know. A difference fails the test if the table has no reason for it.
func TestMllm(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm; TestSynthetic has the same on a Makefile of our own")
	}
	arches, err := sdktest.Targets(t).Default()
	if err != nil {
		t.Fatal(err)
	}
	for commit, folder := range map[string]string{
		"b9c30702": "mllm/backends/qnn/custom-op-package/LLaMAPackage",
		"71d7a680": "src/backends/qnn/LLaMAOpPackageHtp/LLaMAPackage",
	} {
		t.Run(commit, func(t *testing.T) {
			root := t.TempDir()
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", `git -C "$1" archive "$2" "$3" | tar -x -C "$4"`,
				"sh", clone, commit, folder, root).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			dir := filepath.Join(root, folder)
			targets, err := equiv.Compare(t.Context(), maker(t, dir), filepath.Join(dir, "Makefile"), packageOf(t, dir),
				arches)
			if err != nil {
				t.Fatal(err)
			}
			if err := equiv.Write(os.Stdout, targets); err != nil {
				t.Fatal(err)
			}
			compared := 0
			for _, target := range targets {
				if target.Unexplained() > 0 {
					t.Errorf("%s: %d differences without a reason", target.Target, target.Unexplained())
				}
				if !target.Missing && target.Compiles > 0 {
					compared++
				}
			}
			if compared < 5 {
				t.Errorf("%d targets were compared", compared)
			}
		})
	}
}
