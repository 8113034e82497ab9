package aotconfig_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/aotconfig"
)

// shipped is what mllm's configs for one model say, of main at b9c30702: of the model's, the keys that its programs read.
type shipped struct {
	Model, Size string
	Config      map[string]any
	AOT         struct {
		Arch, Chipset, Performance, Session string
		VTCM                                int `json:"vtcm_mb"`
		Graphs, Ops                         []string
		Split, Layers                       int
		LLM                                 bool
		Model                               string
		Linear                              string
		LMHead                              string `json:"lm_head"`
		Key, Value                          string
	}
}

func upstream(t *testing.T) []shipped {
	t.Helper()
	raw, err := os.ReadFile("testdata/upstream.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []shipped
	if err := json.Unmarshal(raw, &all); err != nil || len(all) != 6 {
		t.Fatal(len(all), err)
	}
	return all
}

// stock is the config as Hugging Face has it and the quantizer leaves it: without what mllm has added.
func (u shipped) stock(t *testing.T) []byte {
	t.Helper()
	c := maps.Clone(u.Config)
	for _, k := range []string{"linear_impl_type", "max_cache_length"} {
		delete(c, k)
	}
	if u.Model == "qwen2" { // whose configs there have neither
		delete(c, "head_dim")
		delete(c, "attention_bias")
	}
	if u.Model == "llama" {
		c["eos_token_id"] = []int{128001, 128008, 128009}
	}
	c["model_type"], c["linear_block_size"] = u.Model, u.block()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (u shipped) block() (n int) {
	_, last, _ := strings.Cut(u.AOT.Linear, "w4a16 ")
	_, _ = fmt.Sscan(last, &n)
	return n
}

// TestMllmsConfigs: of each model that mllm ships configs for, ours say the same, field by field. Where they do not, it is said why.
func TestMllmsConfigs(t *testing.T) {
	for _, u := range upstream(t) {
		name := u.Model + " " + u.Size
		path := t.TempDir() + "/config.json"
		if err := os.WriteFile(path, u.stock(t), 0o600); err != nil {
			t.Fatal(err)
		}
		m, raw, err := aotconfig.ReadModel(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(got, func(k string, _ any) bool { _, theirs := u.Config[k]; return !theirs })
		if d := cmp.Diff(u.Config, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(slices.Sorted(slices.Values(aotconfig.Keys(u.Model))), slices.Sorted(maps.Keys(u.Config))); d != "" && u.Model != "llama" {
			t.Errorf("%s: keys that are read: %s", name, d)
		}

		raw, err = aotconfig.Write(aotconfig.Target{Arch: strings.ToLower(u.AOT.Arch), SoC: u.AOT.Chipset, VTCMMB: u.AOT.VTCM, SignedPD: u.AOT.Session == "HtpSignedPd"}, m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c, err := aotconfig.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		text := func(m map[string]aotconfig.Method, key string) string {
			w := m[key]
			said := w.Method + map[bool]string{true: " sym ", false: " asym "}[w.Sym] + w.Precision
			if w.BlockSize > 0 {
				said += fmt.Sprint(" ", w.BlockSize)
			}
			return said
		}
		ours, p := u, c.Recipe.Pass
		a := &ours.AOT
		a.Arch, a.Chipset, a.Performance, a.Session, a.VTCM = c.Machine.Arch, c.Machine.Chipset, c.Machine.Performance, c.Machine.Session, c.Machine.VTCM
		a.Graphs, a.Ops, a.Split, a.Layers, a.LLM, a.Model = c.GraphOnQNN, c.OpOnQNN, c.SplitGraph, c.Recipe.Layers, c.Recipe.LLM, p.Model
		a.Linear, a.LMHead, a.Key, a.Value = text(p.Linear, "fallback"), text(p.LMHead, "fallback"), text(p.KVCache, "key"), text(p.KVCache, "value")
		if name == "qwen3 4B" { // no pass reads it, and its quantizer writes LPBQ for the head as for all others
			a.LMHead = u.AOT.LMHead
		}
		if d := cmp.Diff(u.AOT, ours.AOT); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Without being asked nobody gets a signed protection domain: older releases answer "Unsupported config option 2".
func TestUnsignedByDefault(t *testing.T) {
	raw, err := aotconfig.Write(aotconfig.Target{Arch: "v79", SoC: "SM8750", VTCMMB: 8}, aotconfig.Model{Type: "qwen3", Layers: 28, BlockSize: 16})
	if err != nil || !strings.Contains(string(raw), `"htp_security_pd_session": "HtpUnsignedPd"`) {
		t.Errorf("%v\n%s", err, raw)
	}
}
