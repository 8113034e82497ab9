//go:build linux

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmePipeline: the pipeline that README.md shows is written as `fmt` writes it and builds what it says, in a workspace that holds
// nothing else but the sources it names.
func TestReadmePipeline(t *testing.T) {
	_, text, _ := strings.Cut(read(t, filepath.Join(shared.repo, "README.md")), "```hcl\n")
	text, _, found := strings.Cut(text, "```\n")
	if !found {
		t.Fatal("README.md shows no pipeline")
	}
	w := warmed(t)
	for _, dir := range []string{"pipelines", "oppackage"} {
		if err := os.RemoveAll(filepath.Join(w.dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(w.dir, "src", "LLaMAPackage"), os.DirFS(filepath.Join(shared.repo, "oppackage", "example", "LLaMAPackage"))); err != nil {
		t.Fatal(err)
	}
	w.write(t, "pipelines/readme.hcl", text)
	wants(t, w.run(t, "fmt", "--check", "pipelines/readme.hcl"), 0)
	wants(t, w.run(t, "run", "--offline", "readme"), 0)
	for _, target := range []string{"htp_aarch64", "htp_v79"} {
		if lib := read(t, filepath.Join(w.dir, "out", "readme", "oppackage", target, library)); !strings.HasPrefix(lib, "\x7fELF") {
			t.Errorf("%s: no library", target)
		}
	}
}
