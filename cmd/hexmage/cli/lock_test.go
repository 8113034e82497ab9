package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// TestLockCommand pins a workspace's toolchains from a server, checks the lock, and pins one anew.
func TestLockCommand(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	if err := sdktest.Archive(&archive, "mllm", ""); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write(archive.Bytes())
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"toolchains/ours.hcl": "toolchain \"ours\" {\n  default = \"1\"\n  release \"1\" {\n    source \"archive\" " +
			"{\n      urls         = [\"" + srv.URL +
			"/ours.zip\"]\n      strip_prefix = \"mllm-simulated\"\n    }\n  }\n}\n",
		"pipelines/a.hcl": "profile \"simulated\" { default = true }\nprofile \"device\" {}\n" +
			"toolchain \"ours\" { when = profile.name == \"device\" }\n" +
			"toolchain \"qairt\" { when = profile.name == \"simulated\" }\n",
		"pipelines/b.hcl": "profile \"simulated\" { default = true }\nprofile \"device\" {}\n" +
			"toolchain \"ours\" { when = profile.name == \"device\" }\n" +
			"toolchain \"qairt\" {\n  when    = profile.name == \"device\"\n  version = \"2.42.0.251225\"\n}\n",
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "hexmage.lock.hcl")
	lock := func() string {
		b, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		return string(b)
	}
	run := func(code int, says string, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		env := Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: dir,
			Vars: []string{"HEXMAGE_CACHE=" + dir + "/.cache", "HOME=" + dir}, Width: 1000}
		if got := Main(append([]string{"hexmage", "lock"}, args...), env); got != code {
			t.Errorf("lock %q: exit code %d, want %d\n%s%s", args, got, code, stdout.String(), stderr.String())
		}
		if slices.Contains(args, "--json") {
			for line := range strings.Lines(stdout.String()) {
				if err := json.Unmarshal([]byte(line), &map[string]any{}); err != nil {
					t.Errorf("lock %q: a line is no object: %s", args, line)
				}
			}
		}
		all := stdout.String() + stderr.String()
		if !strings.Contains(all, says) {
			t.Errorf("lock %q does not say %q:\n%s", args, says, all)
		}
		return stderr.String()
	}
	run(ExitUsage, "missing: ours 1: ", "--check", "--profile", "device")
	run(ExitUsage, "1 of 2 releases", "--check", "--profile", "device") // the catalog pins the other one
	// of the default profile: the shipped lock has it
	run(0, "pins all 1 releases", "--check")
	run(0, "nothing to pin")
	run(ExitEngine, "--offline", "--profile", "device", "--offline")
	if asked.Load() != 0 || lock() != "" {
		t.Errorf("%d requests, lock %q", asked.Load(), lock())
	}
	if said := run(0, "pinned sha256", "--profile", "device"); !strings.Contains(said,
		"ours 1: the publisher provides no digest") {
		t.Errorf("stderr does not say what is taken on trust: %s", said)
	}
	pinned := lock()
	if strings.Count(pinned, "locked ") != 1 || !strings.Contains(pinned, "first use") || asked.Load() != 1 {
		t.Errorf("%d requests, lock:\n%s", asked.Load(), pinned)
	}
	run(0, "pins all 2 releases", "--check", "--profile", "device", "--offline")
	run(0, "nothing to pin", "--profile", "device", "--offline")
	run(0, "as before", "--profile", "device", "--offline", "ours")
	run(0, `"text":"as before`, "--profile", "device", "--offline", "ours", "--json")
	run(0, "", "--profile", "device", "--offline", "--json")
	run(0, "", "--check", "--profile", "device", "--json")
	if asked.Load() != 1 || lock() != pinned {
		t.Errorf("%d requests, lock:\n%s", asked.Load(), lock())
	}
	// Its server has another one now, with the same files in it.
	archive.WriteByte(0)
	archive.Bytes()[archive.Len()-3] = 1
	run(0, "pinned again", "--profile", "device", "--upgrade", "ours")
	if lock() == pinned || asked.Load() != 2 {
		t.Errorf("%d requests, lock:\n%s", asked.Load(), lock())
	}
	run(ExitUsage, `did you mean "ours"`, "--upgrade", "our")
	// Somebody has edited it.
	if err := os.WriteFile(file, []byte(strings.Replace(lock(), `locked "ours" "1"`, `locked "ours" "2"`, 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	run(ExitUsage, "missing: ours 1", "--check", "b", "--profile", "device")
	run(ExitUsage, `"what":"missing"`, "--check", "b", "--profile", "device", "--json")
}
