package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestPython: an environment is locked, installed without network, and shared; a script runs in it and sees nothing
// of the machine's packages. The index is ours; uv and the interpreter are real.
func TestPython(t *testing.T) {
	program, err := exec.LookPath("/usr/bin/python3.11")
	version := "3.11"
	if err != nil {
		if program, err = exec.LookPath("python3.13"); err != nil {
			t.Skip("not tried: this machine has neither Python 3.11 in /usr/bin nor 3.13")
		}
		version = "3.13"
	}
	downloads := toolchaintest.UV(t)
	srv := toolchaintest.ServeIndex(t)
	add := func(name, version, day, code, needs string) {
		srv.Add(t, name, version, day, code, needs)
	}
	add("colour", "1.0", "01-01", "import shade\nvalue = 'colour 1.0 ' + shade.value\ndef main(): print('tool', "+
		"value)\n", "Requires-Dist: shade>=1\n")
	add("colour", "1.1", "06-01", "value = 'too late'\n", "")
	add("shade", "1.0", "01-01", "value = 'shade 1.0'\n", "")
	add("shade", "2.0", "02-01", "value = 'shade 2.0'\n", "")

	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("ws/pipelines/p.hcl", `
toolchain "tools" {
  python       = "`+version+`"
  requirements = split("\n", file("requirements.txt"))
  exclude_newer = "2026-05-01"
}
step "python" "x" {
  environment = toolchain.tools.dir
  script      = "x.py"
  args        = ["said"]
  inputs      = ["beside.py"]
  output "said" { file = "said" }
}
output "said" { value = step.python.x.outputs.said }
`)
	write("ws/requirements.txt", "# what we need\ncolour  # and what it needs\n")
	write("ws/beside.py", "value = 'beside'\n")
	write("ws/x.py", `
import sys, os, subprocess, socket, beside, colour
tool = os.path.join(os.path.dirname(sys.executable), "colour-tool")
network = "closed"
try:
    socket.create_connection((os.environ.get("NOBODY", "127.0.0.1"), `+srv.URL[strings.LastIndex(srv.URL, ":")+1:]+
		`), 5)
    network = "open"
except OSError:
    pass
with open(sys.argv[1], "w") as f:
    print(colour.value, beside.value, hash("a"), subprocess.check_output([tool], text=True).strip(), sep="\n", file=f)
    print(*[p for p in sys.path if "packages" in p and not p.startswith(os.environ["HEXMAGE_ROOT"])], file=f)
    print(network, os.environ["HOME"] != os.path.expanduser("~nobody"), sys.flags.dont_write_bytecode, file=f)
`)
	var cache string
	caches := func(name string) {
		cache = filepath.Join(root, name)
		if err := os.CopyFS(filepath.Join(cache, "v3", "downloads"), os.DirFS(downloads)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := cli.Main(append([]string{"hexmage"}, args...),
			cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: filepath.Join(root, "ws"),
				Self: os.Args[0],
				Vars: []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + root,
					"HEXMAGE_CACHE=" + cache, "PIP_CONFIG_FILE=" + os.DevNull, "PIP_INDEX_URL=" + srv.URL + "/simple"}})
		return code, out.String()
	}
	must := func(says string, args ...string) string {
		t.Helper()
		code, out := run(args...)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), says) { // doctor breaks lines
			t.Fatalf("%q: exit code %d, want %q in: %s", args, code, says, out)
		}
		return out
	}
	caches("one")
	if code, out := run("run", "p"); code != cli.ExitUsage || !strings.Contains(out, "hexmage lock") {
		t.Errorf("not locked: exit code %d: %s", code, out)
	}
	must("pinned 2 packages", "lock")
	lock, err := os.ReadFile(filepath.Join(root, "ws/hexmage.lock.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"  wheels = [\n    \"colour-1.0-py3-none-any.whl ",
		"    \"shade-2.0-py3-none-any.whl "} {
		if !strings.Contains(string(lock), says) {
			t.Errorf("the lock has no %s:\n%s", says, lock)
		}
	}
	if n := srv.Files.Load(); n != 0 {
		t.Errorf("lock asked %d times for wheels whose sizes and digests the index gives", n)
	}
	if strings.Contains(string(lock), "127.0.0.1") || strings.Contains(string(lock), "://") {
		t.Errorf("the lock has an address:\n%s", lock)
	}
	// If the index gives no sizes, the lock has none.
	first := cache
	caches("plain")
	srv.Plain.Store(true)
	write("ws/hexmage.lock.hcl", "")
	must("pinned 2 packages", "lock")
	unsized := regexp.MustCompile(`(\.whl) \d+ `).ReplaceAll(lock, []byte("$1 0 "))
	again, err := os.ReadFile(filepath.Join(root, "ws/hexmage.lock.hcl"))
	if err != nil || !bytes.Equal(again, unsized) {
		t.Errorf("without sizes: %v\n%s", err, again)
	}
	write("ws/hexmage.lock.hcl", string(lock))
	srv.Plain.Store(false)
	cache = first
	must("pins all", "lock", "--check")
	_, size, _ := strings.Cut(strings.TrimSpace(must("; to download: ", "plan", "p")), "; to download: ")
	must(size+" to download", "doctor", "p")
	must("6 executed", "run", "p")
	if out := must("nothing to download", "doctor", "p"); strings.Contains(out, size+" to download") {
		t.Errorf("doctor after the run: %s", out)
	}
	if out := must("", "plan", "p"); strings.Contains(out, "to download") {
		t.Errorf("plan after the run: %s", out)
	}
	if err := os.CopyFS(filepath.Join(root, "kept/v3/downloads"),
		os.DirFS(filepath.Join(cache, "v3", "downloads"))); err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(root, "kept") // what was downloaded is there, and nothing of it is unpacked
	must("nothing to download", "doctor", "p")
	if out := must("", "plan", "p"); strings.Contains(out, "to download") || !strings.Contains(out, "will run") {
		t.Errorf("plan with all downloads: %s", out)
	}
	cache = first
	said, err := os.ReadFile(filepath.Join(root, "ws/out/p/said"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(said), "\n")
	if len(lines) < 6 || lines[0] != "colour 1.0 shade 2.0" || lines[1] != "beside" ||
		lines[3] != "tool colour 1.0 shade 2.0" || lines[4] != "" || lines[5] != "closed True 1" {
		t.Errorf("it said:\n%s", said)
	}
	where := strings.TrimSpace(must("", "run", "p", "--offline"))
	before := srv.Asked.Load()
	if !strings.Contains(where, "0 executed") || srv.Asked.Load() != before {
		t.Errorf("again, offline: %s", where)
	}
	// A cached environment counts by its unpacked folder, not by thousands of files in the store.
	packages, err := filepath.Glob(filepath.Join(cache, "v3/trees/*/lib/*/site-packages/shade.py"))
	if err != nil || len(packages) != 1 {
		t.Fatalf("%q, %v", packages, err)
	}
	content, err := os.ReadFile(packages[0])
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	err = filepath.WalkDir(filepath.Join(cache, "v3/blake3/cas"), func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if err == nil && bytes.Equal(b, content) {
			gone++
			err = os.Remove(p)
		}
		return err
	})
	if err != nil || gone != 1 {
		t.Fatalf("%d files removed, %v", gone, err)
	}
	write("ws/beside.py", "value = 'edited'\n")
	must("1 executed", "run", "p", "--offline")
	write("ws/beside.py", "value = 'beside'\n")
	// Another cache, another home of it: the same bytes.
	caches("two")
	must("executed", "run", "p")
	again, err = os.ReadFile(filepath.Join(root, "ws/out/p/said"))
	if err != nil || !bytes.Equal(again, said) {
		t.Errorf("again it said:\n%s", again)
	}
	trees := func(cache string) []string {
		names, _ := filepath.Glob(filepath.Join(root, cache, "v3", "trees", "*.ok"))
		for i := range names {
			names[i] = filepath.Base(names[i])
		}
		return names
	}
	if one, two := trees("one"), trees("two"); len(one) != 3 || fmt.Sprint(one) != fmt.Sprint(two) {
		t.Errorf("not an interpreter, uv and an environment that are shared, or two installations differ: %q, %q",
			one, two)
	}
	// Nothing of where it was made is in it, and nothing of what made it.
	err = filepath.WalkDir(filepath.Join(root, "two", "v3", "trees"), func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if d.Name() == ".lock" || d.Name() == "uv_cache.json" {
			t.Errorf("%s is uv's", p)
		}
		b, err := os.ReadFile(p)
		if bytes.Contains(b, []byte(root)) {
			t.Errorf("%s has the name of the folder that it was made in", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	// Other requirements are another environment, which has to be locked.
	write("ws/requirements.txt", "colour\nshade<2\n")
	if code, out := run("run", "p"); code != cli.ExitUsage || !strings.Contains(out, "do not match the requirements") {
		t.Errorf("other requirements: exit code %d: %s", code, out)
	}
	if code, out := run("lock", "--check"); code != cli.ExitUsage || !strings.Contains(out, "stale: tools "+version) {
		t.Errorf("lock --check: exit code %d: %s", code, out)
	}
	must("shade 1.0", "lock")
	must("executed", "run", "p")
	if said, _ := os.ReadFile(filepath.Join(root, "ws/out/p/said")); !strings.HasPrefix(string(said),
		"colour 1.0 shade 1.0\n") {
		t.Errorf("it said:\n%s", said)
	}
	// What cannot be is said in uv's words, without addresses.
	write("ws/requirements.txt", "colour\nshade>7\n")
	if code, out := run("lock"); code != cli.ExitEngine || !strings.Contains(out, "shade>7") ||
		strings.Contains(out, "127.0.0.1") {
		t.Errorf("nothing fits: exit code %d: %s", code, out)
	}
	write("ws/requirements.txt", "colour @ https://x.example/colour.whl\n")
	if code, out := run("validate", "p"); code != cli.ExitUsage || !strings.Contains(out, "invalid requirement") {
		t.Errorf("an address: exit code %d: %s", code, out)
	}
	// Two pipelines may not mean different things by one name.
	write("ws/requirements.txt", "colour\n")
	write("ws/pipelines/q.hcl", "toolchain \"tools\" {\n  python = \""+version+"\"\n  requirements = [\"shade\"]\n}\n")
	if code, out := run("lock"); code != cli.ExitUsage || !strings.Contains(out, "rename one of them") {
		t.Errorf("two of one name: exit code %d: %s", code, out)
	}
}

// TestRealEnvironment locks, installs and uses Qualcomm's compiler for this machine, from the package index that it
// really has: 156 MB, so that only `mage testAll` does it. Nothing of it is kept.
func TestRealEnvironment(t *testing.T) {
	if os.Getenv("HEXMAGE_REGISTRY") != "all" {
		t.Skip("downloads 156 MB: HEXMAGE_REGISTRY=all")
	}
	root := t.TempDir()
	for name, text := range map[string]string{"ws/pipelines/p.hcl": `
toolchain "htp" {
  python       = "3.13"
  requirements = ["onnx==1.23.2", "onnxruntime==1.31.1", "onnxruntime-qnn==2.7.0", "numpy==2.4.6"]
  exclude_newer = "2026-11-20"
}
step "python" "probe" {
  environment = toolchain.htp.dir
  script      = "probe.py"
  output "said" { file = "said" }
}
output "said" { value = step.python.probe.outputs.said }
`, "ws/probe.py": `
import onnx, numpy, onnxruntime, onnxruntime_qnn
onnxruntime.register_execution_provider_library("QNNExecutionProvider", onnxruntime_qnn.get_library_path())
print(onnx.__version__, numpy.__version__, onnxruntime.__version__, *[d.ep_name for d in onnxruntime.get_ep_devices()], file=open("said", "w"))
`} {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// mostly without a Python 3.13
	vars := append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }),
		"PATH=/usr/bin:/bin")
	for i, args := range [][]string{{"lock"}, {"run", "p"}, {"run", "p", "--offline"}} {
		var out bytes.Buffer
		if code := cli.Main(append([]string{"hexmage"}, args...),
			cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: filepath.Join(root, "ws"),
				Self: os.Args[0],
				Vars: append(vars, "HEXMAGE_CACHE="+filepath.Join(root, "cache"))}); code != 0 ||
			i == 2 && !strings.Contains(out.String(), "0 executed") {
			t.Fatalf("%q: exit code %d: %s", args, code, out.String())
		}
	}
	if said, err := os.ReadFile(filepath.Join(root, "ws/out/p/said")); err != nil ||
		!strings.HasPrefix(string(said), "1.23.2 2.4.6 1.31.1 ") ||
		!strings.Contains(string(said), "QNNExecutionProvider") {
		t.Errorf("%v: %s", err, said)
	}
}
