package sdk_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The scripts that people source, and the programs that stand for mllm's.
func TestScripts(t *testing.T) {
	roots := map[string]string{}
	for _, name := range []string{"qairt", "hexagon", "mllm"} {
		root, err := filepath.EvalSymlinks(unpack(t, t.TempDir(), name, ""))
		if err != nil {
			t.Fatal(err)
		}
		roots[name] = root
	}
	for _, c := range []struct {
		why, dir, script string
		want             string // part of the output; with "!" in front, the script must fail
	}{
		{"sourced in the SDK's folder", roots["qairt"], `. ./bin/envsetup.sh && echo "$QAIRT_SDK_ROOT $QNN_SDK_ROOT"`, roots["qairt"] + " " + roots["qairt"]},
		{"sourced twice", roots["qairt"], `. ./bin/envsetup.sh && . ./bin/envsetup.sh && echo "<$LD_LIBRARY_PATH>"`, "<" + roots["qairt"] + "/lib/x86_64-linux-clang>"},
		{"sourced elsewhere by a shell that does not say where the script is", "/", ". '" + roots["qairt"] + "/bin/envsetup.sh' && echo never", "!change to the SDK's folder"},
		{"sourced in the SDK's folder", roots["hexagon"], `. ./setup_sdk_env.source && echo "$HEXAGON_SDK_ROOT" && ls "$DEFAULT_HEXAGON_TOOLS_ROOT/Tools/bin"`, "hexagon-clang++"},
		{"sourced elsewhere", "/", ". '" + roots["hexagon"] + "/setup_sdk_env.source' && echo never", "!change to its folder"},
		{"the context compiler of Qwen2", roots["mllm"], `HEXMAGE_SELF=echo bin/mllm-qwen2-aot-c-sha -m x`, "tool mllm-qwen2-aot-c-sha -m x"},
		{"the context compiler of Llama", roots["mllm"], `HEXMAGE_SELF=echo bin/mllm-llama-aot-c-sha -m x`, "tool mllm-llama-aot-c-sha -m x"},
		{"the context compiler", roots["mllm"], `HEXMAGE_SELF=echo bin/mllm-qwen3-aot-sha-c -m "a b.mllm" -o c.bin`, "tool mllm-qwen3-aot-sha-c -m a b.mllm -o c.bin"},
	} {
		cmd := exec.Command("sh", "-c", c.script)
		cmd.Dir, cmd.Env = c.dir, []string{"PATH=/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		want, fails := strings.CutPrefix(c.want, "!")
		if (err != nil) != fails || !strings.Contains(string(out), want) || strings.Contains(string(out), "never") {
			t.Errorf("%s %s: %v\n%s", c.script, c.why, err, out)
		}
	}
}
