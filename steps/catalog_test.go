package steps_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/steps"
)

// TestSimulatedFacts checks that simulated SDKs have the shipped facts in each workspace, and that a plan with several
// of them loads these facts once.
func TestSimulatedFacts(t *testing.T) {
	files := map[string][]byte{}
	names, err := filepath.Glob("../toolchains/q*.hcl")
	if err != nil || len(names) == 0 {
		t.Fatalf("shipped files: %q, %v", names, err)
	}
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	own := map[string][]byte{"toolchains/own.hcl": []byte(`soc "SM9999" {
  marketing_name = "own"
  arch           = "v79"
  soc_model      = 999
}
`)}
	for name, files := range map[string]map[string][]byte{"none": nil, "shipped": files, "own": own} {
		t.Run(name, func(t *testing.T) {
			c, diags := steps.Catalog(files)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			world := c.Embedded.(sdk.Embedded).World
			first, err := world()
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := world(); again != first {
				t.Error("the facts were loaded twice")
			}
			if shared := first == &c.Facts; shared == (name == "own") {
				t.Errorf("the facts are the catalog's own: %t", shared)
			}
			for _, s := range first.SoCs {
				if s.Name == "SM9999" {
					t.Error("the workspace's SoC is among the facts")
				}
			}
		})
	}
}
