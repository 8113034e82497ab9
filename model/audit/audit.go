// Package audit compares a quantized model of mllm's with its config.json, and finds what mllm's ahead-of-time programs
// silently leave out or make worse (main at b9c30702).
//
// It knows the names and the layout of tensors. It does not quantize, compile or judge: the pipeline has the limits.
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
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/hf"
	"github.com/hexmage/hexmage/model/mllm"
)

// Found is what there is to say of a model.
type Found struct {
	Biases   int     `json:"biases"`    // biases that are not zero, a tensor each: mllm's compilers take weights and scales alone
	BiasMost float64 `json:"bias_most"` // the largest value among them

	// Widest says how many times as wide as its own the range is that what goes into q and k is quantised with. mllm's quantiser of Qwen2 and Llama gives
	// it that of the rotation. 1: its own.
	Widest   float64 `json:"widest"`
	WidestAt string  `json:"widest_at"` // the tensor
}

// Bounds of a config.json and of a bias, in bytes.
const (
	maxConfig = 1 << 20
	maxBias   = 1 << 20
)

// Check looks at a model. The error lists the shapes of matrices that are not what its config.json means.
func Check(f *mllm.File, m hf.Model) (Found, error) {
	if err := m.Check(); err != nil {
		return Found{}, err
	}
	found := Found{Widest: 1}
	errs := shapes(f, m)
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
	for l := range m.Layers {
		at := fmt.Sprintf("model.layers.%d.self_attn.", l)
		own, ok, err := scale(f, at+"v_proj_input_qdq")
		if errs = append(errs, err); !ok { // of an architecture that quantizes it once
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

// shapes compares the shapes of matrices, of which mllm's files have [1, 1, inputs, outputs], with the config's.
func shapes(f *mllm.File, m hf.Model) (errs []error) {
	check := func(name string, want ...int64) {
		p, ok := f.Lookup(name)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("the model has no %s, and config.json says num_hidden_layers is %d", name, m.Layers))
		case len(p.Shape) < len(want) || !slices.Equal(p.Shape[len(p.Shape)-len(want):], want):
			errs = append(errs, fmt.Errorf("%s has the shape %v, config.json means %v", name, p.Shape, want))
		}
	}
	check("model.embed_tokens.weight", m.Vocabulary, m.Hidden)
	for l := range m.Layers {
		before := len(errs)
		for _, t := range m.Matrices() {
			check(fmt.Sprintf("model.layers.%d.%s.weight", l, t.Name), t.Shape[1], t.Shape[0])
		}
		if len(errs) > before {
			break // the other layers say the same
		}
	}
	if _, more := f.Lookup(fmt.Sprintf("model.layers.%d.input_layernorm.weight", m.Layers)); more {
		errs = append(errs, fmt.Errorf("the model has more layers than config.json says: num_hidden_layers is %d", m.Layers))
	}
	return errs
}

// floats reads a tensor of at most so many bytes.
func floats(f *mllm.File, p mllm.Param, limit int64) (all []float64, err error) {
	if p.DType != mllm.Float32 || p.Size > limit {
		return nil, fmt.Errorf("%s is %v of %d bytes, not a few floats: quantize the model again", p.Name, p.DType, p.Size)
	}
	raw, err := io.ReadAll(f.Data(p))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.Name, err)
	}
	for ; len(raw) >= 4; raw = raw[4:] {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s holds %v", p.Name, v)
		}
		all = append(all, v)
	}
	return all, nil
}

// largest is the largest value of a float tensor, without its sign.
func largest(f *mllm.File, p mllm.Param) (most float64, err error) {
	all, err := floats(f, p, maxBias)
	for _, v := range all {
		most = max(most, math.Abs(v))
	}
	return most, err
}

// scale reads the scale of a point of quantization; ok is false where there is none.
func scale(f *mllm.File, point string) (s float64, ok bool, err error) {
	p, ok := f.Lookup(point + ".fake_quant.scale")
	if !ok {
		return 0, false, nil
	}
	all, err := floats(f, p, 4)
	if err == nil && (len(all) != 1 || all[0] <= 0) {
		err = fmt.Errorf("%s is %v", p.Name, all)
	}
	if err != nil {
		return 0, false, err
	}
	return all[0], true, nil
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
	var c hf.Model
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
