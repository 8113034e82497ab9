package steps_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
	"github.com/hexmage/hexmage/steps"
)

const sdkID = "v2.41.0.251128145156_191518"

// runTool runs one tool with arguments in which {dir} may stand, and fails the test unless it returns 0.
func runTool(t *testing.T, dir, name string, args any) string {
	t.Helper()
	out, stderr, code := tryTool(t, dir, name, args)
	if code != 0 {
		t.Fatalf("%s %+v: exit %d: %s", name, args, code, stderr)
	}
	return out
}

func tryTool(t *testing.T, dir, name string, args any) (stdout, stderr string, code int) {
	t.Helper()
	f, ok := steps.Tools()[name]
	if !ok {
		t.Fatalf("no tool %q", name)
	}
	if argv, ok := args.([]string); ok { // the one that takes flags
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "{dir}", dir)
		}
		var o, e bytes.Buffer
		code = f(t.Context(), argv, tool.Env{Stdout: &o, Stderr: &e})
		return o.String(), e.String(), code
	}
	doc, err := tool.Encode(args)
	if err != nil {
		t.Fatal(err)
	}
	return tooltest.Raw(t, f, bytes.ReplaceAll(doc, []byte("{dir}"), []byte(dir)))
}

// convertSpec and referenceSpec are arguments of tools for files of the pipeline.
func convertSpec(in, out, format string) convert.Spec {
	return convert.Spec{Input: "{dir}/" + in + "/model.safetensors", Output: "{dir}/" + out, Format: format}
}

func referenceSpec(model, config, prompt, out string) toymodel.ReferenceSpec {
	return toymodel.ReferenceSpec{Model: "{dir}/" + model, Config: "{dir}/" + config, Tokenizer: "{dir}/model/tokenizer.json", Prompt: prompt, MaxNew: 32, Out: "{dir}/" + out, Dir: "{dir}/dir"}
}

// toolPipeline makes everything from a seed to a context and expected tokens in a new folder.
func toolPipeline(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lib/libQnnHtp.so"), []byte("\x7fELF…\x00"+sdkID+"\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	runTool(t, dir, "toy-model", toymodel.MakeSpec{Seed: 1, Layers: 4, BlockSize: 16, Architecture: "qwen3", Out: "{dir}/model"})
	runTool(t, dir, "convert", convertSpec("model", "model.mllm", "v2"))
	runTool(t, dir, "aot-config", aotconfig.Spec{Target: aotconfig.Target{Arch: "v79", SoC: "SM8750", VTCMMB: 8}, ModelConfig: "{dir}/model/config.json", Out: "{dir}/aot.json", ModelOut: "{dir}/config.json"})
	t.Chdir(dir) // the compiler writes into the folder that it runs in
	out := runTool(t, dir, "mllm-qwen3-aot-sha-c", []string{"-m", "{dir}/model.mllm", "-c", "{dir}/config.json", "-aot_cfg", "{dir}/aot.json",
		"-qnn_env", "{dir}/lib/", "-o", "{dir}/context.bin"})
	for _, mark := range []string{"Tracing SHA model (seq=32)...", "Tracing SHA model (seq=1)...", "SHA model traced successfully.",
		"QNN context context.0 saved to " + dir + "/context.bin written ", "SHA compilation completed successfully!"} {
		if !strings.Contains(out, mark) {
			t.Errorf("the compiler did not print %q:\n%s", mark, out)
		}
	}
	runTool(t, dir, "reference", referenceSpec("model.mllm", "config.json", "When the wind turns, she\n", "tokens.json"))
	return dir
}

// golden holds the digest of each tool's output for the pipeline above, and the version constant that vouches for it.
func golden() map[string][2]string {
	return map[string][2]string{
		"model/config.json":       {"toymodel.MakeTool", "23d425889ebd236aa5c1ac49a139a570ba7eac0abda2e62de41ab9b3719c38c0"},
		"model/tokenizer.json":    {"toymodel.MakeTool", "f869d45fd40ffaab9559593f0fdc1ce3e0190a26910b8d5b0ff1d3ed8c2a6d19"},
		"model/model.safetensors": {"toymodel.MakeTool", "7f10295f478a442f125788248807d8f88c6b6c7a27b14a6f1d097391f08a5180"},
		"model.mllm":              {"convert.Tool", "9d8e5fc663a0c5d2f9655516b66247de735098eb1bf3eac6f554fa641b6f232e"},
		"config.json":             {"aotconfig.Tool", "628a4f1ce07a273ab02ab9b1accbda57e358943647c3603bb18627a896468160"},
		"aot.json":                {"aotconfig.Tool", "6eb8291c21d7692001980862142eec1f1e7f691e021b5328c753b8f3a9da2a99"},
		"context.bin":             {"compiler.Qwen3", "6409260c25b9b650fc66f38beeb8316ad09e13e0f4d5c416a642bd448a43282b"},
		"tokens.json":             {"toymodel.ReferenceTool", "c7daf61776e12c5374d83fe6a527a06050c9688a61d43969f8f71adfd91f94bc"},
	}
}

// The pipeline is run once; what follows reads its files and adds others beside them.
func TestPipeline(t *testing.T) {
	dir := toolPipeline(t)
	t.Run("is golden", func(t *testing.T) { isGolden(t, dir) })
	t.Run("outputs are varied", func(t *testing.T) { outputsAreVaried(t, dir) })
	t.Run("compiler refuses", func(t *testing.T) { compilerRefuses(t, dir) })
}

func isGolden(t *testing.T, dir string) {
	want := golden()
	names := make([]string, 0, len(want))
	for n := range want {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		raw, err := os.ReadFile(filepath.Join(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(raw)); got != want[n][1] {
			t.Errorf("%s: output changed: bump %s and set the digest to %s", n, want[n][0], got)
		}
	}
}

// The model's output must depend on the prompt and must not collapse: a device that computes something else must not agree by chance.
func outputsAreVaried(t *testing.T, dir string) {
	seen := map[string]bool{}
	for i, prompt := range []string{"The model has layers", "hello", "In the winter the river freezes", "1 2 3"} {
		runTool(t, dir, "reference", referenceSpec("model.mllm", "config.json", prompt, "t.json"))
		var r toymodel.Result
		raw, err := os.ReadFile(filepath.Join(dir, "t.json"))
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		distinct := map[int]bool{}
		for _, id := range r.Tokens {
			distinct[id] = true
		}
		if len(r.Tokens) < 8 || len(distinct) < 8 {
			t.Errorf("%q gives %d tokens, %d distinct: %q", prompt, len(r.Tokens), len(distinct), r.Text)
		}
		if seen[r.Text] {
			t.Errorf("prompt %d gives what an earlier one gave", i)
		}
		seen[r.Text] = true
	}
}

func compilerRefuses(t *testing.T, dir string) {
	aot, err := os.ReadFile(filepath.Join(dir, "aot.json"))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(from, to string) string {
		s := strings.Replace(string(aot), from, to, 1)
		if s == string(aot) {
			t.Fatalf("no %q in\n%s", from, aot)
		}
		return s
	}
	args := func(o map[string]string) []string {
		a := map[string]string{"-m": "{dir}/model.mllm", "-c": "{dir}/config.json", "--aot_config": "{dir}/aot2.json", "--qnn_env_path": "{dir}/lib/", "-o": "{dir}/new.bin"}
		for k, v := range o {
			a[k] = v
		}
		var out []string
		for _, k := range []string{"-m", "-c", "--aot_config", "--qnn_env_path", "-o", "--bogus"} {
			if a[k] != "" {
				out = append(out, k, a[k])
			}
		}
		return out
	}
	cases := map[string]struct {
		aot  string
		args map[string]string
		want string
	}{
		"arch":         {edit(`"V79"`, `"V78"`), nil, "Unknown HTP architecture"},
		"chipset":      {edit(`"SM8750"`, `"SM1"`), nil, "htp_chipset"},
		"performance":  {edit(`"HtpBurst"`, `"Fast"`), nil, "htp_try_best_performance"},
		"session":      {edit(`"HtpUnsignedPd"`, `"No"`), nil, "use HtpSignedPd"},
		"missing key":  {edit(`"htp_vtcm_capability_in_mb"`, `"vtcm"`), nil, "all five keys"},
		"layers":       {edit(`"layers": 4`, `"layers": 28`), nil, "with 4 layers, expected qwen3 with 28 layers"},
		"split":        {edit(`"split_graph": 1`, `"split_graph": 2`), nil, "supports only 1"},
		"recipe":       {edit(`"llm_recipe": true`, `"llm_recipe": false`), nil, "the compiler skips all passes"},
		"slash":        {string(aot), map[string]string{"--qnn_env_path": "{dir}/lib"}, "must end in a slash"},
		"hub's config": {string(aot), map[string]string{"-c": "{dir}/model/config.json"}, "max_cache_length"},
		"unknown flag": {string(aot), map[string]string{"--bogus": "1"}, "not defined: -bogus"},
		"no output":    {string(aot), map[string]string{"-o": ""}, "no such file"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, "aot2.json"), []byte(c.aot), 0o644); err != nil {
				t.Fatal(err)
			}
			_, stderr, code := tryTool(t, dir, "mllm-qwen3-aot-sha-c", args(c.args))
			if code != 134 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, %q; want 134 with %q", code, stderr, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "new.bin")); err == nil {
				t.Error("a context was written")
			}
		})
	}
}
