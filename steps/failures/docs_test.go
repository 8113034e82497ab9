package failures_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/diagnose"
)

var update = flag.Bool("update", false, "write the generated part of docs/diagnosis.md anew")

// The tables of docs/diagnosis.md are made from the catalog: go test ./steps/failures -run Docs -update.
func TestDocsAreFresh(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- failures: generated, do not edit -->", "<!-- end of failures -->"
	path := filepath.Join("..", "..", "docs", "diagnosis.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i, j := bytes.Index(doc, []byte(begin)), bytes.Index(doc, []byte(end))
	if i < 0 || j < i {
		t.Fatalf("%s has no lines %s and %s", path, begin, end)
	}
	want := string(doc[:i]) + begin + "\n\n" + tables(shipped(t)) + "\n" + string(doc[j:])
	if want == string(doc) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the catalog says: run go test ./steps/failures -run Docs -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tables(c *diagnose.Catalog) string {
	var b strings.Builder
	titles := map[string]string{
		"build.hcl": "Compilers, linkers, Makefiles", "dsp.hcl": "The DSP", "executorch.hcl": "ExecuTorch", "families.hcl": "Families",
		"fetch.hcl":  "Getting SDKs",
		"graphs.hcl": "Graphs and contexts", "linux.hcl": "Linux boards and hosts", "litert.hcl": "LiteRT", "llamacpp.hcl": "llama.cpp",
		"metrics.hcl": "Measurements", "onnxruntime.hcl": "ONNX Runtime", "qairt.hcl": "Tools of QAIRT and SNPE",
		"phone.hcl": "The phone and its files", "tools.hcl": "Tools on the host", "versions.hcl": "Versions and SoCs", "windows.hcl": "Windows on Snapdragon",
	}
	file := ""
	cell := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", "\\|"), "\n", " ") }
	code := func(s string) string { return "`" + strings.ReplaceAll(cell(s), "`", "'") + "`" }
	for _, e := range c.Entries {
		if e.Benign {
			continue
		}
		if name := filepath.Base(e.File); name != file {
			file = name
			fmt.Fprintf(&b, "\n### %s\n\n| failure | such as | cause | what to do | known from |\n|---|---|---|---|---|\n", titles[name])
		}
		id := "`" + e.ID + "`"
		if e.Seed {
			id += " ●"
		}
		if e.Warning() {
			id += " (warning)"
		}
		line, _, _ := strings.Cut(e.Examples[0], "\n")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", id, code(line), cell(e.Cause), cell(e.Remedy), cell(e.Source))
	}
	b.WriteString("\n### Noise\n\n| | such as | why it means nothing |\n|---|---|---|\n")
	for _, e := range c.Entries {
		if e.Benign {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.ID, code(e.Examples[0]), cell(e.Cause))
		}
	}
	return strings.TrimLeft(b.String(), "\n")
}
