// Package audit compares a model that mllm quantized with the model's config.json. It finds parts that mllm's
// ahead-of-time programs silently omit or degrade, as of mllm's commit b9c30702.
//
// It knows the names and the layout of tensors. It does not quantize or compile. The pipeline sets limits for the
// findings.
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

// Found holds the findings for a model.
type Found struct {
	Biases   int     `json:"biases"`    // tensors of nonzero biases; mllm's compilers read only weights and scales
	BiasMost float64 `json:"bias_most"` // largest absolute value of a bias

	// Widest compares the quantization range of each input of q and k with the range of the input itself. It is the
	// largest ratio of the two ranges, and 1 if they are equal. For Qwen2 and Llama, mllm's quantizer uses the range of
	// the rotation instead.
	Widest   float64 `json:"widest"`
	WidestAt string  `json:"widest_at"` // name of the tensor with the ratio Widest
}

// Limits of a config.json and of a bias, in bytes.
const (
	maxConfig = 1 << 20
	maxBias   = 1 << 20
)

// Check audits a model. Its error lists the matrices whose shapes contradict the config.json.
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
		if errs = append(errs, err); !ok { // architecture that quantizes the input once
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

// shapes compares the shapes of matrices with the config. In mllm's files they are [1, 1, inputs, outputs].
func shapes(f *mllm.File, m hf.Model) (errs []error) {
	check := func(name string, want ...int64) {
		p, ok := f.Lookup(name)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("missing tensor %s, although config.json sets num_hidden_layers to %d", name,
				m.Layers))
		case len(p.Shape) < len(want) || !slices.Equal(p.Shape[len(p.Shape)-len(want):], want):
			errs = append(errs, fmt.Errorf("tensor %s has shape %v, but config.json implies %v", name, p.Shape, want))
		}
	}
	check("model.embed_tokens.weight", m.Vocabulary, m.Hidden)
	for l := range m.Layers {
		before := len(errs)
		for _, t := range m.Matrices() {
			check(fmt.Sprintf("model.layers.%d.%s.weight", l, t.Name), t.Shape[1], t.Shape[0])
		}
		if len(errs) > before {
			break // the other layers have the same problem
		}
	}
	if _, more := f.Lookup(fmt.Sprintf("model.layers.%d.input_layernorm.weight", m.Layers)); more {
		errs = append(errs, fmt.Errorf("the file has more layers than config.json, which sets num_hidden_layers to %d",
			m.Layers))
	}
	return errs
}

// floats reads a tensor of at most limit bytes.
func floats(f *mllm.File, p mllm.Param, limit int64) (all []float64, err error) {
	if p.DType != mllm.Float32 || p.Size > limit {
		return nil, fmt.Errorf("tensor %s: expected a few floats, found %v with %d bytes: quantize the model again",
			p.Name, p.DType, p.Size)
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

// largest returns the largest absolute value in a float tensor.
func largest(f *mllm.File, p mllm.Param) (most float64, err error) {
	all, err := floats(f, p, maxBias)
	for _, v := range all {
		most = max(most, math.Abs(v))
	}
	return most, err
}

// scale reads the scale of a quantization point. ok is false if the point does not exist.
func scale(f *mllm.File, point string) (s float64, ok bool, err error) {
	p, ok := f.Lookup(point + ".fake_quant.scale")
	if !ok {
		return 0, false, nil
	}
	all, err := floats(f, p, 4)
	if err == nil && (len(all) != 1 || all[0] <= 0) {
		err = fmt.Errorf("scale %s: invalid value %v", p.Name, all)
	}
	if err != nil {
		return 0, false, err
	}
	return all[0], true, nil
}

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "audit/1"

// Spec holds the arguments of the tool.
type Spec struct {
	Model  string `json:"model"`  // quantized model, .mllm version 2
	Config string `json:"config"` // the model's config.json
	Out    string `json:"out"`    // JSON file for Found
}

// Run audits the model and writes the findings.
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
		return fmt.Errorf("%s: .mllm version %d stores no shapes: convert the model with format = \"v2\"", s.Model, f.Version)
	}
	found, err := Check(f, c)
	if err != nil {
		return fmt.Errorf("%s does not match %s: %w", filepath.Base(s.Model), s.Config, err)
	}
	if raw, err = json.Marshal(found); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%s\n", raw)
	return os.WriteFile(s.Out, append(raw, '\n'), 0o644)
}
