package steps

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/model/hf"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/toolchains"
)

// floats are the types of weights that hexmage's quantizer takes.
func floats() []safetensors.DType {
	return []safetensors.DType{safetensors.BF16, safetensors.F16, safetensors.F32}
}

// model reads a model of the workspace and reports what the step does not take. A model that is missing keeps the plan
// from running only: this machine lacks it. For a model that another step makes it returns false: that step's tree
// exists later, and then the program checks it.
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

// facts looks at a model of the workspace.
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
		if !native { // mllm's train.py writes other files and takes other memory
			b.File, b.Quantizer = 0, 0
		}
		q.fits(m.Model.Host(), b)
	}
	return true
}

// fits reports what the machine lacks to quantize a model and to compile it, and tells the rules what the device has to
// load.
func (q *question) fits(at string, b fit.Bounds) {
	q.p.OutputBytes(b.File)
	q.loads(b.Context, b.Process)
	if q.w.Memory == nil {
		return
	}
	takes := map[string]int64{"hexmage's quantizer": b.Quantizer}
	if q.p.Profile == toolchains.ProfileEmulator { // in others mllm's compiler runs, and its step has memory_gb
		takes["Qualcomm's compiler"] = b.Compiler
	}
	has := q.w.Memory()
	for _, program := range slices.Sorted(maps.Keys(takes)) {
		if n := takes[program]; has > 0 && n > has {
			q.p.Missing(fmt.Sprintf("%s: %s takes at least %s of memory for this model, and this machine has %s: use a "+
				"larger machine or a smaller model.", at, program, bytesize.Decimal(n), bytesize.Decimal(has)))
		}
	}
}

// loads says the size of the largest context and of all that a process on the DSP maps, in bytes.
func (q *question) loads(largest, process int64) {
	q.say("context_mb", cty.NumberIntVal(largest>>20))
	q.say("process_mb", cty.NumberIntVal(process>>20))
}

// facts looks at a model of the workspace.
func (o ONNXLLM) facts(q *question) bool {
	n := hf.Needs{Types: append(floats(), safetensors.F64), Also: []hf.Form{hf.GGUF, hf.MLLM}}
	if f, ok := q.model(o.Model, n); ok && f.Form == hf.Weights {
		if o.Layers != nil {
			f.Model.Layers = min(f.Model.Layers, int64(*o.Layers))
		}
		q.p.OutputBytes(4 * f.Model.Parameters())
	}
	return false
}

// facts looks at a model of the workspace.
func (h HFFolder) facts(q *question) bool {
	n := hf.Needs{Types: append(floats(), safetensors.F64), Also: []hf.Form{hf.GGUF}}
	if f, ok := q.model(h.Model, n); ok && f.Form == hf.Weights {
		q.p.OutputBytes(4 * f.Model.Parameters())
	}
	return false
}
