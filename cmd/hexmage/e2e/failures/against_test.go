//go:build linux

package failures_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// againstPipeline has what people ask about: an op package that is compiled, a script with Python packages, a command
// with an environment.
const againstPipeline = `profile "simulated" { default = true }

target "SM8750" {}

toolchain "qairt" { version = "2.41.0.251128" }
toolchain "hexagon" { version = "6.4.0.2" }
toolchain "ndk" { version = "r28b" }
toolchain "llvm" {}

variable "level" { default = "info" }
variable "token" { sensitive = true }

toolchain "tools" {
  python       = "PYTHON"
  requirements = ["colour"]
  until        = "2026-10-01"
}

step "patch" "ops" {
  source = "LLaMAPackage"
  series = "mllm"
}

step "oppackage" "llama" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  targets = ["htp_v79"]
}

step "python" "table" {
  environment = toolchain.tools.dir
  script      = "table.py"
  output "table" { file = "table" }
}

step "exec" "say" {
  argv = ["sh", "-c", "test -n \"$AUTH\"; cat ${step.python.table.outputs.table} > said"]
  env  = { LEVEL = var.level, AUTH = "Bearer ${var.token}", HF_TOKEN = "hunter-in-the-environment" }
  output "said" { file = "said" }
}

output "said" { value = step.exec.say.outputs.said }
output "ops" { value = step.oppackage.llama.outputs.dir }
`

// secrets are what is planted, of which nothing may be found but where a person wrote it.
const (
	variableSecret = "hunter-of-a-variable"
	processSecret  = "hunter-of-the-process"
	netrcSecret    = "hunter-of-netrc"
	mirrorSecret   = "hunter-of-a-mirror"
)

// TestAgainst: two machines, each a network namespace of its own with a home, a cache and a workspace elsewhere, have
// nothing in common but the file that one of them exported. What was planted between them is found by name, whichever
// it is: another compiler, another value of the environment, one byte of a header, another locked wheel. No secret
// and no place of either machine is in that file, and no secret in logs and events.
func TestAgainst(t *testing.T) {
	python := "3.11"
	if _, err := os.Stat("/usr/bin/python3.11"); err != nil {
		python = "3.13" // hexmage fetches it
	}
	srv := toolchaintest.ServeIndex(t)
	srv.Add(t, "colour", "1.0", "01-01",
		"import shade\nvalue = 'colour 1.0 ' + shade.value\ndef main(): print(value)\n", "Requires-Dist: shade>=1\n")
	srv.Add(t, "shade", "1.0", "01-01", "value = 'shade 1.0'\n", "")
	srv.Add(t, "shade", "2.0", "09-01", "value = 'shade 2.0'\n", "")

	uv := toolchaintest.UV(t)
	machine := func() *World {
		w := NewWorld(t).WithDownloads(t)
		if err := Link(uv, filepath.Join(w.Cache, "downloads"), func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"pipelines", "modules"} {
			if err := os.RemoveAll(filepath.Join(w.Dir, dir)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(filepath.Join(w.Dir, "oppackage", "example", "LLaMAPackage"),
			filepath.Join(w.Dir, "LLaMAPackage")); err != nil {
			t.Fatal(err)
		}
		w.Write(t, "pipelines/p.hcl", strings.Replace(againstPipeline, "PYTHON", python, 1))
		w.Write(t, "table.py", "import colour\nopen('table', 'w').write(colour.value)\n")
		if err := os.WriteFile(filepath.Join(w.Home, ".netrc"),
			[]byte("machine 127.0.0.1 login ana password "+netrcSecret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.Env = []string{"PATH=" + Path() + ":/usr/bin:/bin", "HEXMAGE_VAR_token=" + variableSecret,
			"GITHUB_TOKEN=" + processSecret,
			"HEXMAGE_MIRRORS=https://mirrored.example/=https://ana:" + mirrorSecret + "@mirror.example/",
			"PIP_CONFIG_FILE=" + os.DevNull,
			"PIP_INDEX_URL=" + strings.Replace(srv.URL, "http://", "http://ana:"+netrcSecret+"@", 1) + "/simple"}
		return w
	}
	// fetched locks and fetches while there is a network, as nothing can be had without one; what runs is run without.
	fetched := func(w *World) *World {
		Wants(t, w.Run(t, "lock", "p"), ExitOK)
		Wants(t, w.Run(t, "run", "p", "toolchain.tools"), ExitOK)
		return w
	}
	theirs := fetched(machine())
	o := theirs.RunAlone(t, "--offline", "--json", "run", "-v", "p")
	Wants(t, o, ExitOK)
	exported := theirs.RunAlone(t, "runs", "--export", "@1")
	Wants(t, exported, ExitOK)
	t.Logf("the file has %d bytes", len(exported.Stdout))

	hunters := regexp.MustCompile("hunter-[a-z-]*")
	for what, text := range map[string]string{"events": o.Stdout + o.Stderr, "run.json": exported.Stdout} {
		if found := hunters.FindAllString(text, -1); found != nil {
			t.Errorf("%s: %q", what, found)
		}
	}
	for _, place := range []string{theirs.Home, theirs.Cache, theirs.Dir, Base(), Repo(), os.TempDir() + "/"} {
		if strings.Contains(exported.Stdout, place) {
			t.Errorf("%s is in what was exported", place)
		}
	}
	// In the cache there is nothing of them, but for what the pipeline's file has in the open.
	for _, secret := range []string{variableSecret, processSecret, netrcSecret, mirrorSecret} {
		holds(t, theirs.Cache, secret)
	}

	ours := fetched(machine())
	file := filepath.Join(ours.Dir, "run.json")
	if err := os.WriteFile(file, []byte(exported.Stdout), 0o644); err != nil {
		t.Fatal(err)
	}
	Wants(t, ours.RunAlone(t, "--offline", "run", "p"), ExitOK)
	steps := []string{"oppackage.llama", "python.table", "exec.say", "toolchain.tools", "toolchain.hexagon"}
	explain := func(step string, args ...string) string {
		t.Helper()
		o := ours.RunAlone(t, append([]string{"explain", "p", step, "--against", "run.json"}, args...)...)
		Wants(t, o, ExitOK)
		if found := hunters.FindAllString(o.Stdout+o.Stderr, -1); found != nil {
			t.Errorf("explain: %q", found)
		}
		t.Logf("%s", o.Stdout)
		return o.Stdout
	}
	for _, step := range steps {
		if text := explain(step); !strings.Contains(text, "as in run ") || strings.Contains(text, "another than") {
			t.Errorf("%s of two machines that did the same: %s", step, text)
		}
	}
	says := func(text string, want ...string) {
		t.Helper()
		for _, re := range want {
			if !regexp.MustCompile(re).MatchString(text) {
				t.Errorf("no %q in: %s", re, text)
			}
		}
	}

	// A value of the environment.
	ours.Edit(t, "pipelines/p.hcl", `default = "info"`, `default = "debug"`)
	says(explain("exec.say"), `another than in run [0-9a-f]{8}: variable LEVEL changed\n`,
		`(?m)^    variable LEVEL changed: info → debug$`)
	ours.Edit(t, "pipelines/p.hcl", `default = "debug"`, `default = "info"`)

	// One byte of a header.
	header := ""
	err := filepath.WalkDir(filepath.Join(ours.Dir, "LLaMAPackage"), func(p string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(p, ".h") || strings.HasSuffix(p, ".hpp") {
			header = p
		}
		return err
	})
	if err != nil || header == "" {
		t.Fatalf("the op package has no header: %v", err)
	}
	was, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	now := bytes.Clone(was)
	at := bytes.IndexByte(now, ' ')
	now[at] = '\t'
	if err := os.WriteFile(header, now, 0o644); err != nil {
		t.Fatal(err)
	}
	name, _ := filepath.Rel(ours.Dir, header)
	changed := `changed: [0-9a-f]{12} \(` + fmt.Sprint(len(was)) + ` bytes\) → [0-9a-f]{12} \(` +
		fmt.Sprint(len(now)) + ` bytes\)   from `
	says(explain("patch.ops"), `another than in run [0-9a-f]{8}: `+name+` changed\n`,
		`(?m)^    input \S+ `+changed+`workspace `+name+`$`)
	says(explain("oppackage.llama"),
		`(?m)^what it is made of is known here when that has run. What may have made that another one:\n  hexmage explain p patch\.ops --against run\.json$`)
	Wants(t, ours.RunAlone(t, "--offline", "run", "p"), ExitOK)
	says(explain("oppackage.llama"),
		`(?m)^    input \S*`+filepath.Base(name)+` `+changed+`step\.patch\.ops\.outputs\.dir$`,
		`(?m)^  hexmage explain p step\.patch\.ops --against run\.json$`)
	if err := os.WriteFile(header, was, 0o644); err != nil {
		t.Fatal(err)
	}

	// Another release of the compiler's SDK.
	ours.Edit(t, "pipelines/p.hcl", "6.4.0.2", "6.3.0.0")
	Wants(t, ours.RunAlone(t, "--offline", "run", "p"), ExitOK)
	says(explain("oppackage.llama"), `another than in run [0-9a-f]{8}: toolchain hexagon changed`,
		`(?m)^    toolchain hexagon changed: 6\.4\.0\.2 \([0-9a-f]{12}\) → 6\.3\.0\.0 \([0-9a-f]{12}\)   from toolchain\.hexagon$`,
		`(?m)^  hexmage explain p toolchain\.hexagon --against run\.json$`)
	says(explain("toolchain.hexagon"), `(?m)^    argument release changed: 6\.4\.0\.2 → 6\.3\.0\.0$`)
	ours.Edit(t, "pipelines/p.hcl", "6.3.0.0", "6.4.0.2")

	// Another wheel in the lock, of a package that nobody named.
	ours.Edit(t, "pipelines/p.hcl", "2026-10-01", "2026-05-01")
	fetched(ours)
	Wants(t, ours.RunAlone(t, "--offline", "run", "p"), ExitOK)
	says(explain("python.table"), `another than in run [0-9a-f]{8}: toolchain tools changed\n`,
		`(?m)^    toolchain tools changed: 3\.1\d \([0-9a-f]{12}\) → 3\.1\d \([0-9a-f]{12}\)   from toolchain\.tools$`,
		`(?m)^      \S+/shade-1\.0\.dist-info is new`, `(?m)^      \S+/shade-2\.0\.dist-info is gone`)
	o = ours.RunAlone(t, "compare", "run.json", "@1")
	Wants(t, o, ExitOK)
	says(o.Stdout, `(?m)^    toolchain tools: 3\.1\d \([0-9a-f]{12}\) → 3\.1\d \([0-9a-f]{12}\)\n      \S+/shade-1\.0\.dist-info: only in B: `)
	says(explain("toolchain.tools", "wheel/shade"), `(?m)^    argument name changed: shade 2\.0 → shade 1\.0$`)
	if text := explain("toolchain.tools", "wheel/colour"); !strings.Contains(text, "nothing differs") {
		t.Errorf("of the wheel that is the same: %s", text)
	}
}

// holds wants no file below the folder to have the text.
func holds(t *testing.T, dir, text string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "grep", "-rl", "-e", text, dir).Output()
	if err == nil || len(out) > 0 {
		t.Errorf("%s is in\n%s", text, out)
	}
}
