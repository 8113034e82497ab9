package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// hfModel is a small Hugging Face folder. Its weights are zeros that take no disk.
type hfModel struct {
	t      testing.TB
	dir    string
	config map[string]any
	types  map[string]string  // by tensor; "": the type of the others
	shapes map[string][]int64 // by tensor
}

// newHF returns a Qwen3 of two layers with a type of weights. write writes it.
func newHF(t testing.TB, dtype string) *hfModel {
	m := &hfModel{t: t, dir: t.TempDir(), types: map[string]string{"": dtype}, shapes: map[string][]int64{},
		config: map[string]any{"model_type": "qwen3", "hidden_size": 64, "intermediate_size": 96,
			"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
			"vocab_size": 300, "tie_word_embeddings": true, "hidden_act": "silu", "rope_scaling": nil,
			"use_sliding_window": false, "layer_types": []string{"full_attention", "full_attention"}}}
	m.shape()
	return m
}

// writeHF writes a small model of an architecture into a folder, with as many layers.
func writeHF(t testing.TB, dir, architecture string, layers int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m := newHF(t, "BF16")
	m.dir = dir
	delete(m.config, "layer_types")
	m.set(map[string]any{"model_type": architecture, "num_hidden_layers": layers})
	for name, shape := range m.shapes {
		if projection, ok := strings.CutSuffix(name, "_proj.weight"); ok && architecture == "qwen2" &&
			strings.Contains(name, "self_attn") && !strings.Contains(name, "o_proj") {
			m.shapes[projection+"_proj.bias"] = shape[:1]
		}
	}
	m.write(1)
}

// set changes numbers of config.json before the tensors follow from them.
func (m *hfModel) set(changes map[string]any) *hfModel {
	maps.Copy(m.config, changes)
	m.shape()
	return m
}

// shape gives the tensors the shapes that config.json means.
func (m *hfModel) shape() {
	n := func(key string) int64 { return int64(m.config[key].(int)) }
	hidden, wide := n("hidden_size"), n("intermediate_size")
	q, kv := n("num_attention_heads")*n("head_dim"), n("num_key_value_heads")*n("head_dim")
	clear(m.shapes)
	m.shapes["model.embed_tokens.weight"] = []int64{n("vocab_size"), hidden}
	m.shapes["model.norm.weight"] = []int64{hidden}
	for l := range n("num_hidden_layers") {
		for name, shape := range map[string][]int64{
			"input_layernorm": {hidden}, "post_attention_layernorm": {hidden},
			"self_attn.q_norm": {n("head_dim")}, "self_attn.k_norm": {n("head_dim")},
			"self_attn.q_proj": {q, hidden}, "self_attn.k_proj": {kv, hidden}, "self_attn.v_proj": {kv, hidden},
			"self_attn.o_proj": {hidden, q},
			"mlp.gate_proj":    {wide, hidden}, "mlp.up_proj": {wide, hidden}, "mlp.down_proj": {hidden, wide},
		} {
			m.shapes[fmt.Sprintf("model.layers.%d.%s.weight", l, name)] = shape
		}
	}
}

func (m *hfModel) file(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func (m *hfModel) remove(name string) {
	m.t.Helper()
	if err := os.Remove(filepath.Join(m.dir, name)); err != nil {
		m.t.Fatal(err)
	}
}

// cut truncates a file by a number of bytes.
func (m *hfModel) cut(name string, by int64) {
	m.t.Helper()
	at := filepath.Join(m.dir, name)
	st, err := os.Stat(at)
	if err == nil {
		err = os.Truncate(at, st.Size()-by)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// tensors writes the header of a safetensors file by hand, and as many zeros as it describes.
func (m *hfModel) tensors(name string, of []string) {
	m.t.Helper()
	header, end := map[string]any{}, int64(0)
	for _, tensor := range of {
		dtype := m.types[tensor]
		if dtype == "" {
			dtype = m.types[""]
		}
		size := map[string]int64{"F32": 4, "BF16": 2, "F16": 2}[dtype]
		if size == 0 {
			size = 1
		}
		for _, n := range m.shapes[tensor] {
			size *= n
		}
		header[tensor] = map[string]any{"dtype": dtype, "shape": m.shapes[tensor],
			"data_offsets": []int64{end, end + size}}
		end += size
	}
	text, err := json.Marshal(header)
	if err != nil {
		m.t.Fatal(err)
	}
	length := make([]byte, 8) // little-endian
	for i := range length {
		length[i] = byte(len(text) >> (8 * i))
	}
	m.file(name, string(length)+string(text))
	if err := os.Truncate(filepath.Join(m.dir, name), 8+int64(len(text))+end); err != nil {
		m.t.Fatal(err)
	}
}

// write writes config.json, tokenizer.json and one safetensors file, or two with an index.
func (m *hfModel) write(files int) *hfModel {
	m.t.Helper()
	config, err := json.Marshal(m.config)
	if err != nil {
		m.t.Fatal(err)
	}
	m.file("config.json", string(config))
	m.file("tokenizer.json", "{}")
	names := slices.Sorted(maps.Keys(m.shapes))
	if files == 1 {
		m.tensors("model.safetensors", names)
		return m
	}
	index := map[string]string{}
	for i, part := range [][]string{names[:len(names)/2], names[len(names)/2:]} {
		file := fmt.Sprintf("model-0000%d-of-00002.safetensors", i+1)
		for _, tensor := range part {
			index[tensor] = file
		}
		m.tensors(file, part)
	}
	text, err := json.Marshal(map[string]any{"weight_map": index})
	if err != nil {
		m.t.Fatal(err)
	}
	m.file("model.safetensors.index.json", string(text))
	return m
}

// hfFolder is a command of scripts: it writes a model into a folder, with numbers of config.json such as vocab_size=9.
func hfFolder(ts *testscript.TestScript, _ bool, args []string) {
	m := newHF(ts.Value("t").(testing.TB), "BF16")
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		n, err := strconv.Atoi(value)
		ts.Check(err)
		m.set(map[string]any{key: n})
	}
	m.dir = ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(m.dir, 0o755))
	m.write(1)
}

// planModel plans the main job for a model. It returns the exit code, and standard error without line breaks, in
// which the model is called MODEL.
func planModel(t *testing.T, cache, model string, args ...string) (int, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := cli.Env{Stdout: &stdout, Stderr: &stderr, CPULevel: "x86-64-v3", Dir: filepath.Join("..", "..", ".."),
		Vars: []string{"HEXMAGE_CACHE=" + cache, "HOME=" + t.TempDir()}, Width: 4096}
	args = append([]string{"hexmage", "plan", "qwen3-aot-v79", "--var", "model=" + model}, args...)
	code := cli.Main(args, env)
	return code, strings.ReplaceAll(strings.Join(strings.Fields(stderr.String()+stdout.String()), " "), model, "MODEL")
}

// TestRefusedModels: `plan` refuses each model that the main job does not take, with the file, the problem and a next
// step, once.
func TestRefusedModels(t *testing.T) {
	const (
		first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
		floats        = "use the model's weights in BF16, F16 or F32"
		together      = "use a folder whose config.json and weights belong together"
	)
	changed := func(key string, value any) func(*hfModel) {
		return func(m *hfModel) { m.set(map[string]any{key: value}).write(1) }
	}
	late := func(key string, value any) func(*hfModel) { // config.json and tensors differ
		return func(m *hfModel) {
			m.config[key] = value
			m.write(1)
		}
	}
	quantized := func(method string) func(*hfModel) {
		return changed("quantization_config", map[string]any{"quant_method": method, "bits": 4})
	}
	typed := func(dtype string) func(*hfModel) {
		return func(m *hfModel) {
			m.types[""] = dtype
			m.write(1)
		}
	}
	after := func(files int, edit func(*hfModel)) func(*hfModel) {
		return func(m *hfModel) { edit(m.write(files)) }
	}
	without := func(name string) func(*hfModel) { return after(1, func(m *hfModel) { m.remove(name) }) }
	cache := t.TempDir()
	for name, c := range map[string]struct {
		make func(*hfModel)
		want []string // one for each error
	}{
		"float8": {typed("F8_E4M3"), []string{"MODEL/model.safetensors: tensor model.embed_tokens.weight is F8_E4M3 " +
			"(and 23 more): " + floats}},
		"int8":         {typed("I8"), []string{"tensor model.embed_tokens.weight is I8 (and 23 more): " + floats}},
		"a newer type": {typed("F8_E8M0"), []string{" is F8_E8M0 (and 23 more): " + floats}},
		"one matrix in int8": {func(m *hfModel) {
			m.types["model.layers.1.mlp.up_proj.weight"] = "I8"
			m.write(2)
		}, []string{"MODEL/" + second + ": tensor model.layers.1.mlp.up_proj.weight is I8: " + floats}},
		"GPTQ": {quantized("gptq"), []string{`MODEL/config.json: quantization_config is "gptq": ` + floats}},
		"AWQ":  {quantized("awq"), []string{`MODEL/config.json: quantization_config is "awq": ` + floats}},
		"fp8":  {quantized("fp8"), []string{`MODEL/config.json: quantization_config is "fp8": ` + floats}},
		"bitsandbytes": {changed("quantization_config", map[string]any{"load_in_4bit": true}), []string{
			`MODEL/config.json: quantization_config is "bitsandbytes": ` + floats}},
		"GPTQ without a config": {func(m *hfModel) {
			m.shapes["model.layers.0.mlp.up_proj.qweight"] = []int64{8}
			delete(m.shapes, "model.layers.0.mlp.up_proj.weight")
			m.write(1)
		}, []string{"MODEL/model.safetensors: tensor model.layers.0.mlp.up_proj.qweight is quantized by GPTQ or AWQ: " +
			floats}},
		"quantized by mllm": {func(m *hfModel) {
			m.shapes["lm_head.scale1"] = []int64{8}
			m.write(1)
		}, []string{"MODEL/model.safetensors: tensor lm_head.scale1 is quantized by mllm's quantizer: " + floats}},
		"missing shard": {after(2, func(m *hfModel) { m.remove(second) }), []string{"MODEL/" + second +
			": file is missing, and model.safetensors.index.json lists it: download it again"}},
		"truncated shard": {after(2, func(m *hfModel) { m.cut(first, 100) }), []string{"MODEL/" + first +
			": file has 125922 bytes, its header describes 126022: download it again"}},
		"Git LFS pointer": {after(1, func(m *hfModel) {
			m.file("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
		}), []string{"MODEL/model.safetensors: file is a Git LFS pointer: run `git lfs pull` in the folder"}},
		"missing tokenizer": {without("tokenizer.json"), []string{
			"MODEL/tokenizer.json: file is missing: download it with the model"}},
		"sentencepiece": {after(1, func(m *hfModel) {
			m.remove("tokenizer.json")
			m.file("tokenizer.model", "x")
		}), []string{"MODEL/tokenizer.json: file is missing, and tokenizer.model has another format: write it with " +
			"save_pretrained of transformers' AutoTokenizer"}},
		"no config.json": {without("config.json"), []string{
			"MODEL/config.json: file is missing: download it with the model"}},
		"no JSON": {after(1, func(m *hfModel) { m.file("config.json", "{") }), []string{
			"MODEL/config.json: file is not a JSON object (unexpected end of JSON input): download it again"}},
		"gemma3": {changed("model_type", "gemma3"), []string{
			`MODEL/config.json: model_type is "gemma3": use a llama, qwen2 or qwen3 model`}},
		"no architecture": {changed("model_type", nil), []string{
			`MODEL/config.json: model_type is missing: use the model's own config.json`}},
		"mixture of experts": {func(m *hfModel) {
			m.set(map[string]any{"model_type": "qwen3_moe", "num_experts": 128}).write(1)
		}, []string{`MODEL/config.json: model_type "qwen3_moe" is a mixture of experts: ` +
			"use a dense llama, qwen2 or qwen3 model"}},
		"llama for qwen3": {changed("model_type", "llama"), []string{
			`MODEL/config.json: model_type is "llama", but the step needs qwen3: write architecture = "llama", or use the ` +
				"pipeline for llama"}},
		"sliding window": {changed("use_sliding_window", true), []string{
			"MODEL/config.json: use_sliding_window is true: use a model with full attention"}},
		"layer types": {changed("layer_types", []string{"full_attention", "sliding_attention"}), []string{
			`MODEL/config.json: layer_types has "sliding_attention": use a model with full attention`}},
		"yarn": {changed("rope_scaling", map[string]any{"rope_type": "yarn", "factor": 4}), []string{
			`MODEL/config.json: rope_scaling is "yarn": use a model with default, linear or llama3 scaling`}},
		"llama3 without numbers": {changed("rope_scaling", map[string]any{"rope_type": "llama3", "factor": 8,
			"low_freq_factor": 1, "high_freq_factor": 4}), []string{"MODEL/config.json: " +
			"original_max_position_embeddings of rope_scaling is null: use the model's own config.json"}},
		"gelu": {changed("hidden_act", "gelu"), []string{
			`MODEL/config.json: hidden_act is "gelu": use a model with silu`}},
		"missing tensor": {func(m *hfModel) {
			delete(m.shapes, "model.layers.1.mlp.up_proj.weight")
			delete(m.shapes, "model.layers.1.mlp.down_proj.weight")
			m.write(2)
		}, []string{"MODEL: tensor model.layers.1.mlp.up_proj.weight is missing (and 1 more): " + together}},
		"tensor of the index": {after(2, func(m *hfModel) {
			m.tensors(second, []string{"model.norm.weight"})
		}), []string{"MODEL/" + second + ": tensor model.layers.1.input_layernorm.weight is missing (and 10 more), " +
			"and model.safetensors.index.json lists it: download it again"}},
		"no head": {changed("tie_word_embeddings", false), []string{"MODEL: tensor lm_head.weight is missing: write " +
			"tie_word_embeddings = true into config.json if the embedding is the head"}},
		"vocabulary": {late("vocab_size", 301), []string{"MODEL/model.safetensors: tensor model.embed_tokens.weight " +
			"is [300 64], config.json means [301 64]: " + together}},
		"hidden size": {late("hidden_size", 128), []string{"MODEL/model.safetensors: tensor " +
			"model.embed_tokens.weight is [300 64] (and 19 more), config.json means [300 128]: " + together}},
		"no hidden size": {late("hidden_size", nil), []string{
			"MODEL/config.json: hidden_size is missing: use the model's own config.json"}},
		"layers": {late("num_hidden_layers", -1), []string{
			"MODEL/config.json: num_hidden_layers is -1, but must be from 1 to 1000: use the model's own config.json"}},
		"heads": {late("num_key_value_heads", 3), []string{"MODEL/config.json: num_attention_heads 4 is not a " +
			"multiple of num_key_value_heads 3: use the model's own config.json"}},
		"block size": {changed("intermediate_size", 72), []string{"MODEL/config.json: intermediate_size 72 is not a " +
			"multiple of block_size 16: choose another block size or model"}},
		"pickle": {after(1, func(m *hfModel) {
			m.remove("model.safetensors")
			m.file("pytorch_model.bin", "PK")
		}), []string{"MODEL/pytorch_model.bin: weights are a pickle, not safetensors: save the model with " +
			"save_pretrained(safe_serialization=True)"}},
		"no weights": {without("model.safetensors"), []string{
			"MODEL/model.safetensors: file is missing: download the model's weights"}},
		"GGUF": {func(m *hfModel) {
			at := filepath.Join(m.dir, "model.gguf")
			m.file("model.gguf", "GGUF\x03")
			m.dir = at
		}, []string{"MODEL: the model is a GGUF file: use the model's Hugging Face folder, or convert the file in a " +
			"step hf_folder"}},
		"GGUF in a folder": {func(m *hfModel) { m.file("model.gguf", "GGUF\x03") }, []string{
			"MODEL/model.gguf: the model is a GGUF file: use the model's Hugging Face folder, or convert the file " +
				"in a step hf_folder"}},
		"a file": {func(m *hfModel) {
			m.file("x.safetensors", "x")
			m.dir = filepath.Join(m.dir, "x.safetensors")
		}, []string{"MODEL: the path is a file: name the folder with config.json and model.safetensors"}},
		"several problems": {after(2, func(m *hfModel) {
			m.config["use_sliding_window"] = true
			m.config["hidden_act"] = "gelu"
			m.write(2)
			m.remove("tokenizer.json")
			m.remove(second)
		}), []string{"use_sliding_window is true", `hidden_act is "gelu"`, "tokenizer.json: file is missing",
			second + ": file is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newHF(t, "BF16")
			c.make(m)
			code, got := planModel(t, cache, m.dir)
			if code != cli.ExitUsage || strings.Count(got, "Error: ") != len(c.want) {
				t.Errorf("exit code %d: %s", code, got)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if testing.Verbose() {
				_, said, _ := strings.Cut(got, "Error: ")
				t.Log(said)
			}
		})
	}
}

// TestAcceptedModels: `plan` takes each type of weights, one file or several, tied and separate heads.
func TestAcceptedModels(t *testing.T) {
	cache := t.TempDir()
	for _, dtype := range []string{"F32", "F16", "BF16"} {
		for files := range 2 {
			m := newHF(t, dtype)
			if files == 1 {
				m.config["tie_word_embeddings"] = false
				m.shapes["lm_head.weight"] = []int64{300, 64}
				m.types["model.norm.weight"] = "F32"
				delete(m.config, "layer_types")
				m.config["rope_parameters"] = map[string]any{"rope_type": "default", "rope_theta": 1e6}
			}
			m.write(files + 1)
			if code, got := planModel(t, cache, m.dir); code != cli.ExitOK || strings.Contains(got, "Error") {
				t.Errorf("%s, %d files: exit code %d: %s", dtype, files+1, code, got)
			}
		}
	}
}

// TestRefusedSoon: `plan` reads headers only. It refuses or takes a model of more than 4 GB within 2 seconds.
func TestRefusedSoon(t *testing.T) {
	m := newHF(t, "BF16").set(map[string]any{"hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28,
		"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 400_000}).write(2)
	var size int64
	for i := range 2 {
		st, err := os.Stat(filepath.Join(m.dir, fmt.Sprintf("model-0000%d-of-00002.safetensors", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		size += st.Size()
	}
	if size < 4<<30 {
		t.Fatalf("the model has %d bytes", size)
	}
	cache := t.TempDir()
	for _, want := range []int{cli.ExitOK, cli.ExitUsage} {
		if want == cli.ExitUsage {
			m.remove("tokenizer.json")
		}
		var code int
		var got string
		took := time.Hour
		for range 3 { // the machine may be busy
			start := time.Now()
			code, got = planModel(t, cache, m.dir)
			took = min(took, time.Since(start))
		}
		if code != want || took > 2*time.Second {
			t.Errorf("exit code %d after %v: %s", code, took, got)
		}
		t.Logf("exit code %d after %v", code, took)
	}
}

// TestMissingModel: a model that is missing and too little memory are what this machine lacks. `plan` says so before it
// reads weights.
func TestMissingModel(t *testing.T) {
	m := newHF(t, "BF16").set(map[string]any{"hidden_size": 16384, "intermediate_size": 65536, "num_hidden_layers": 900,
		"num_attention_heads": 128, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 200_000}).write(1)
	cache := t.TempDir()
	for dir, wants := range map[string][]string{
		m.dir: {"MODEL: Qualcomm's compiler needs at least ", " of memory for this model, but this machine has ",
			"; use a larger machine or a smaller model."},
		m.dir + "/nowhere": {"MODEL: folder is missing: correct the path, or download the model there."},
	} {
		code, got := planModel(t, cache, dir)
		for _, want := range wants {
			if code != cli.ExitUsage || strings.Count(got, want) != 1 || strings.Contains(got, "Error") {
				t.Errorf("exit code %d: %s\nwant once %s", code, got, want)
			}
		}
	}
}
