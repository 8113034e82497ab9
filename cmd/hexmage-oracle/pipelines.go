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

// pipeline says what the edits change. Names of files are relative to the workspace.
type pipeline struct {
	name    string
	folders map[string]string // of the side's tree: where they are in the workspace
	files   map[string]string // written in addition
	prepare []change

	source      string            // an input of some actions
	changed     change            // of the source: other outputs, and no failure; as many bytes as before
	broken      change            // of the source: an action fails
	header      change            // of a file that the source includes
	hcl         string            // the file of constant and step
	constant    change            // of an argument
	step        [2]string         // kind and name of a step that is renamed
	more, fewer change            // items of a for_each, or outputs
	variable    string            // NAME=VALUE
	again       string            // a step that --fresh runs again
	output      string            // a file in out/
	reports     map[string]string // outputs that are not compared, each with the reason
}

func pipelines() []pipeline {
	const ops, clip = "oppackage/example/LLaMAPackage/src/ops/", "clip/src/ops/"
	shipped := map[string]string{"pipelines": "pipelines", "modules": "modules", "oppackage/example/LLaMAPackage": "oppackage/example/LLaMAPackage"}
	changed := change{ops + "SiLU.cpp", "return GraphStatus::ErrorUnsupported;", "return GraphStatus::ErrorDimensions ;"}
	broken := change{ops + "SiLU.cpp", "auto [b_in", "auto [[b_in"}
	header := change{ops + "lanes.h", "if (n >= count) return", "if (n > count) return"}
	measured := map[string]string{
		"stdout.txt":  "the runner prints how fast it was",
		"demo.txt":    "the demo prints how fast it was",
		"metrics":     "measured: tokens per second, memory",
		"samples":     "measured while the program ran",
		"samples.svg": "the same, drawn",
	}
	const open, npu = "modules/mllm-aot/open.hcl", "modules/llm-npu/"
	return []pipeline{
		{
			name: "items", files: items(200),
			source: "data/100.txt", changed: change{"data/100.txt", "value=100", "value=999"}, broken: change{"data/100.txt", "value=", "value=("},
			header: change{"include/common.sh", "one", "two"},
			hcl:    "pipelines/items.hcl", constant: change{"pipelines/items.hcl", `"first"`, `"second"`}, step: [2]string{"exec", "gather"},
			more: change{"items.txt", "200\n", "200\n201\n"}, fewer: change{"items.txt", "150\n", ""},
			variable: "title=others", again: "exec.gather", output: "items/all.txt",
		},
		{
			name: "app", folders: map[string]string{"examples/c-project": "."}, files: map[string]string{"src/spare.c": "int spare(void) { return 0; }\n"},
			prepare: []change{{"pipelines/app.hcl", `"-O2"`, "var.level"}, {"pipelines/app.hcl", "", "variable \"level\" { default = \"-O2\" }\n"}},
			source:  "src/main.c", changed: change{"src/main.c", "return 2;", "return 3;"}, broken: change{"src/main.c", "int main(", "int main(("},
			header: change{"include/greeting.h", "The product is", "The result is"},
			hcl:    "pipelines/app.hcl", constant: change{"pipelines/app.hcl", "-Wall", "-Wextra"}, step: [2]string{"exec", "test"},
			more: change{"src/more.c", "", "int more(void) { return 1; }\n"}, fewer: change{"pipelines/app.hcl", `"*.c"`, `"m*.c"`},
			variable: "level=-O1", again: "exec.test", output: "app/app",
		},
		{
			name: "clip", folders: map[string]string{"examples/oppackage-only": "."}, files: map[string]string{clip + "limits.h": "#pragma once\n#define LIMIT 1.0f\n"},
			prepare: []change{
				{clip + "Clip.cpp", "#include \"QnnOpPackage.h\"\n", "#include \"QnnOpPackage.h\"\n#include \"limits.h\"\n"},
				{clip + "Clip.cpp", "x > 1.0f ? 1.0f", "x > LIMIT ? LIMIT"},
				{"pipelines/clip.hcl", `"htp_${target.arch}"`, "var.npu"}, {"pipelines/clip.hcl", "", "variable \"npu\" { default = \"htp_v79\" }\n"},
			},
			source: clip + "Clip.cpp", changed: change{clip + "Clip.cpp", "x < -1.0f ? -1.0f", "x < -1.5f ? -1.5f"}, broken: change{clip + "Clip.cpp", "auto [b_in", "auto [[b_in"},
			header: change{clip + "limits.h", "1.0f", "2.0f"},
			hcl:    "pipelines/clip.hcl", constant: change{"pipelines/clip.hcl", "2.41.0.251128", "2.37.0.250724"}, step: [2]string{"makefile", "clip"},
			more: change{"pipelines/clip.hcl", "var.npu]", "var.npu, \"htp_v73\"]"}, fewer: change{"pipelines/clip.hcl", `"htp_aarch64", `, ""},
			variable: "npu=htp_v75", again: "makefile.clip", output: "clip/oppackage/htp_v79/libQnnClipPackage.so",
		},
		{
			name: "qwen3-aot-v79", folders: shipped, source: ops + "SiLU.cpp", changed: changed, broken: broken, header: header,
			hcl: open, constant: change{open, "seed         = 79", "seed         = 80"}, step: [2]string{"reference", "llm"},
			more: change{open, `"htp_${target.arch}"]`, `"htp_${target.arch}", "htp_v75"]`}, fewer: change{"pipelines/qwen3-aot-v79.hcl", "output \"samples.svg\" { value = module.aot.plot }\n", ""},
			variable: "prompt=Why?", again: "module.aot.patch.ops", output: "qwen3-aot-v79/context.bin", reports: measured,
		},
		{
			name: "llm-npu", folders: shipped, source: ops + "SiLU.cpp", changed: changed, broken: broken, header: header,
			hcl: npu + "open.hcl", constant: change{npu + "open.hcl", "seed         = 15", "seed         = 16"}, step: [2]string{"vocab", "small"},
			more: change{npu + "main.hcl", `"1024"]`, `"1024", "100"]`}, fewer: change{npu + "main.hcl", `, "1024"]`, "]"},
			variable: `lengths=["64"]`, again: "module.npu.vocab.small", output: "llm-npu/vocab.mllm", reports: measured,
		},
		{
			name: "tiny-ort", folders: shipped, files: items(0, "a16w8", "lpbq", "a16w4"),
			prepare: []change{{"items.txt", "a16w4\n", ""}, {"pipelines/tiny-ort.hcl", "schemes   = var.schemes", "schemes   = local.items"}, {"pipelines/tiny-ort.hcl", "", probe}},
			source:  "data/lpbq.txt", changed: change{"data/lpbq.txt", "value=lpbq", "value=LPBQ"}, broken: change{"data/lpbq.txt", "value=", "value=("},
			header: change{"include/common.sh", "one", "two"},
			hcl:    "pipelines/tiny-ort.hcl", constant: change{"pipelines/tiny-ort.hcl", `"first"`, `"second"`}, step: [2]string{"exec", "item"},
			more: change{"items.txt", "lpbq\n", "lpbq\na16w4\n"}, fewer: change{"items.txt", "a16w8\n", ""},
			variable: "tokens=2", again: "exec.item", output: "tiny-ort/bundles.a16w8/manifest.json",
			reports: map[string]string{"table": "has the seconds that each way took"},
		},
	}
}

// items are the files of a pipeline with one small action for each item, and one that gathers what these make. Each action
// reads a file of its own, by a depfile; each tenth action, and each named one, reads a common file, too.
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
