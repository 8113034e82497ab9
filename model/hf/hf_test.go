package hf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/hf"
	"github.com/hexmage/hexmage/model/safetensors"
)

func open(name string) (fs.File, error) { return os.Open(name) }

// folder writes a config.json and a file of weights; nil is a file that is missing.
func folder(t testing.TB, config, weights []byte) string {
	dir := t.TempDir()
	for name, text := range map[string][]byte{"config.json": config, "model.safetensors": weights} {
		if text == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// tensor is a file with one tensor.
func tensor(t testing.TB, name string) []byte {
	var b bytes.Buffer
	err := safetensors.Write(&b, nil, []safetensors.Source{safetensors.Bytes(name, safetensors.U8, []int64{1}, []byte{1})})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const llama = `{"model_type":"llama","num_hidden_layers":1,"hidden_size":32,"num_attention_heads":2,` +
	`"num_key_value_heads":null,"intermediate_size":64,"vocab_size":8,"tie_word_embeddings":true}`

// TestForms: forms of a model that a step takes besides float weights have no problems, and are not compared.
func TestForms(t *testing.T) {
	gguf := t.TempDir()
	if err := os.WriteFile(filepath.Join(gguf, "m.gguf"), []byte("GGUF"), 0o644); err != nil {
		t.Fatal(err)
	}
	types := []safetensors.DType{safetensors.BF16}
	for _, c := range []struct {
		dir  string
		want hf.Form
	}{{gguf, hf.GGUF}, {filepath.Join(gguf, "m.gguf"), hf.GGUF},
		{folder(t, []byte(llama), tensor(t, "lm_head.scale1")), hf.MLLM}} {
		f, problems := hf.Read(open, c.dir, hf.Needs{Types: types, Also: []hf.Form{hf.GGUF, hf.MLLM}})
		if len(problems) > 0 || f.Form != c.want {
			t.Errorf("%s: %+v, %v", c.want, f, problems)
		}
		if f, problems := hf.Read(open, c.dir, hf.Needs{Types: types}); len(problems) != 1 {
			t.Errorf("%s where it is not taken: %+v, %v", c.want, f, problems)
		}
	}
}

// TestConfigAlone: without weights, config.json gives the model, with the defaults of transformers.
func TestConfigAlone(t *testing.T) {
	f, problems := hf.Read(open, folder(t, []byte(llama), nil), hf.Needs{})
	m := f.Model
	if want := (hf.Model{Architecture: "llama", Layers: 1, Hidden: 32, Heads: 2, KVHeads: 2, HeadDim: 16,
		Intermediate: 64, Vocabulary: 8, Tied: true}); m != want || len(problems) > 0 {
		t.Errorf("%+v, %v", m, problems)
	}
	unreadable := func(string) (fs.File, error) { return nil, errors.New("out of files") }
	if _, problems := hf.Read(unreadable, "m", hf.Needs{}); fmt.Sprint(problems) !=
		"[{Unreadable model m: folder cannot be opened (out of files): make it readable}]" {
		t.Error(problems)
	}
}

// FuzzRead: for any config.json and any weights, Read returns problems of one form, or a model with usable numbers.
func FuzzRead(f *testing.F) {
	f.Add([]byte(llama), tensor(f, "lm_head.scale1"))
	f.Add([]byte(llama), tensor(f, "model.norm.weight"))
	f.Add([]byte(`{"model_type":"qwen3","rope_scaling":{"type":[1]},"layer_types":[null],"num_experts":"x"}`), []byte{})
	f.Fuzz(func(t *testing.T, config, weights []byte) {
		n := hf.Needs{Types: []safetensors.DType{safetensors.BF16}, BlockSize: 16, Architecture: "llama"}
		found, problems := hf.Read(open, folder(t, config, weights), n)
		for _, p := range problems {
			if p.Title == "" || strings.Count(p.Text, ": ") < 2 {
				t.Errorf("%+v", p)
			}
		}
		if len(problems) == 0 && found.Form == hf.Weights && found.Model.Check() != nil {
			t.Errorf("%+v of %s", found, json.RawMessage(config))
		}
	})
}
