// Package audit looks at a quantised model of mllm's beside its config.json, for what does not fit, and for what upstream's ahead-of-time programs leave
// out or make worse without a word (main at b9c30702).
//
// One enters it with Check, or as a tool. It knows the names of tensors and how they lie. It does not quantise, compile or judge: what is too much is the
// pipeline's to say.
package audit

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/hf"
	"github.com/hexmage/hexmage/model/mllm"
)

// Config is what of a config.json the tensors' shapes must agree with.
type Config struct {
	Hidden       int `json:"hidden_size"`
	Intermediate int `json:"intermediate_size"`
	Layers       int `json:"num_hidden_layers"`
	Heads        int `json:"num_attention_heads"`
	KVHeads      int `json:"num_key_value_heads"`
	HeadDim      int `json:"head_dim"`
	Vocab        int `json:"vocab_size"`
}

// Found is what there is to say of a model.
type Found struct {
	Biases   int     `json:"biases"`    // biases that are not zero, a tensor each: upstream's compilers take weights and scales alone
	BiasMost float64 `json:"bias_most"` // the largest value among them

	// Widest says how many times as wide as its own the range is that what goes into q and k is quantised with. Upstream's quantiser of Qwen2 and Llama gives
	// it that of the rotation. 1: its own.
	Widest   float64 `json:"widest"`
	WidestAt string  `json:"widest_at"` // the tensor
}

// maxConfig bounds a config.json, maxLayers its layers, and maxBias the bytes of a bias.
const (
	maxConfig = 1 << 20
	maxLayers = 1024
	maxBias   = 1 << 20
)

// Check looks at a model. The error lists the shapes of matrices that are not what the config says.
func Check(f *mllm.File, c Config) (Found, error) {
	if c.Layers < 1 || c.Layers > maxLayers || c.Heads < 1 || c.KVHeads < 1 {
		return Found{}, fmt.Errorf("num_hidden_layers is %d (1 to %d), num_attention_heads %d, num_key_value_heads %d", c.Layers, maxLayers, c.Heads, c.KVHeads)
	}
	found := Found{Widest: 1}
	errs := []error{c.shapes(f)}
	for _, p := range f.Params() {
		if !strings.HasSuffix(p.Name, ".bias") {
			continue
		}
		most, err := largest(f, p)
		errs = append(errs, err)
		if most > 0 {
			found.Biases, found.BiasMost = found.Biases+1, max(found.BiasMost, most)
		}
	}
	for l := range c.Layers {
		at := fmt.Sprintf("model.layers.%d.self_attn.", l)
		own, ok, err := scale(f, at+"v_proj_input_qdq")
		if errs = append(errs, err); !ok { // of an architecture that quantises it once
			continue
		}
		for _, name := range []string{"q_proj_input_qdq", "k_proj_input_qdq"} {
			given, ok, err := scale(f, at+name)
			errs = append(errs, err)
			if ok && given/own > found.Widest {
				found.Widest, found.WidestAt = given/own, at+name
			}
		}
	}
	return found, errors.Join(errs...)
}

// shapes holds the matrices, which lie as [1, 1, in, out], to the config.
func (c Config) shapes(f *mllm.File) error {
	var errs []error
	is := func(name string, said map[int]string, got ...int64) {
		p, ok := f.Lookup(name)
		if !ok {
			errs = append(errs, fmt.Errorf("the model has no %s, which config.json has it have (num_hidden_layers is %d)", name, c.Layers))
			return
		}
		shape := p.Shape
		if len(shape) < len(got) {
			errs = append(errs, fmt.Errorf("%s has the shape %v", name, p.Shape))
			return
		}
		shape = shape[len(shape)-len(got):]
		for i, want := range got {
			if shape[i] != want {
				errs = append(errs, fmt.Errorf("%s has %d, and config.json says %s", name, shape[i], said[i]))
			}
		}
	}
	say := func(key string, v int) string { return fmt.Sprintf("%s is %d", key, v) }
	hidden := say("hidden_size", c.Hidden)
	heads := func(key string, n int) string { return fmt.Sprintf("%s of head_dim %d", say(key, n), c.HeadDim) }
	is("model.embed_tokens.weight", map[int]string{0: say("vocab_size", c.Vocab), 1: hidden}, int64(c.Vocab), int64(c.Hidden))
	for l := range c.Layers {
		at := fmt.Sprintf("model.layers.%d.", l)
		q, kv := int64(c.Heads*c.HeadDim), int64(c.KVHeads*c.HeadDim)
		wide := say("intermediate_size", c.Intermediate)
		before := len(errs)
		is(at+"self_attn.q_proj.weight", map[int]string{0: hidden, 1: heads("num_attention_heads", c.Heads)}, int64(c.Hidden), q)
		is(at+"self_attn.k_proj.weight", map[int]string{0: hidden, 1: heads("num_key_value_heads", c.KVHeads)}, int64(c.Hidden), kv)
		is(at+"self_attn.v_proj.weight", map[int]string{0: hidden, 1: heads("num_key_value_heads", c.KVHeads)}, int64(c.Hidden), kv)
		is(at+"self_attn.o_proj.weight", map[int]string{0: heads("num_attention_heads", c.Heads), 1: hidden}, q, int64(c.Hidden))
		is(at+"mlp.up_proj.weight", map[int]string{0: hidden, 1: wide}, int64(c.Hidden), int64(c.Intermediate))
		is(at+"mlp.gate_proj.weight", map[int]string{0: hidden, 1: wide}, int64(c.Hidden), int64(c.Intermediate))
		is(at+"mlp.down_proj.weight", map[int]string{0: wide, 1: hidden}, int64(c.Intermediate), int64(c.Hidden))
		if len(errs) > before {
			break // the others say the same
		}
	}
	if _, more := f.Lookup(fmt.Sprintf("model.layers.%d.input_layernorm.weight", c.Layers)); more {
		errs = append(errs, fmt.Errorf("the model has more layers than config.json says: num_hidden_layers is %d", c.Layers))
	}
	return errors.Join(errs...)
}

// largest is the largest value of a float tensor, without its sign.
func largest(f *mllm.File, p mllm.Param) (float64, error) {
	if p.DType != mllm.Float32 || p.Size > maxBias {
		return 0, fmt.Errorf("%s is %v of %d bytes, not a few floats: quantise the model again", p.Name, p.DType, p.Size)
	}
	raw, err := io.ReadAll(f.Data(p))
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", p.Name, err)
	}
	most := 0.0
	for ; len(raw) >= 4; raw = raw[4:] {
		v := math.Abs(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("%s holds %v", p.Name, v)
		}
		most = max(most, v)
	}
	return most, nil
}

// scale reads the scale of a point of quantisation; ok is false where there is none.
func scale(f *mllm.File, point string) (s float64, ok bool, err error) {
	name := point + ".fake_quant.scale"
	p, ok := f.Lookup(name)
	if !ok {
		return 0, false, nil
	}
	var raw [4]byte
	if p.DType != mllm.Float32 || p.Size != 4 {
		return 0, false, fmt.Errorf("%s is %v of %d bytes, not one float", name, p.DType, p.Size)
	}
	if _, err := f.Data(p).ReadAt(raw[:], 0); err != nil {
		return 0, false, fmt.Errorf("read %s: %w", name, err)
	}
	v := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[:])))
	if !(v > 0) || math.IsInf(v, 0) {
		return 0, false, fmt.Errorf("%s is %v", name, v)
	}
	return v, true, nil
}

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "audit/1"

// Spec says what to look at.
type Spec struct {
	Model  string `json:"model"`  // the quantised model, .mllm version 2
	Config string `json:"config"` // its config.json
	Out    string `json:"out"`    // the file that Found is written to, as JSON
}

// Run is the tool.
func Run(_ context.Context, s Spec, env tool.Env) error {
	raw, err := boundedfile.Read(s.Config, maxConfig)
	if err != nil {
		return err
	}
	var c Config
	if raw, err = hf.Complete(raw); err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Config, err)
	}
	file, err := os.Open(s.Model)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := mllm.Parse(file, st.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", s.Model, err)
	}
	if f.Version != mllm.V2 {
		return fmt.Errorf("%s: .mllm version %d has no shapes; convert with format = \"v2\"", s.Model, f.Version)
	}
	found, err := Check(f, c)
	if err != nil {
		return fmt.Errorf("%s does not fit %s: %w", filepath.Base(s.Model), s.Config, err)
	}
	if raw, err = json.Marshal(found); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s\n", raw)
	return os.WriteFile(s.Out, append(raw, '\n'), 0o644)
}
