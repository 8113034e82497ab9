package steps

import (
	"path"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/standin/mllm/quantizer"
	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

// attrs makes a schema of plain arguments; a name that ends in "!" is required.
func attrs(types map[string]cty.Type) hcldec.ObjectSpec {
	spec := hcldec.ObjectSpec{}
	for name, t := range types {
		required := name[len(name)-1] == '!'
		if required {
			name = name[:len(name)-1]
		}
		spec[name] = &hcldec.AttrSpec{Name: name, Type: t, Required: required}
	}
	return spec
}

func one(s action.Spec, outputs ...action.Output) (step.Planned, hcl.Diagnostics) {
	p := step.Planned{Outputs: map[string]action.Artifact{}}
	s.Outputs = outputs
	for _, o := range outputs {
		class, name := action.File, o.Path
		if o.Tree {
			class = action.Tree
		}
		if ext := path.Ext(name); ext != "" {
			name = name[:len(name)-len(ext)]
		}
		p.Outputs[name] = action.Artifact{Class: class, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: s.Name, Path: o.Path}}}}
	}
	p.Specs = []action.Spec{s}
	return p, nil
}

type modelKind struct{}

// Schema of kind model.
func (modelKind) Schema() step.Schema {
	return step.Schema{
		Summary: "makes a small Qwen3-architecture model with seeded weights, in the Hugging Face layout",
		Args: attrs(map[string]cty.Type{
			"seed!": cty.Number, "layers": cty.Number, "block_size": cty.Number,
		}),
		ArgDocs: map[string]string{
			"seed":       "the weights follow from it alone",
			"layers":     "number of transformer layers; default 4",
			"block_size": "`linear_block_size` in config.json: 16, 32 or 64; default 16",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "config.json, tokenizer.json, model.safetensors"}},
	}
}

// Plan of kind model.
func (modelKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	if _, diag := blockSize(r); diag != nil {
		return step.Planned{}, hcl.Diagnostics{diag}
	}
	args, platform := step.FlagTool("make-model", qwen3.MakeVersion, "--seed", r.String("seed"))
	for _, f := range []string{"layers", "block_size"} {
		if v := r.String(f); v != "" {
			args = append(args, "--"+f, v)
		}
	}
	return one(action.Spec{Description: "make seeded weights", Args: append(args, "--out", "dir"), Platform: platform},
		action.Output{Path: "dir", Tree: true})
}

// blockSize is the argument block_size, checked.
func blockSize(r step.Request) (int, *hcl.Diagnostic) {
	switch v := r.String("block_size"); v {
	case "":
		return 16, nil
	case "16", "32", "64":
		return r.Int("block_size", 16), nil
	default:
		return 0, r.ArgErrorf("block_size", "Unsupported block size", "block_size is %s; LPBQ on Hexagon knows 16, 32 and 64.", v)
	}
}

type quantizeKind struct{}

// Schema of kind quantize.
func (quantizeKind) Schema() step.Schema {
	return step.Schema{
		Summary: "quantises a model to W4A16 LPBQ with a uint8 KV cache, under upstream's tensor names",
		Args: attrs(map[string]cty.Type{
			"model!": cty.String, "block_size": cty.Number, "pymllm": cty.String, "python": cty.String,
			"architecture": cty.String, "max_length": cty.Number, "num_samples": cty.Number,
		}),
		ArgDocs: map[string]string{
			"model":        "folder in the Hugging Face layout: an artifact or a workspace path",
			"block_size":   "LPBQ block: 16, 32 or 64; must be the model's `linear_block_size`; default 16",
			"pymllm":       "upstream's source tree: quantise with its Python program (needs CUDA) instead of the built-in one",
			"python":       "Python to run it with; default python3",
			"architecture": "upstream's folder name: qwen3, qwen2 or llama; default qwen3",
			"max_length":   "upstream's --max_length; default 1024",
			"num_samples":  "upstream's --num_samples; default 128",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "model.safetensors, config.json, tokenizer.json"}},
	}
}

// Plan of kind quantize.
func (quantizeKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	block, diag := blockSize(r)
	if diag != nil {
		return step.Planned{}, hcl.Diagnostics{diag}
	}
	model, in := r.Place("model")
	if py, pyIn := r.Place("pymllm"); py != "" {
		return upstreamQuantize(r, model, py, block, step.Unique(append(in, pyIn...)))
	}
	args, platform := step.FlagTool("quantize", quantizer.Version, "--model", model, "--block_size", strconv.Itoa(block), "--out", "dir")
	return one(action.Spec{Description: "quantise W4A16 LPBQ", Args: args, Platform: platform, Inputs: in}, action.Output{Path: "dir", Tree: true})
}

// upstreamQuantize runs upstream's train.py. It needs a positive linear_block_size in config.json, which stock configs do
// not have, and the tokenizer beside the weights afterwards: so the step does both, in one shell command.
func upstreamQuantize(r step.Request, model, py string, block int, in []action.Input) (step.Planned, hcl.Diagnostics) {
	arch, python := r.String("architecture"), r.String("python")
	if arch == "" {
		arch = "qwen3"
	}
	if python == "" {
		python = "python3"
	}
	script := `set -e
cp -rL "$1" model && chmod -R u+w model
"$2" -c 'import json,sys; p="model/config.json"; c=json.load(open(p)); c["linear_block_size"]=int(sys.argv[1]); json.dump(c,open(p,"w"))' "$3"
PYTHONPATH="$4" PYTHONHASHSEED=0 "$2" "$4/pymllm/mobile/backends/qualcomm/transformers/$5/train.py" --model_path model --max_length "$6" --num_samples "$7" --output_dir dir
cp model/config.json model/tokenizer.json dir/
`
	planned, diags := one(action.Spec{
		Description: "quantise with upstream's Python program",
		Args: []string{"sh", "-c", script, "quantize", model, python, strconv.Itoa(block), py, arch,
			strconv.Itoa(r.Int("max_length", 1024)), strconv.Itoa(r.Int("num_samples", 128))},
		Env:      map[string]string{"HF_HOME": "cache", "MODELSCOPE_CACHE": "cache"},
		Inputs:   in,
		Platform: map[string]string{action.PropertyNetwork: "true", action.PropertyHost: "gpu", action.PropertyPool: "gpu=1"},
	}, action.Output{Path: "dir", Tree: true})
	planned.Programs = []string{python, "nvidia-smi"} // upstream's program runs on CUDA only
	if model == "" {
		planned.Missing = append(planned.Missing, "The folder of the Hugging Face model is not given: download it (Qwen/Qwen3-1.7B) and name it in the step's `model`, for the shipped pipelines with --var model=FOLDER.")
	}
	return planned, diags
}

type convertKind struct{}

// Schema of kind convert.
func (convertKind) Schema() step.Schema {
	return step.Schema{
		Summary: "converts safetensors to .mllm, natively and in a fixed order",
		Args:    attrs(map[string]cty.Type{"model!": cty.String, "name!": cty.String, "format": cty.String}),
		ArgDocs: map[string]string{
			"model":  "folder with model.safetensors, or the file",
			"name":   "model name in the file's header",
			"format": "v1 or v2; default v2",
		},
		Outputs: []step.OutputSpec{{Name: "model", Class: action.File, Doc: "the .mllm file"}},
	}
}

// Plan of kind convert.
func (convertKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	format := r.String("format")
	if format == "" {
		format = "v2"
	}
	if format != "v1" && format != "v2" {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("format", "Unsupported format", "format is %q; there are v1 and v2.", format)}
	}
	model, in := r.Place("model")
	if path.Ext(model) != ".safetensors" {
		model += "/model.safetensors"
	}
	args, platform := step.FlagTool("convert", convert.Version, "--input_path", model, "--output_path", "model.mllm", "--model_name", r.String("name"), "--format", format)
	return one(action.Spec{Description: "convert to .mllm " + format, Args: args, Platform: platform, Inputs: in}, action.Output{Path: "model.mllm"})
}
