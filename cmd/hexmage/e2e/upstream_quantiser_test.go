//go:build linux

package e2e_test

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

	"github.com/hexmage/hexmage/model/host"
	"github.com/hexmage/hexmage/model/mllm"
)

// TestUpstreamsQuantiser runs upstream's own programs, of the clone that HEXMAGE_TEST_MLLM names, in their locked environment: train.py of each architecture,
// whose model goes to the emulator; the same model in PyTorch, with the weights that were stored; and its converter.
func TestUpstreamsQuantiser(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of upstream; the test downloads 3.2 GB of PyTorch")
	}
	w := newWorld(t)
	shipped := []string{"--profile=host", "--var=mllm=" + clone, qwen3}
	slow := func(args ...string) *outcome { // gigabytes to download and install, and PyTorch on a few processors
		ctx, cancel := context.WithTimeout(t.Context(), 8*runLimit)
		defer cancel()
		return ended(t, w.command(ctx, args...))
	}
	wants(t, slow(append([]string{"run"}, shipped...)...), exitOK, "1620 of 1620", "passed", "check.twin")
	if r := w.runJSON(t, shipped...); r.executed != 0 {
		t.Errorf("again: %q ran", r.names)
	}

	if err := os.CopyFS(filepath.Join(w.dir, "host"), os.DirFS(filepath.Join(shared.repo, "model", "host", "programs"))); err != nil {
		t.Fatal(err)
	}
	text, err := host.Text("mllm.txt")
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, "mllm.txt", string(text))
	if err := os.CopyFS(filepath.Join(w.dir, "mllm", "pymllm"), os.DirFS(filepath.Join(clone, "pymllm"))); err != nil {
		t.Fatal(err)
	}
	w.write(t, "architecture.py", otherArchitecture)
	w.write(t, "stored.py", inTorch)
	w.write(t, "converter.py", upstreamsConverter)
	w.write(t, "pipelines/held.hcl", heldPipeline)
	wants(t, slow("run", "held"), exitOK)
	out := filepath.Join(w.dir, "out", "held")
	for _, kind := range []string{"qwen3", "qwen2", "llama"} {
		var said struct {
			Least  float64 `json:"least"`
			Argmax float64 `json:"argmax"`
			Rows   int     `json:"rows"`
		}
		if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "stored."+kind))), &said); err != nil || said.Rows < 50 || said.Least < 0.9999 || said.Argmax != 1 {
			t.Errorf("%s on the emulator beside upstream's PyTorch with stored weights: %+v, %v", kind, said, err)
		}
	}

	t.Run("held", func(t *testing.T) { heldToUpstream(t, out) })
}

// heldToUpstream compares what pipeline held made: our quantiser's tensors with upstream's, and our converter's with upstream's.
func heldToUpstream(t *testing.T, out string) {
	t.Run("native", func(t *testing.T) {
		ours, theirs := tensorsOf(t, filepath.Join(out, "ours.mllm")), tensorsOf(t, filepath.Join(out, "mllm.qwen3"))
		if len(ours) != 225 || len(theirs) != 589 {
			t.Errorf("%d tensors, upstream has %d", len(ours), len(theirs))
		}
		for name, a := range ours {
			b, ok := theirs[name]
			switch {
			case !ok || a.dtype != b.dtype || !slices.Equal(a.shape, b.shape) || len(a.data) != len(b.data):
				t.Errorf("%s is %v %v, upstream's %v %v", name, a.dtype, a.shape, b.dtype, b.shape)
			case strings.HasSuffix(name, ".fake_quant.scale"):
				x, y := float(a.data), float(b.data)
				if math.Abs(x-y) > 1e-6*y {
					t.Errorf("%s is %v, upstream's %v", name, x, y)
				}
			case strings.HasPrefix(name, "model.mllm_max_"):
				for i := 0; i < len(a.data); i += 2 {
					if x, y := binary.LittleEndian.Uint16(a.data[i:]), binary.LittleEndian.Uint16(b.data[i:]); max(x, y)-min(x, y) > 1 {
						t.Errorf("%s[%d] is %d, upstream's %d", name, i/2, x, y)
					}
				}
			case !bytes.Equal(a.data, b.data):
				t.Errorf("%s is another than upstream's", name)
			}
		}
	})

	t.Run("converter", func(t *testing.T) {
		for kind, count := range map[string]int{"qwen3": 589, "qwen2": 583, "llama": 577} {
			ours, theirs := tensorsOf(t, filepath.Join(out, "mllm."+kind)), tensorsOf(t, filepath.Join(out, "converted."+kind))
			if len(ours) != count || len(theirs) != count {
				t.Errorf("%s: %d tensors, upstream's converter wrote %d, %d were expected", kind, len(ours), len(theirs), count)
			}
			for name, a := range theirs {
				if b := ours[name]; a.dtype != b.dtype || !slices.Equal(a.shape, b.shape) || !bytes.Equal(a.data, b.data) {
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

// otherArchitecture gives the small model another architecture: the same weights, with biases for qwen2, and without norms of the heads.
const otherArchitecture = `
import json, os, shutil, sys
import torch
from safetensors.torch import load_file, save_file
source, to, kind = sys.argv[1:]
shutil.copytree(source, to)
config = json.load(open(to + "/config.json"))
tensors = load_file(to + "/model.safetensors")
if kind != "qwen3":
    config |= {"model_type": kind, "architectures": [{"qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}[kind]], "attention_bias": kind == "qwen2", "mlp_bias": False}
    tensors = {n: t for n, t in tensors.items() if "q_norm" not in n and "k_norm" not in n}
    if kind == "qwen2":
        torch.manual_seed(7)
        for n in list(tensors):
            if n.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight")):
                tensors[n.replace("weight", "bias")] = 0.1 * torch.randn(len(tensors[n]))
for name, text in (("config.json", json.dumps(config)), ):
    os.remove(to + "/" + name)
    open(to + "/" + name, "w").write(text)
os.remove(to + "/model.safetensors")
save_file(tensors, to + "/model.safetensors", {"format": "pt"})
`

// inTorch runs train.py once more, and before it converts the model has it read what the emulator read, with the weights that it is about to store.
const inTorch = `
import importlib, json, runpy, sys
from pathlib import Path
sys.path.insert(0, "host")
import mllm
sources, kind, model, block, calibration, emulated, to = sys.argv[1:]
mllm.prepare(Path(model), Path("prepared"), int(block))
mllm.surround(Path(sources), mllm.samples(Path(calibration).read_text(), 2), "cpu")
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
    ids = json.loads((Path(emulated) / "said.json").read_text())["text_tokens"]
    want = np.load(Path(emulated) / "text.npy").astype(np.float64)
    linears = [x for x in self.model.modules() if isinstance(x, core.QLinearLPBQ)]
    own = [x.weight_quant for x in linears]
    for x in linears:
        x.weight_quant = Fixed(as_stored(x))
    got = self.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].double().numpy()
    for x, q in zip(linears, own):
        x.weight_quant = q
    cosine = (got * want).sum(1) / np.linalg.norm(got, axis=1) / np.linalg.norm(want, axis=1)
    Path(to).write_text(json.dumps({"least": float(cosine.min()), "argmax": float((got.argmax(1) == want.argmax(1)).mean()), "rows": len(ids)}))
    convert(self)

quantizer.convert = recorded
sys.argv = ["train.py", "--model_path", "prepared", "--max_length", "256", "--num_samples", "2", "--output_dir", "other"]
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
profile "host" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
toolchain "mllm_quantiser" {}
locals {
  blocks = { qwen3 = 16, qwen2 = 32, llama = 32 }
}
step "model" "tiny" {
  seed   = 79
  layers = 2
}
step "quantize" "ours" {
  model       = step.model.tiny.outputs.dir
  tensors     = "upstream"
  max_length  = 256
  num_samples = 2
}
step "python" "kind" {
  for_each    = local.blocks
  environment = toolchain.mllm_quantiser.dir
  script      = "architecture.py"
  args        = [step.model.tiny.outputs.dir, "dir", each.key]
  output "dir" { tree = "dir" }
}
step "quantize" "kind" {
  for_each     = local.blocks
  model        = step.python.kind[each.key].outputs.dir
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
  optimization = 3
}
step "htp_emulate" "kind" {
  for_each = local.blocks
  context  = step.htp_context.kind[each.key].outputs.dir
  prompt   = "When the wind turns, she"
  tokens   = 4
}
step "python" "stored" {
  for_each    = local.blocks
  environment = toolchain.mllm_quantiser.dir
  script      = "stored.py"
  inputs      = ["host", "mllm", "mllm.txt"]
  args        = ["mllm", each.key, step.python.kind[each.key].outputs.dir, tostring(each.value), "mllm.txt", step.htp_emulate.kind[each.key].outputs.dir, "stored.json"]
  output "json" { file = "stored.json" }
}
step "convert" "ours" {
  model = step.quantize.ours.outputs.dir
  name  = "ours"
}
step "convert" "kind" {
  for_each = local.blocks
  model    = step.quantize.kind[each.key].outputs.dir
  name     = "it"
}
step "python" "converted" {
  for_each    = local.blocks
  environment = toolchain.mllm_quantiser.dir
  script      = "converter.py"
  inputs      = ["host", "mllm"]
  args        = ["mllm", step.quantize.kind[each.key].outputs.dir, "it.mllm"]
  output "mllm" { file = "it.mllm" }
}
output "ours.mllm" { value = step.convert.ours.outputs.model }
output "mllm" { value = { for k, s in step.convert.kind : k => s.outputs.model } }
output "converted" { value = { for k, s in step.python.converted : k => s.outputs.mllm } }
output "stored" { value = { for k, s in step.python.stored : k => s.outputs.json } }
`
