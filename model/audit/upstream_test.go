package audit_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMllmLeavesOut: what docs/mllm.md says of mllm's programs for Qwen2 and Llama is in their sources, by a clone of it: the compiler for Qwen2 cuts weights and scales into
// heads, makes convolutions without a bias, and asks for none; the runners have the caches of all heads, and no prompt; that for Llama has another's tokenizer.
func TestMllmLeavesOut(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	source := func(name string) string {
		t.Helper()
		text, err := exec.Command("git", "-C", clone, "show", "b9c30702:examples/"+name).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return string(text)
	}
	for name, c := range map[string]struct{ has, lacks []string }{
		"qwen2_qnn_aot/modeling_qwen2_qnn_aot_sha.hpp": {has: []string{`".weight"`, `".scale1"`, `".scale2"`, "vi32{1, 1}, false, aops::Conv2DOpImplType"}, lacks: []string{`".bias"`}},
		"qwen2_qnn_aot/aot_run.cpp":                    {has: []string{"config.num_heads = qwen2_cfg.num_attention_heads", `.prompt = "hello"`, "Tensor::arange(0, seq_len.get()"}, lacks: []string{"std::cin"}},
		"llama_qnn_aot/aot_run.cpp":                    {has: []string{"config.num_heads = llama_cfg.num_attention_heads", "TinyLlamaTokenizer", "Tensor::arange(0, seq_len.get()"}, lacks: []string{"std::cin"}},
		"qwen3_qnn_aot/aot_run.cpp":                    {has: []string{"config.num_heads = qwen3_cfg.num_key_value_heads", "std::cin"}},
	} {
		text := source(name)
		for _, s := range c.has {
			if !strings.Contains(text, s) {
				t.Errorf("%s has no %q", name, s)
			}
		}
		for _, s := range c.lacks {
			if strings.Contains(text, s) {
				t.Errorf("%s has %q", name, s)
			}
		}
	}
}
