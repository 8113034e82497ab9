package compiler

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// A compiler takes the models of its architecture alone.
func TestAnotherArchitecture(t *testing.T) {
	dir := t.TempDir()
	c := toymodel.DefaultConfig()
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hub.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	_, raw, err = aotconfig.ReadModel(filepath.Join(dir, "hub.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := New(Qwen2)(t.Context(), []string{"-m", "m", "-c", filepath.Join(dir, "config.json"), "-aot_cfg", "a"}, tool.Env{Stdout: &out, Stderr: &out}); code != aborted || !strings.Contains(out.String(), "mllm-qwen2-aot-c-sha compiles qwen2") {
		t.Errorf("exit code %d, %s", code, &out)
	}
	if code := New(Llama)(t.Context(), []string{"-o", "x"}, tool.Env{Stdout: &out, Stderr: &out}); code != aborted || !strings.Contains(out.String(), `unknown argument "-o"`) {
		t.Errorf("-o: exit code %d, %s", code, &out)
	}
}

// Patterns on linear names override the fallback, and one that matches nothing does no harm.
func TestLinearPatterns(t *testing.T) {
	c := toymodel.DefaultConfig()
	good := aotconfig.Method{Method: "LPBQ", Sym: true, Precision: "w4a16", BlockSize: 16}
	other := aotconfig.Method{Method: "per-channel", Sym: true, Precision: "w8a16"}
	cases := map[string]struct {
		methods map[string]aotconfig.Method
		want    string
	}{
		"fallback":    {map[string]aotconfig.Method{"fallback": good}, ""},
		"unused":      {map[string]aotconfig.Method{"fallback": good, "vision": other}, ""},
		"used":        {map[string]aotconfig.Method{"fallback": good, `mlp\.down`: other}, "only symmetric LPBQ"},
		"bad pattern": {map[string]aotconfig.Method{"fallback": good, `(`: good}, "missing closing"},
	}
	for name, k := range cases {
		err := checkLinears(k.methods, c)
		if (err == nil) != (k.want == "") || err != nil && !strings.Contains(err.Error(), k.want) {
			t.Errorf("%s: %v, want %q", name, err, k.want)
		}
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"short":  {[]string{"-m", "a", "-c", "b", "-aot_cfg", "c", "-o", "d"}, ""},
		"long":   {[]string{"--model_path", "a", "--config", "b", "--aot_config", "c", "--output_context_name", "d", "--qnn_env_path", "e/"}, ""},
		"equals": {[]string{"--model_path=a"}, "unknown argument"},
		"value":  {[]string{"-m"}, "needs a value"},
		"bare":   {[]string{"a"}, "unknown argument"},
		"none":   {nil, "--model_path is required"},
	}
	for name, c := range cases {
		_, _, err := newProgram(Qwen3.String()).parse(c.args)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	var out bytes.Buffer
	if code := New(Qwen3)(t.Context(), []string{"-h"}, tool.Env{Stdout: &out}); code != 0 || !strings.Contains(out.String(), "--qnn_env_path") {
		t.Errorf("-h: exit %d, %q", code, out.String())
	}
}

func TestBuildIDMustBeOne(t *testing.T) {
	dir := t.TempDir() + "/"
	for text, want := range map[string]string{"": "no QNN build id", "v2.41.0.251128145156_1 v2.40.0.251030114326_2": "several"} {
		if err := os.WriteFile(dir+"libQnnHtp.so", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openBackend(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What an older library does not know, it refuses in the vendor's words; one that does not say what it knows takes all.
func TestBackendTakes(t *testing.T) {
	dir := t.TempDir() + "/"
	for name, c := range map[string]struct {
		says string
		aim  aim
		want string
	}{
		"known":         {"open_socs=57,69;\x00open_device_options=0,1,2;", aim{soc: 69, chipset: "SM8750", signed: true}, ""},
		"says nothing":  {"", aim{soc: 87, signed: true}, ""},
		"cut off":       {"open_socs=57,", aim{soc: 69}, ""},
		"SoC":           {"open_socs=57;", aim{soc: 69, chipset: "SM8750"}, "SoC model (SnapdragonModel) is unknown: SM8750 is 69"},
		"signed domain": {"open_socs=57;\x00open_device_options=0,1;", aim{soc: 57, signed: true}, "Unsupported config option 2"},
		"unsigned":      {"open_socs=57;\x00open_device_options=0,1;", aim{soc: 57}, ""},
	} {
		if err := os.WriteFile(dir+"libQnnHtp.so", []byte("v2.31.0.250130000000_0\x00"+c.says), 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := openBackend(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.takes(c.aim); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := openBackend(strings.TrimSuffix(dir, "/")); err == nil || !strings.Contains(err.Error(), "must end in a slash") {
		t.Errorf("without the slash: %v", err)
	}
}

// Values and keys that QNN or its tools do not know are refused in their words.
func TestConfigWords(t *testing.T) {
	c := toymodel.DefaultConfig()
	good, err := aotconfig.Write(aotconfig.Target{Arch: "v79", SoC: "SM8750", VTCMMB: 8}, aotconfig.Model{Type: "qwen3", Layers: c.NumHiddenLayers, BlockSize: c.LinearBlockSize})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ old, new, want string }{
		{`"SM8750"`, `"618"`, "Unknown config socModel 618"},
		{`"htp_arch"`, `"htp_cores": 2, "htp_arch"`, "Invalid key: target_machine/htp_cores"},
		{`"V79"`, `"V80"`, "Unknown HTP architecture"},
		{`"layers": 4`, `"layers": 28`, "quant_recipe.layers is 28, the model has 4"},
		{`"block_size": 16`, `"block_size": 32`, "block_size is 32, the model's linear_block_size 16"},
	} {
		if _, err := parseAOT([]byte(strings.ReplaceAll(string(good), x.old, x.new)), c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", x.new, err)
		}
	}
}
