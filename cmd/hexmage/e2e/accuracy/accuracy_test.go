//go:build linux

package accuracy_test

import (
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestAccuracy runs what profile emulator says about the accuracy of quantized models.
func TestAccuracy(t *testing.T) {
	w := EmulatorWarmed(t).WithDownloads(t)
	t.Run("qwen3", func(t *testing.T) { qwen3OnEmulator(t, w) })
	t.Run("family", func(t *testing.T) { familyOnEmulator(t, w) })
	t.Run("planted", func(t *testing.T) { planted(t, w) })
	t.Run("ways", func(t *testing.T) { ways(t, w) })
	t.Run("chat", func(t *testing.T) { chat(t, w) })
	t.Run("quantizers", func(t *testing.T) { quantizersOnEmulator(t, w) })
}

// planted: what the compiler refuses is said, and what it gets wrong without a word is found by comparing.
func planted(t *testing.T, w *World) {
	t.Helper()
	w.Write(t, "graphs.py", plantedGraphs)
	w.Write(t, "pipelines/planted.hcl", plantedPipeline)
	Wants(t, w.Run(t, "run", "planted"), ExitOK)
	apply := func(name string, more ...string) *Outcome {
		at := "out/planted/graphs/" + name
		return w.Run(t, append([]string{"run", "onnx-htp", `--var=schemes=["none"]`, "--var=graph=" + at + "/net.onnx",
			"--var=samples=" + at}, more...)...)
	}
	Wants(t, apply("cosh"), ExitFailed, "htp_context.scheme", "Cosh", "allow_cpu_fallback = true")
	// All of it on the NPU, exit code 0, and every value wrong by more than the largest.
	Wants(t, apply("symmetric"), ExitCheck, "9 of 9", "none: cosine ", "below min_cosine 0.99",
		"softmaxes of 8 bits")
	Wants(t, apply("asymmetric"), ExitOK, "9 of 9")
}

// chat: a folder with a chat template, and a prompt of several chunks.
func chat(t *testing.T, w *World) {
	t.Helper()
	w.Write(t, "template.py", chatFolder)
	w.Write(t, "token_by_token.py", tokenByToken)
	w.Write(t, "pipelines/chat.hcl", chatPipeline)
	Wants(t, w.Run(t, "run", "chat"), ExitOK, "6 of 6")
	Wants(t, w.Run(t, "run", "chat", "--var=tokens=90"), ExitFailed,
		"tokens, and 90 of an answer do not fit beside it into a cache of 128: ask for ")
}

// plantedGraphs makes one graph with an op that the NPU's compiler does not know, and two of 8 bits with a softmax:
// in one its output is symmetric, as some quantizers make every activation.
const plantedGraphs = `
import sys
from pathlib import Path
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

r = np.random.default_rng(79)

def save(name, nodes, numbers):
    out = Path(sys.argv[1]) / name
    out.mkdir(parents=True)
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8, 64]) for n in "xy"]
    graph = helper.make_graph(nodes, name, ends[:1], ends[1:], [numpy_helper.from_array(np.asarray(a), n) for n, a in numbers.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), out / "net.onnx")
    np.savez(out / "0.npz", x=r.standard_normal((1, 8, 64)).astype(np.float32))

save("cosh", [helper.make_node("Cosh", ["x"], ["y"], name="bad")], {})
weights = np.round(r.standard_normal((64, 64)) * 30).clip(-127, 127).astype(np.int8)
for name, scale, zero in (("symmetric", 1 / 127, 0), ("asymmetric", 1 / 255, -128)):
    nodes = []
    def node(op, inputs, output):
        nodes.append(helper.make_node(op, inputs, [output], name=output))
        return output
    def pair(x, *of):
        return node("DequantizeLinear", [node("QuantizeLinear", [x, *of], x + "_q"), *of], x + "_now" if x != "softmax" else "y")
    product = node("MatMul", [pair("x", "wide", "none"), node("DequantizeLinear", ["w", "w_scale", "none"], "w_now")], "product")
    pair(node("Softmax", [pair(product, "wide", "none")], "softmax"), "scale", "zero")
    numbers = {"w": weights, "w_scale": np.float32(0.004), "wide": np.float32(8 / 255), "none": np.int8(0), "scale": np.float32(scale), "zero": np.int8(zero)}
    save(name, nodes, numbers)
`

const plantedPipeline = `
profile "emulator" { default = true }
toolchain "onnx" {}
step "python" "graphs" {
  environment = toolchain.onnx.dir
  script      = "graphs.py"
  args        = ["dir"]
  output "dir" { tree = "dir" }
}
output "graphs" { value = step.python.graphs.outputs.dir }
`

// chatFolder copies a model's folder, with a chat template of its own.
const chatFolder = `
import json, shutil, sys
from pathlib import Path
source, out = map(Path, sys.argv[1:])
shutil.copytree(source, out)
template = "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant: {% endif %}"
(out / "tokenizer_config.json").write_text(json.dumps({"chat_template": template, "bos_token": {"content": "<|im_end|>"}}))
`

// tokenByToken answers with the float decode graph alone, a token after the other, and says what the prompt was.
const tokenByToken = `
import json, sys
from pathlib import Path
import numpy as np
import onnxruntime
from tokenizers import Tokenizer
folder, prompt, count, out = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
of = json.loads((folder / "arch.json").read_text())
text = "<|im_end|><|im_start|>user: " + prompt + "<|im_end|><|im_start|>assistant: "
words = Tokenizer.from_file(str(folder / "tokenizer.json"))
ids = words.encode(text, add_special_tokens=False).ids
run = onnxruntime.InferenceSession(folder / "decode.onnx", providers=["CPUExecutionProvider"])
cache = {i.name: np.zeros(i.shape, np.float32) for i in run.get_inputs() if i.name.startswith("past_")}
names = [o.name for o in run.get_outputs()]
angles = of["theta"] ** (-np.arange(0, of["head_dim"], 2) / of["head_dim"])
said = []
for at in range(len(ids) + count - 1):
    mask = np.full((1, 1, 1, of["context"] + 1), -100, np.float32)
    mask[..., :at] = mask[..., -1] = 0
    turn = {"cos": np.cos(at * angles), "sin": np.sin(at * angles)}
    feeds = {"input_ids": np.array([[(ids + said)[at]]], np.int32), "mask": mask, **{n: a.astype(np.float32)[None, None, None] for n, a in turn.items()}, **cache}
    made = dict(zip(names, run.run(None, feeds)))
    for name, a in cache.items():
        a[:, :, at] = made[name.replace("past", "new")][:, :, 0]
    if at >= len(ids) - 1:
        said.append(int(made["logits"][0, 0].argmax()))
Path(out).write_text(json.dumps({"prompt": len(ids), "chunks": -(-len(ids) // of["chunk"]), "words": words.decode(said)}))
`

const chatPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "onnx" {}
variable "tokens" { default = 6 }
locals {
  prompt = "Tell me of the lighthouse at the end of the bay, and of the old man who keeps its lamp."
}
step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
step "python" "folder" {
  environment = toolchain.onnx.dir
  script      = "template.py"
  args        = [step.toy_model.tiny.outputs.dir, "dir"]
  output "dir" { tree = "dir" }
}
module "llm" {
  source  = "onnx-htp"
  model   = step.python.folder.outputs.dir
  prompt  = local.prompt
  tokens  = var.tokens
  schemes = ["a16w8"]
}
step "python" "token_by_token" {
  environment = toolchain.onnx.dir
  script      = "token_by_token.py"
  args        = [module.llm.graphs, local.prompt, "6", "said.json"]
  output "said" { value = "said.json" }
}
check "same" {
  condition     = step.python.token_by_token.outputs.said.words == module.llm.rows["a16w8"].words
  error_message = "A token after the other: ${step.python.token_by_token.outputs.said.words}"
}
check "chunks" {
  condition     = step.python.token_by_token.outputs.said.chunks > 1
  error_message = "The prompt is one chunk."
}
output "table" { value = module.llm.table }
`
