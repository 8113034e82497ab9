package steps

import (
	"strconv"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/standin/mllm/quantizer"
)

// Quantize are the arguments of kind quantize.
type Quantize struct {
	Model        step.Path `arg:"model,required"`
	BlockSize    int       `arg:"block_size" default:"16" oneof:"16 32 64"`
	PyMLLM       step.Path `arg:"pymllm"`
	Python       string    `arg:"python" default:"python3"`
	Architecture string    `arg:"architecture" default:"qwen3"`
	MaxLength    int       `arg:"max_length" default:"1024"`
	NumSamples   int       `arg:"num_samples" default:"128"`
}

func quantizeSchema() step.Schema {
	return step.Schema{
		Summary: "Quantises a model to W4A16 LPBQ with a uint8 KV cache, under upstream's tensor names.",
		ArgDocs: map[string]string{
			"model":        "Folder in the Hugging Face layout: an artifact or a workspace path.",
			"block_size":   "LPBQ block; must be the model's `linear_block_size`.",
			"pymllm":       "Upstream's source tree: quantise with its Python program (needs CUDA) instead of the built-in one.",
			"python":       "Python to run it with.",
			"architecture": "Upstream's folder name: qwen3, qwen2 or llama.",
			"max_length":   "Upstream's --max_length.",
			"num_samples":  "Upstream's --num_samples.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "model.safetensors, config.json, tokenizer.json"}},
		Example: `step "quantize" "qwen3" {
  model      = step.model.toy.outputs.dir
  block_size = 32
}`,
	}
}

// Plan plans the quantising.
func (q Quantize) Plan(p *step.Plan) {
	if q.PyMLLM.IsSet() {
		q.upstream(p)
		return
	}
	s := quantizer.Spec{Model: q.Model.InRoot(), BlockSize: q.BlockSize, Out: "dir"}
	p.Tree("dir", step.Tool(p, "", "quantise W4A16 LPBQ", quantizer.Tool, s).In(q.Model.Input()).OutTree(s.Out))
}

// upstream runs upstream's train.py. It needs a positive linear_block_size in config.json, and upstream's compiler and runner need max_cache_length
// and linear_impl_type there, none of which stock configs have; and the tokenizer is wanted beside the weights afterwards. So the step does all of
// that, in one shell command. The length is that of upstream's own config for Qwen3 1.7B.
func (q Quantize) upstream(p *step.Plan) {
	script := `set -e
cp -rL "$1" model && chmod -R u+w model
"$2" -c 'import json,sys; p="model/config.json"; c=json.load(open(p)); n=int(sys.argv[1]); c.update(linear_block_size=n, linear_impl_type="QNN_LPBQ_w4a16o16_G%d" % n); c.setdefault("max_cache_length", 2048); json.dump(c,open(p,"w"))' "$3"
PYTHONPATH="$4" PYTHONHASHSEED=0 "$2" "$4/pymllm/mobile/backends/qualcomm/transformers/$5/train.py" --model_path model --max_length "$6" --num_samples "$7" --output_dir dir
cp model/config.json model/tokenizer.json dir/
`
	a := p.Action("", "quantise with upstream's Python program", "sh", "-c", script, "quantize", q.Model.InRoot(), q.Python, strconv.Itoa(q.BlockSize),
		q.PyMLLM.InRoot(), q.Architecture, strconv.Itoa(q.MaxLength), strconv.Itoa(q.NumSamples)).In(q.Model.Input(), q.PyMLLM.Input())
	a.SetEnv(map[string]string{"HF_HOME": "cache", "MODELSCOPE_CACHE": "cache"})
	online(a, "gpu")
	a.Set(action.PropertyPool, "gpu=1")
	p.Tree("dir", a.OutTree("dir"))
	p.Programs(q.Python, "nvidia-smi") // upstream's program runs on CUDA only
	if !q.Model.IsSet() {
		p.Missing("The folder of the Hugging Face model is not given: download it (Qwen/Qwen3-1.7B) and name it as the `model` of the step or module, for the shipped pipelines with --var model=FOLDER.")
	}
}
