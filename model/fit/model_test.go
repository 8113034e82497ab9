package fit_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/model/fit/fittest"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	config, err := fittest.Config(tiny())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "config.json")
	if err := os.WriteFile(at, config, 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := fit.Read(dir)
	if err != nil || !strings.Contains(m.From, "alone") {
		t.Fatalf("%+v, %v", m, err)
	}
	if m.From = ""; m != tiny() {
		t.Error(cmp.Diff(tiny(), m))
	}
	untied := tiny()
	untied.Tied = false
	if err := fittest.Write(dir, untied, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if m, err = fit.Read(dir); err != nil || m.From != "config.json and the header of model.safetensors" || m.Tied || m.Parameters() != tiny().Parameters()+512*128 {
		t.Errorf("%+v, %v", m, err)
	}
	other := tiny()
	other.Intermediate = 512
	if config, err = fittest.Config(other); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(config): "/model.safetensors: tensor model.layers.0.mlp.gate_proj.weight is [256 128] (and 5 more), " +
			"config.json means [512 128]: use a folder whose config.json and weights belong together",
		strings.Replace(string(config), `"qwen3"`, `"gemma3"`, 1): `/config.json: model_type is "gemma3": ` +
			"use a llama, qwen2 or qwen3 model",
		strings.Replace(string(config), `"silu"`, `"gelu"`, 1):                                     `hidden_act is "gelu"`,
		strings.Replace(string(config), `"hidden_size": 128`, `"hidden_size": 1000000000`, 1):      "hidden_size is 1000000000",
		strings.Replace(string(config), `"num_key_value_heads": 2`, `"num_key_value_heads": 3`, 1): "is not a multiple of",
		strings.Replace(string(config), `"vocab_size": 512`, `"vocab_size": -1`, 1):                "vocab_size is -1",
		"{": "file is not a JSON object (unexpected end of JSON input)",
	} {
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := fit.Read(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := fit.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "neither a config.json nor one GGUF") {
		t.Error(err)
	}
}

// FuzzConfig: whatever a config.json says, it is refused, or every number of the estimate is one that can be.
func FuzzConfig(f *testing.F) {
	for _, m := range []fit.Model{tiny(), smol()} {
		config, err := fittest.Config(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(config)
	}
	f.Add([]byte(`{"model_type":"llama","num_hidden_layers":1000,"hidden_size":131072,"num_attention_heads":1024,"head_dim":4096,"intermediate_size":524288,"vocab_size":1048576}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := fit.Read(dir)
		if err != nil {
			return
		}
		w := way("a16w8")
		w.Chunk, w.Context = 4096, 1<<20
		e, err := fit.Of(m, w, fit.Known{Context: fit.Fact{Value: 2 << 30}, Bandwidth: fit.Fact{Value: 1e9}})
		if err != nil {
			t.Fatal(err)
		}
		var layers int64
		for _, c := range e.Contexts {
			layers += c.Layers
			if c.Bytes <= 0 || c.Compile <= 0 {
				t.Errorf("%+v", c)
			}
		}
		if layers != m.Layers || e.Phone.Total <= 0 || e.Token.Floor <= 0 || e.Widest.Bytes <= 0 {
			t.Errorf("%+v", e)
		}
	})
}

// header is a GGUF of tiny, whose tensors are the embedding and what else is given.
func header(arch string, more ...string) []byte {
	le := binary.LittleEndian
	text := func(b []byte, s string) []byte { return append(le.AppendUint64(b, uint64(len(s))), s...) }
	b := le.AppendUint32([]byte("GGUF"), 3)
	b = le.AppendUint64(le.AppendUint64(b, uint64(1+len(more))), 7)
	b = text(le.AppendUint32(text(b, "general.architecture"), 8), arch)
	for _, n := range []struct {
		key string
		is  uint32
	}{{"block_count", 2}, {"embedding_length", 128}, {"attention.head_count", 4}, {"attention.head_count_kv", 2}, {"attention.key_length", 32}, {"feed_forward_length", 256}} {
		b = le.AppendUint32(le.AppendUint32(text(b, arch+"."+n.key), 4), n.is)
	}
	for _, name := range append([]string{"token_embd.weight"}, more...) {
		b = le.AppendUint32(text(b, name), 2)
		b = le.AppendUint64(le.AppendUint64(b, 128), 512)
		b = le.AppendUint64(le.AppendUint32(b, 0), 0) // F32, all at the beginning of the data
	}
	for len(b)%32 != 0 {
		b = append(b, 0)
	}
	return append(b, make([]byte, 4*128*512)...)
}

func TestReadGGUF(t *testing.T) {
	dir := t.TempDir()
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "tiny.gguf"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(header("qwen3"))
	want := tiny()
	want.From = "the header of tiny.gguf"
	for _, path := range []string{dir, filepath.Join(dir, "tiny.gguf")} {
		if m, err := fit.Read(path); err != nil || m != want {
			t.Errorf("%s: %v: %s", path, err, cmp.Diff(want, m))
		}
	}
	write(header("qwen3", "output.weight"))
	if m, err := fit.Read(dir); err != nil || m.Tied {
		t.Errorf("%+v, %v", m, err)
	}
	write(header("mamba"))
	if _, err := fit.Read(dir); err == nil || !strings.Contains(err.Error(), `its architecture is "mamba"`) {
		t.Error(err)
	}
	b := header("qwen3")
	write(b[:len(b)-1])
	if _, err := fit.Read(dir); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Error(err)
	}
}
