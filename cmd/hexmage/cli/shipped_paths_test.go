package cli_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	carried "github.com/hexmage/hexmage"
	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// shippedPaths are the variables of shipped pipelines that name files or folders, by pipeline and a profile that reads
// them, and what they need beside them. Paths start with in/.
var shippedPaths = []shippedPath{
	{"executorch-qnn", "device", map[string]string{"module": "in/net.py"}},
	{"llm-npu", "device", map[string]string{"int8": "in/int8.mllm", "q4k": "in/q4k.mllm",
		"tokenizer": "in/qwen3/tokenizer.json", "mllm": "in/clone"}},
	{"mllm-aot", "emulator", map[string]string{"architecture": "llama", "model": "in/llama", "mllm": "in/clone",
		"quantizer": "mllm"}},
	{"mllm-aot", "emulator", map[string]string{"architecture": "qwen2", "model": "in/qwen2", "mllm": "in/clone",
		"quantizer": "mllm"}},
	{"mllm-v1-quantize", "emulator", map[string]string{"model": "in/qwen3", "mllm": "in/clone",
		"calibration": "in/text.txt", "pictures": "in/samples"}},
	{"onnx-htp", "emulator", map[string]string{"graph": "in/net.onnx", "samples": "in/samples"}},
	{"onnx-device", "device", map[string]string{"model": "in/qwen3", "runtime": "in/runtime"}},
	{"onnx-htp", "device", map[string]string{"model": "in/qwen3"}},
	{"quantizers", "emulator", map[string]string{"mllm": "in/clone", "model": "tiny"}},
	{"qwen3-aot-v79", "simulated", map[string]string{"mllm": "in/clone"}},
	{"qwen3-aot-v79", "emulator", map[string]string{"model": "in/qwen3", "mllm": "in/clone", "quantizer": "mllm"}},
	{"sdk-matrix", "simulated", map[string]string{"sources": "in/clone/ops/LLaMAPackage"}},
}

type shippedPath struct {
	pipeline, profile string
	vars              map[string]string
}

// noPaths are the other variables.
var noPaths = strings.Fields(`mllm-v1-quantize.samples quantizers.model allow_cpu_fallback architecture block_size board
	context context_len floats kv layers lengths norms package phone precision processor profiling prompt quantizer releases
	repeat rotate schemes serial series share_weights targets threshold tokens`)

// TestShippedPaths: in an empty folder a relative path that is the value of a shipped pipeline's variable is one of
// that folder. If nothing is there, the plan names the path as it was given.
func TestShippedPaths(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	writeInputs(t, dir)
	covered := map[string]bool{}
	for _, c := range shippedPaths {
		t.Run(c.pipeline+"/"+c.profile, func(t *testing.T) {
			out, code := planIn(t, dir, cache, c.pipeline, c.profile, c.vars)
			read := out.hosts()
			for name, value := range c.vars {
				covered[c.pipeline+" "+name] = true
				file := regexp.MustCompile(`in/[^"]+`).FindString(value)
				if file == "" {
					continue
				}
				if !slices.ContainsFunc(read, func(p string) bool { return strings.HasPrefix(p+"/", file+"/") }) {
					t.Errorf("exit code %d: --var %s=%s is no input: %q\n%s", code, name, value, read, out.stderr)
				}
				wrong := maps.Clone(c.vars)
				absent := strings.Replace(file, "in/", "absent/", 1)
				wrong[name] = strings.Replace(value, file, absent, 1)
				out, code := planIn(t, dir, cache, c.pipeline, c.profile, wrong)
				if said := out.text + out.stderr; code != cli.ExitUsage || !strings.Contains(said, absent) {
					t.Errorf("--var %s=%s: exit code %d\n%s", name, wrong[name], code, said)
				}
				if strings.Contains(out.text+out.stderr, dir) {
					t.Errorf("--var %s=%s: the plan has the folder's own path %s", name, wrong[name], dir)
				}
			}
		})
	}
	files, err := fs.Glob(carried.Shipped, "pipelines/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := fs.ReadFile(carried.Shipped, f)
		if err != nil {
			t.Fatal(err)
		}
		pipeline := strings.TrimSuffix(path.Base(f), ".hcl")
		for _, m := range regexp.MustCompile(`(?m)^variable "(\w+)"`).FindAllSubmatch(text, -1) {
			if name := string(m[1]); !covered[pipeline+" "+name] && !slices.Contains(noPaths, name) &&
				!slices.Contains(noPaths, pipeline+"."+name) {
				t.Errorf("%s: variable %s is in no case of this test", pipeline, name)
			}
		}
	}
}

// TestShippedPathsKeys: keys do not depend on where the folder and the cache are.
func TestShippedPathsKeys(t *testing.T) {
	keys := func(dir, pipeline string) map[string]string {
		i := slices.IndexFunc(shippedPaths, func(c shippedPath) bool { return c.pipeline == pipeline })
		writeInputs(t, dir)
		out, _ := planIn(t, dir, t.TempDir(), pipeline, shippedPaths[i].profile, shippedPaths[i].vars)
		found := map[string]string{}
		for _, a := range out.Status.Actions {
			found[a.Step+" "+a.Name] = a.Key
		}
		return found
	}
	for _, pipeline := range []string{"llm-npu", "mllm-v1-quantize", "onnx-htp"} {
		one, two := keys(t.TempDir(), pipeline), keys(filepath.Join(t.TempDir(), "below", "another"), pipeline)
		if !maps.Equal(one, two) {
			t.Errorf("%s: keys differ:\n%v\n%v", pipeline, one, two)
		}
		if pipeline == "llm-npu" && one["module.npu.vocab.qwen "] == "" {
			t.Errorf("the action that reads tokenizer.json has no key: %v", one)
		}
	}
}

// plannedIn is what `hexmage plan --json` prints.
type plannedIn struct {
	Steps []struct {
		Actions []struct {
			Inputs []struct{ Host struct{ Path string } }
		}
	}
	Reads  struct{ Files []string }
	Status struct {
		Actions []struct{ Step, Name, Key string }
	}

	text, stderr string
}

// hosts are the paths that the plan reads of this machine.
func (p *plannedIn) hosts() []string {
	all := p.Reads.Files
	for _, s := range p.Steps {
		for _, a := range s.Actions {
			for _, in := range a.Inputs {
				if in.Host.Path != "" {
					all = append(all, in.Host.Path)
				}
			}
		}
	}
	return all
}

// planIn plans a shipped pipeline in a folder, without a network.
func planIn(t *testing.T, dir, cache, pipeline, profile string, vars map[string]string) (*plannedIn, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := cli.Env{Stdout: &stdout, Stderr: &stderr, CPULevel: "x86-64-v3", Dir: dir,
		Vars: []string{"HEXMAGE_CACHE=" + cache, "HOME=" + cache}}
	args := []string{"hexmage", "plan", pipeline, "--profile", profile, "--json", "--offline"}
	for name, value := range vars {
		args = append(args, "--var", name+"="+value)
	}
	code := cli.Main(args, env)
	p := &plannedIn{text: stdout.String(), stderr: stderr.String()}
	_ = json.Unmarshal(stdout.Bytes(), p) // a plan that failed has none
	return p, code
}

// writeInputs writes in/, which has something for each variable of shippedPaths.
func writeInputs(t *testing.T, dir string) {
	t.Helper()
	for _, architecture := range []string{"qwen3", "qwen2", "llama"} {
		writeHF(t, filepath.Join(dir, "in", architecture), architecture, 2)
	}
	for name, text := range map[string]string{
		"net.onnx": "", "net.pte": "", "int8.mllm": "", "q4k.mllm": "", "samples/1.npz": "",
		"net.py": "def module():\n    pass\n", "text.txt": "A paragraph.\n",
		"runtime/libonnxruntime.so":                            "",
		"clone/ops/LLaMAPackage/src/LLaMAPackageInterface.cpp": "", "clone/ops/LLaMAPackage/src/ops/Op.cpp": "",
	} {
		at := filepath.Join(dir, "in", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
