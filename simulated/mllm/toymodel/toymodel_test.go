package toymodel_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

func TestMakeDependsOnItsArgumentsAlone(t *testing.T) {
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	for dir, seed := range map[string]uint64{a: 1, b: 1, c: 2} {
		spec := toymodel.MakeSpec{Seed: seed, Layers: 4, BlockSize: 16, Architecture: "qwen3", Out: dir}
		if _, stderr, code := tooltest.Run(t, toymodel.MakeTool, toymodel.RunMake, spec); code != 0 {
			t.Fatal(stderr)
		}
	}
	read := func(dir, name string) []byte {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, name := range []string{"config.json", "tokenizer.json", "model.safetensors"} {
		if !bytes.Equal(read(a, name), read(b, name)) {
			t.Errorf("%s differs between two runs", name)
		}
	}
	if bytes.Equal(read(a, "model.safetensors"), read(c, "model.safetensors")) {
		t.Error("another seed gave the same weights")
	}
	m, err := safetensors.Open(filepath.Join(a, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	isHead := func(t safetensors.ModelTensor) bool { return t.Name == "lm_head.weight" }
	if slices.ContainsFunc(m.Tensors(), isHead) || len(m.Tensors()) != 2+11*4 {
		t.Errorf("%d tensors", len(m.Tensors()))
	}
}
