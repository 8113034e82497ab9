package main

import (
	"fmt"
	"strings"
)

// renamed has pairs: a word of Old, and the word that the new tree has for it. Both sides' files, flags, events, step
// names and paths go through it, so an entry is a whole word with what stands around it, such as `profile "open"`.
func renamed() []string {
	return []string{}
}

// change is an edit of a file: each old becomes new. An empty old appends, also to a file that does not exist yet.
type change struct{ file, old, new string }

// pair is a change of a file that is named elsewhere.
type pair struct{ old, new string }

func (p pair) of(file string) change { return change{file, p.old, p.new} }

// pipeline says what the edits change. Names of files are relative to the workspace.
type pipeline struct {
	name    string
	flags   []string          // of `hexmage run`
	folders map[string]string // of the side's tree: where they are in the workspace
	files   map[string]string // written in addition
	prepare []change

	source      string            // an input of some actions
	changed     pair              // in source: other outputs, and no failure; as many bytes as before
	broken      pair              // in source: an action fails
	header      change            // of a file that the source includes
	hcl         string            // the file of constant and step
	constant    pair              // in hcl: an argument
	step        pair              // kind and name of a step that is renamed
	more, fewer change            // items of a for_each, or outputs
	variable    string            // NAME=VALUE
	again       string            // a step that --fresh runs again
	output      string            // a file in out/
	reports     map[string]string // outputs whose content is not compared, each with the reason
}

func pipelines() []pipeline {
	const ops, clip = "oppackage/example/LLaMAPackage/src/ops/", "clip/src/ops/"
	shipped := map[string]string{
		"pipelines":                      "pipelines",
		"modules":                        "modules",
		"oppackage/example/LLaMAPackage": "oppackage/example/LLaMAPackage",
	}
	changed := pair{"return GraphStatus::ErrorUnsupported;", "return GraphStatus::ErrorDimensions ;"}
	broken := pair{"auto [b_in", "auto [[b_in"}
	header := change{ops + "lanes.h", "if (n >= count) return", "if (n > count) return"}
	measured := map[string]string{
		"stdout.txt": "the runner prints how fast it was",
		"demo.txt":   "the demo prints how fast it was",
		"metrics":    "measured: tokens per second, memory",
		"samples":    "measured while the program ran",
	}
	const app, opPackage, tiny = "pipelines/app.hcl", "pipelines/clip.hcl", "pipelines/onnx-htp.hcl"
	const main, aot, npu = "pipelines/qwen3-aot-v79.hcl", "modules/mllm-aot/", "modules/llm-npu/"
	return []pipeline{
		{
			name:     "items",
			files:    items(200),
			source:   "data/100.txt",
			changed:  pair{"value=100", "value=999"},
			broken:   pair{"value=", "value=("},
			header:   change{"include/common.sh", "one", "two"},
			hcl:      "pipelines/items.hcl",
			constant: pair{`"first"`, `"second"`},
			step:     pair{"exec", "gather"},
			more:     change{"items.txt", "200\n", "200\n201\n"},
			fewer:    change{"items.txt", "150\n", ""},
			variable: "title=others",
			again:    "exec.gather",
			output:   "items/all.txt",
		},
		{
			name:     "app",
			folders:  map[string]string{"examples/c-project": "."},
			files:    map[string]string{"src/spare.c": "int spare(void) { return 0; }\n"},
			prepare:  []change{{app, `"-O2"`, "var.level"}, {app, "", `variable "level" { default = "-O2" }` + "\n"}},
			source:   "src/main.c",
			changed:  pair{"return 2;", "return 3;"},
			broken:   pair{"int main(", "int main(("},
			header:   change{"include/greeting.h", "The product is", "The result is"},
			hcl:      app,
			constant: pair{"-Wall", "-Wextra"},
			step:     pair{"exec", "test"},
			more:     change{"src/more.c", "", "int more(void) { return 1; }\n"},
			fewer:    change{app, `"*.c"`, `"m*.c"`},
			variable: "level=-O1",
			again:    "exec.test",
			output:   "app/app",
		},
		{
			name:    "clip",
			folders: map[string]string{"examples/oppackage-only": "."},
			files:   map[string]string{clip + "limits.h": "#pragma once\n#define LIMIT 1.0f\n"},
			prepare: []change{
				{clip + "Clip.cpp", `#include "QnnOpPackage.h"`,
					`#include "QnnOpPackage.h"` + "\n" + `#include "limits.h"`},
				{clip + "Clip.cpp", "x > 1.0f ? 1.0f", "x > LIMIT ? LIMIT"},
				{opPackage, `"htp_${target.arch}"`, "var.npu"},
				{opPackage, "", `variable "npu" { default = "htp_v79" }` + "\n"},
			},
			source:   clip + "Clip.cpp",
			changed:  pair{"x < -1.0f ? -1.0f", "x < -1.5f ? -1.5f"},
			broken:   broken,
			header:   change{clip + "limits.h", "1.0f", "2.0f"},
			hcl:      opPackage,
			constant: pair{"2.41.0.251128", "2.37.0.250724"},
			step:     pair{"makefile", "clip"},
			more:     change{opPackage, "var.npu]", `var.npu, "htp_v73"]`},
			fewer:    change{opPackage, `"htp_aarch64", `, ""},
			variable: "npu=htp_v75",
			again:    "makefile.clip",
			output:   "clip/oppackage/htp_v79/libQnnClipPackage.so",
		},
		{
			name:     "qwen3-aot-v79",
			flags:    []string{"--profile=simulated"},
			folders:  shipped,
			source:   ops + "SiLU.cpp",
			changed:  changed,
			broken:   broken,
			header:   header,
			hcl:      aot + "toy/main.hcl",
			constant: pair{"seed         = 79", "seed         = 80"},
			step:     pair{"reference", "toy"},
			more:     change{aot + "main.hcl", `"htp_${target.arch}"]`, `"htp_${target.arch}", "htp_v75"]`},
			fewer:    change{main, `output "samples" { value = module.aot.samples }` + "\n", ""},
			variable: "prompt=Why?",
			again:    "module.aot.patch.ops",
			output:   "qwen3-aot-v79/context.bin",
			reports:  measured,
		},
		{
			name:     "llm-npu",
			folders:  shipped,
			source:   ops + "SiLU.cpp",
			changed:  changed,
			broken:   broken,
			header:   header,
			hcl:      npu + "simulated.hcl",
			constant: pair{"seed         = 15", "seed         = 16"},
			step:     pair{"vocab", "small"},
			more:     change{npu + "main.hcl", `"1024"]`, `"1024", "100"]`},
			fewer:    change{npu + "main.hcl", `, "1024"]`, "]"},
			variable: `lengths=["64"]`,
			again:    "module.npu.vocab.small",
			output:   "llm-npu/vocab.mllm",
			reports:  measured,
		},
		{
			name:    "onnx-htp",
			folders: shipped,
			files:   items(0, "a16w8", "lpbq", "a16w4"),
			prepare: []change{
				{"items.txt", "a16w4\n", ""},
				{tiny, "= var.schemes", "= local.items"},
				{tiny, "", probe},
			},
			source:   "data/lpbq.txt",
			changed:  pair{"value=lpbq", "value=LPBQ"},
			broken:   pair{"value=", "value=("},
			header:   change{"include/common.sh", "one", "two"},
			hcl:      tiny,
			constant: pair{`"first"`, `"second"`},
			step:     pair{"exec", "item"},
			more:     change{"items.txt", "lpbq\n", "lpbq\na16w4\n"},
			fewer:    change{"items.txt", "a16w8\n", ""},
			variable: "layers=1",
			again:    "exec.item",
			output:   "onnx-htp/contexts.a16w8/manifest.json",
			reports: map[string]string{
				"table":          "has the seconds that each scheme took",
				"contexts.a16w8": "has tables for devices, which Old does not write",
				"contexts.a16w4": "the same",
				"contexts.lpbq":  "the same",
			},
		},
	}
}

// items are the files of a pipeline with one small action for each item, and one that gathers what these make. Each
// action reads a file of its own, by a depfile; each tenth action, and each named one, also reads a common file.
func items(count int, names ...string) map[string]string {
	files := map[string]string{
		"include/common.sh": "common=one\n",
		"src/item.sh": `set -eu
. "data/$1.txt"
read="data/$1.txt"
if [ -n "${header:-}" ]; then . include/common.sh; read="$read include/common.sh"; fi
echo "$* $value ${common:-}" > "$1.out"
echo "$1.out: $read" > "$1.d"
`,
		"src/gather.sh": `set -eu
echo "$1 $2" > all.txt
shift 2
for file in "$@"; do
  read -r line < "$file"
  echo "$line" >> all.txt
done
`,
		"pipelines/items.hcl": `
variable "title" { default = "items" }
step "exec" "item" {
  for_each = toset(split("\n", trimspace(file("items.txt"))))
  argv     = ["sh", "src/item.sh", each.key]
  inputs   = ["src/item.sh", "data/${each.key}.txt", "include"]
  depfile  = "${each.key}.d"
  output "out" { file = "${each.key}.out" }
}
step "exec" "gather" {
  argv   = concat(["sh", "src/gather.sh", var.title, "first"], values(step.exec.item)[*].outputs.out)
  inputs = ["src/gather.sh"]
  output "all" { file = "all.txt" }
}
output "all.txt" { value = step.exec.gather.outputs.all }
`,
	}
	for n := 1; n <= count; n++ {
		names = append(names, fmt.Sprintf("%03d", n))
	}
	files["items.txt"] = strings.Join(names, "\n") + "\n"
	if count > 0 {
		names = append(names, fmt.Sprintf("%03d", count+1)) // one that an edit adds
	}
	for n, name := range names {
		text := "value=" + name + "\n"
		if count == 0 || (n+1)%10 == 0 {
			text += "header=yes\n"
		}
		files["data/"+name+".txt"] = text
	}
	return files
}

// probe is one small action for each scheme, with a source of the workspace and an output of the pipeline as inputs.
const probe = `
locals { items = toset(split("\n", trimspace(file("items.txt")))) }
step "exec" "item" {
  for_each = local.items
  argv     = ["sh", "src/item.sh", each.key, "first", "${module.llm.contexts[each.key]}/manifest.json"]
  inputs   = ["src/item.sh", "data/${each.key}.txt", "include"]
  depfile  = "${each.key}.d"
  output "out" { file = "${each.key}.out" }
}
output "probes" { value = { for key, item in step.exec.item : key => item.outputs.out } }
`
