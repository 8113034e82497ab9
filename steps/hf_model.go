package steps

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/model/hf"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/toolchains"
)

// floats returns the weight types that hexmage's quantizer reads.
func floats() []safetensors.DType {
	return []safetensors.DType{safetensors.BF16, safetensors.F16, safetensors.F32}
}

// model reads a model of the workspace and reports properties that the step does not support. If the model is missing,
// the plan stays valid but cannot run on this machine. For a model of another step, model returns false, and the step's
// program checks it later.
func (q *question) model(from step.Path, n hf.Needs) (hf.Folder, bool) {
	at := from.Host()
	if at == "" {
		return hf.Folder{}, false
	}
	f, problems := hf.Read(q.p.Open, at, n)
	for _, p := range problems {
		if p.Title == hf.MissingModel {
			q.p.Missing(p.Text + ".")
			continue
		}
		q.p.FailOnce("model", p.Title, p.Text)
	}
	return f, len(problems) == 0
}

// facts checks a model of the workspace and adds its facts.
func (m Quantize) facts(q *question) bool {
	if at := m.Model.Host(); at != "" {
		q.refuseSimulated("model", at+"/config.json")
	}
	native := !m.PyMLLM.IsSet()
	if q.p.Failed() {
		return true
	}
	n := hf.Needs{Architecture: m.Architecture, BlockSize: int64(m.BlockSize), Tokenizer: true}
	if native {
		n.Types = floats()
	}
	if f, ok := q.model(m.Model, n); ok {
		b := fit.MLLM(f.Model, n.BlockSize, int64(m.MaxLength))
		if !native { // mllm's train.py writes other files and needs other memory
			b.File, b.Quantizer = 0, 0
		}
		q.fits(m.Model.Host(), b)
	}
	return true
}

// fits reports insufficient memory for quantizing and compiling a model, and gives the rules the sizes that the device
// loads.
func (q *question) fits(at string, b fit.Bounds) {
	q.p.OutputBytes(b.File)
	q.loads(b.Context, b.Process)
	if q.w.Memory == nil {
		return
	}
	has := q.w.Memory()
	lacks := func(program string, n int64) {
		if has > 0 && n > has {
			q.p.Missing(fmt.Sprintf("%s: %s needs at least %s of memory for this model, but this machine has %s; use "+
				"a larger machine or a smaller model.", at, program, bytesize.Decimal(n), bytesize.Decimal(has)))
		}
	}
	if q.p.Profile == toolchains.ProfileEmulator { // other profiles run mllm's compiler, whose step has memory_gb
		lacks("Qualcomm's compiler", b.Compiler)
	}
	lacks("hexmage's quantizer", b.Quantizer)
}

// loads adds the sizes of the largest context and of all that a process on the DSP maps, in bytes.
func (q *question) loads(largest, process int64) {
	q.say("context_mb", cty.NumberIntVal(largest>>20))
	q.say("process_mb", cty.NumberIntVal(process>>20))
}

// floats checks a model of the workspace that a step exports in floats, with all layers or the first ones.
func (q *question) floats(model step.Path, layers *int, also ...hf.Form) {
	n := hf.Needs{Types: append(floats(), safetensors.F64), Also: also}
	if f, ok := q.model(model, n); ok && f.Form == hf.Weights {
		if layers != nil {
			f.Model.Layers = min(f.Model.Layers, int64(*layers))
		}
		q.p.OutputBytes(4 * f.Model.Parameters())
	}
}

func (o ONNXLLM) facts(q *question) bool {
	q.floats(o.Model, o.Layers, hf.GGUF, hf.MLLM)
	return false
}

func (h HFFolder) facts(q *question) bool {
	q.floats(h.Model, nil, hf.GGUF)
	return false
}
