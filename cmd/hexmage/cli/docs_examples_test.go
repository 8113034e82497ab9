package cli_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// docExample is what a block of HCL on a page needs to be a pipeline, and what comes of it.
type docExample struct {
	at     string            // file that it stands in, after what files has of it; "": pipelines/p.hcl
	files  string            // txtar of what else is there; {{KEY}} stands for another block of the page
	wrap   string            // for a fragment: the block in which it stands, at %s
	args   []string          // of all commands
	run    []string          // steps that are run, "" for all; nil: it is only validated
	want   map[string]string // what outputs of the run have
	reason string            // why it is not validated
}

// kindExamples is the key of all blocks in the section about kinds together: they refer to each other.
const kindExamples = "Kinds"

// docExamples has each block of HCL on these pages, by the heading that it stands below, and its number there.
func docExamples() map[string]map[string]docExample {
	all := []string{""}
	const aroundKinds = `
-- pipelines/p.hcl --
target "SM8750" {}
profile "simulated" {}
toolchain "hexagon" {}
toolchain "ndk" {}
toolchain "mllm" {}
toolchain "mllm_quantizer" {}
toolchain "llvm" {}
toolchain "qemu" {}
toolchain "busybox" {}
toolchain "adb" {}
toolchain "onnx" {}
toolchain "aimet" {}
toolchain "quark" {}
toolchain "executorch" {}
toolchain "htp_host" { source = "pypi" }
toolchain "gnu_runtime" {}
toolchain "tools" {
  version = "1"
  urls    = ["https://example.com/tools.tar.gz"]
  size    = 1
  sha256  = "0000000000000000000000000000000000000000000000000000000000000000"
}
output "json" { value = step.exec.tokenizer.outputs.json }
-- prepare --
#!/bin/sh
cp vocabulary "$2"
-- vocabulary --
{"a": 1}
`
	withKinds := strings.Replace(aroundKinds, "output \"json\"", "{{"+kindExamples+"}}\noutput \"json\"", 1)
	return map[string]map[string]docExample{
		"fallback.md": {
			"In your pipeline/1": {files: `
-- pipelines/p.hcl --
profile "emulator" { default = true }
target "SM8750" {}
toolchain "onnx" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
-- net.onnx --
`},
		},
		"language.md": {
			"The pipeline language/1": {files: "-- src/LLaMAPackage/src/LLaMAPackageInterface.cpp --\n"},
			"profile/1": {files: `
-- pipelines/p.hcl --
variable "archs" { type = list(string) }
step "exec" "say" {
  argv = concat(["sh", "-c", "echo $* > o", "sh"], var.archs)
  output "o" { file = "o" }
}
output "o" { value = step.exec.say.outputs.o }
`, run: all, want: map[string]string{"o": "v79\n"}},
			"profile/2": {files: `
-- pipelines/p.hcl --
variable "model" { default = "model" }
step "exec" "say" {
  argv   = ["sh", "-c", "ls ${local.model} > o"]
  inputs = [local.model]
  output "o" { file = "o" }
}
output "o" { value = step.exec.say.outputs.o }
-- model/model.safetensors --
`, run: all, want: map[string]string{"o": "config.json\nmodel.safetensors\ntokenizer.json\n"}},
			"target/1": {at: "pipelines/p/main.hcl", files: `
-- pipelines/p/outputs.hcl --
output "arches" { value = join(" ", [for m in module.aot : m.arch]) }
-- pipelines/p/aot/m.hcl --
output "arch" { value = target.arch }
`, run: all, want: map[string]string{"arches": "v75 v79\n"}},
			"toolchain/1": {files: withKinds, wrap: "step \"run\" \"fragment\" {\n  argv = [\"./prepare\"]\n%s}\n"},
			"module/1": {files: `
-- modules/aot/m.hcl --
variable "model" {}
step "exec" "make" {
  argv = ["sh", "-c", "echo ${var.model} > o"]
  output "o" { file = "o" }
}
output "context" { value = step.exec.make.outputs.o }
`, run: all, want: map[string]string{"contexts.small": "Qwen3-0.6B\n", "contexts.large": "Qwen3-1.7B\n"}},
			"module/2": {files: `
-- pipelines/p.hcl --
profile "simulated" { default = true }
profile "device" {}
target "SM8750" {}
toolchain "qairt" {}
toolchain "hexagon" {}
toolchain "ndk" {}
`},
			"Order/1": {files: "-- pipelines/p.hcl --\nvariable \"boards\" { default = { left = " +
				"\"/dev/ttyUSB0\" } }\n"},
			"Secrets/1": {args: []string{"--var", "token=secret"}},
			"Long steps/1": {files: `
-- pipelines/p.hcl --
output "bin" { value = step.exec.table.outputs.bin }
-- tools/table --
#!/bin/sh
test -e $2/1 || { echo one > $2/half && mv $2/half $2/1; }
cat $2/* > $4
`, run: all, want: map[string]string{"bin": "one\n"}},
			"Depfiles/1": {files: `
-- pipelines/p.hcl --
step "exec" "link" {
  argv = ["sh", "-c", "gcc ${step.exec.compile.outputs.o} -o main && ./main > said"]
  output "said" { file = "said" }
}
output "said" { value = step.exec.link.outputs.said }
-- src/main.c --
#include "said.h"
#include <stdio.h>
int main(void) { return puts(SAID) < 0; }
-- include/said.h --
#define SAID "it works"
`, run: all, want: map[string]string{"said": "it works\n"}},
			"check/1": {files: withKinds},
			kindExamples: {files: aroundKinds, run: []string{"exec.tokenizer", "convert.qwen3"},
				want: map[string]string{"json": "{\"a\": 1}\n"}},
		},
		"onnx.md": {
			"Edit an ONNX graph/1": {files: `
-- pipelines/p.hcl --
profile "emulator" { default = true }
-- edit.py --
-- net.onnx --
`},
		},
		"from-terraform.md": {
			"A module, ported/1": {at: "modules/greet/main.hcl", files: `
-- pipelines/p.hcl --
module "greet" {
  source    = "../modules/greet"
  languages = ["hello"]
  name      = "Ada"
}
output "texts" { value = module.greet.texts }
`, run: all, want: map[string]string{"texts.hello": "hello, Ada\n"}},
			"A module, ported/2": {files: "-- modules/greet/main.hcl --\n{{A module, ported/1}}", run: all,
				want: map[string]string{"texts.Ada.hello": "hello, Ada\n", "texts.Ada.salut": "salut, Ada\n",
					"texts.Grace.hello": "hello, Grace\n", "texts.Grace.salut": "salut, Grace\n"}},
		},
	}
}

// TestDocExamples: each block of HCL on these pages is laid out as fmt has it and is valid, and what can be run does
// what it should. The table above has them all, with a reason for those that are not validated.
func TestDocExamples(t *testing.T) {
	for name, examples := range docExamples() {
		page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		blocks := hclBlocks(string(page))
		for _, key := range slices.Sorted(maps.Keys(blocks)) {
			e, ok := examples[key]
			switch {
			case !ok:
				t.Errorf("docs/%s: no test validates the example %q:\n%s", name, key, blocks[key])
			case e.reason == "":
				t.Run(name+"/"+key, func(t *testing.T) { e.test(t, blocks, key) })
			}
		}
		for key := range examples {
			if blocks[key] == "" {
				t.Errorf("docs/%s has no example %q any more", name, key)
			}
		}
	}
}

// hclBlocks are the blocks of HCL of a page.
func hclBlocks(page string) map[string]string {
	blocks, count := make(map[string]string), make(map[string]int)
	var section, heading, key string
	fenced := false
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		switch {
		case fenced && text == "```":
			fenced, key = false, ""
		case fenced && key != "":
			blocks[key] += line
		case fenced:
		case strings.HasPrefix(text, "```"):
			fenced = true
			if text != "```hcl" {
				break
			}
			if key = kindExamples; section != kindExamples {
				count[heading]++
				key = fmt.Sprintf("%s/%d", heading, count[heading])
			}
		case strings.HasPrefix(text, "#"):
			heading = strings.TrimLeft(text, "# ")
			if strings.HasPrefix(text, "## ") {
				section = heading
			}
		}
	}
	return blocks
}

func (e docExample) test(t *testing.T, blocks map[string]string, key string) {
	dir, cache := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := make(map[string]string)
	for _, f := range txtar.Parse([]byte(e.files)).Files {
		text := string(f.Data)
		for other, block := range blocks {
			text = strings.ReplaceAll(text, "{{"+other+"}}", block)
		}
		files[f.Name] = text
	}
	block, at := blocks[key], "pipelines/p.hcl"
	if e.wrap != "" {
		block = fmt.Sprintf(e.wrap, block)
	} else {
		write("layout/example.hcl", block)
		write("layout/pipelines/p.hcl", "")
		hexmage(t, filepath.Join(dir, "layout"), cache, "fmt", "--check", "example.hcl")
	}
	if e.at != "" {
		at = e.at
	}
	files[at] += block
	for name, text := range files {
		write(name, text)
	}
	hexmage(t, dir, cache, append(e.args, "validate", "p")...)
	for _, step := range e.run {
		hexmage(t, dir, cache, slices.Concat(e.args, []string{"run", "p"}, strings.Fields(step))...)
	}
	for name, want := range e.want {
		if got, err := os.ReadFile(filepath.Join(dir, "out", "p", name)); string(got) != want {
			t.Errorf("output %s is %q, %v; want %q", name, got, err, want)
		}
	}
}
