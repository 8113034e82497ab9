//go:build linux

package emulator_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestInitONNX: in an empty folder, `init --model net.onnx` writes a pipeline that compiles the graph. With samples it
// quantizes, compiles and emulates the graph, and compares it with the CPU.
func TestInitONNX(t *testing.T) {
	w := EmulatorWarmed(t)
	w.Dir = t.TempDir()
	w.Write(t, "made/example.py", Read(t, filepath.Join(Repo(), "modules", "onnx-htp", "example.py")))
	w.Write(t, "made/pipelines/made.hcl", scriptPipeline("example.py"))
	Wants(t, w.Run(t, "-C", "made", "run", "made"), ExitOK)
	w.Write(t, "net.onnx", Read(t, filepath.Join(w.Dir, "made/out/made/dir/net.onnx")))
	Wants(t, w.Run(t, "init", "--model", "net.onnx"), ExitOK, "wrote pipelines/net.hcl",
		"hexmage run net --var samples=FOLDER")
	Wants(t, w.Run(t, "run", "net"), ExitOK, "contexts.none")
	o := w.Run(t, "run", "net", "--var", "samples=made/out/made/dir/samples")
	Wants(t, o, ExitOK, "net.onnx for SM8750", "a16w8", "20 of 20")
	if ran := w.RunJSON(t, "net", "--var", "samples=made/out/made/dir/samples"); ran.Executed != 0 {
		t.Errorf("again: %q ran", ran.Names)
	}
	w.Edit(t, "pipelines/net.hcl", "var.samples\n", "var.samples\n  optimization_level = 3\n")
	Wants(t, w.Run(t, "run", "net", "--var", "samples=made/out/made/dir/samples"), ExitOK, "20 of 20")
}

// TestInitFolder: in an empty folder, `init --model FOLDER` of a Hugging Face folder writes a pipeline. It runs without
// edits, and compares the emulator's answer with the float model's.
func TestInitFolder(t *testing.T) {
	w := EmulatorWarmed(t)
	w.Dir = t.TempDir()
	w.Write(t, "made/pipelines/made.hcl", `
step "toy_model" "it" {
  seed   = 79
  layers = 2
}
output "dir" { value = step.toy_model.it.outputs.dir }
`)
	Wants(t, w.Run(t, "-C", "made", "run", "made"), ExitOK)
	if err := os.CopyFS(filepath.Join(w.Dir, "tiny"), os.DirFS(filepath.Join(w.Dir, "made/out/made/dir"))); err != nil {
		t.Fatal(err)
	}
	Wants(t, w.Run(t, "init", "--model", "tiny"), ExitOK, "wrote pipelines/tiny.hcl", "hexmage run tiny")
	o := w.Run(t, "run", "tiny")
	Wants(t, o, ExitOK, "reference", "a16w8", "lpbq", "not a phone's speed")
	if ran := w.RunJSON(t, "tiny"); ran.Executed != 0 {
		t.Errorf("again: %q ran", ran.Names)
	}
}

// TestONNXHTP goes the whole way of profile emulator with nothing but the packages that it names: a model through
// Qualcomm's compiler and emulator.
func TestONNXHTP(t *testing.T) {
	cold := NewWorld(t)
	asksFor(t, cold, ONNXHTP, "htp_host", "gnu_runtime", "onnx", "uv")
	asksFor(t, cold, ONNXHTP+" --var=model=smollm2", "htp_host", "gnu_runtime", "onnx", "uv", "smollm2")
	w := EmulatorWarmed(t) // what has run there came from nothing
	if o := w.Run(t, "run", ONNXHTP); o.Code != 0 || !strings.Contains(o.Stdout, "12 of 12") ||
		!strings.Contains(o.Stdout, "not a phone's speed") {
		t.Fatalf("the first run: %s", o)
	}
	if again := w.RunJSON(t, ONNXHTP); again.Executed != 0 {
		t.Errorf("the second run did %q", again.Names)
	}
	asksFor(t, w, ONNXHTP)
	asksFor(t, w, ONNXHTP+" --var=model=smollm2", "smollm2")

	t.Run("what runs again", func(t *testing.T) {
		for arg, never := range map[string][]string{"--var=prompt=Name three fruits.": {"onnx_llm", "onnx_quantize",
			"htp_context"}, "--soc=SM8650": {"onnx_llm", "onnx_quantize", "onnx_run"}} {
			r := w.RunJSON(t, arg, ONNXHTP)
			for _, name := range r.Names {
				for _, kind := range never {
					if strings.Contains(name, "."+kind+".") {
						t.Errorf("%s: %s ran again", arg, name)
					}
				}
			}
			if r.Executed == 0 {
				t.Errorf("%s: nothing ran", arg)
			}
		}
		if r := w.RunJSON(t, ONNXHTP); r.Executed != 0 {
			t.Errorf("back again: %q ran", r.Names)
		}
	})

	t.Run("any graph", func(t *testing.T) {
		o := w.Run(t, "run", ONNXHTP, "--var=graph=example")
		if o.Code != 0 || !strings.Contains(o.Stdout, "20 of 20") ||
			!strings.Contains(o.Stdout, "0.9998") {
			t.Fatal(o)
		}
		if r := w.RunJSON(t, ONNXHTP, "--var=graph=example"); r.Executed != 0 {
			t.Errorf("again: %q ran", r.Names)
		}
		// in 16-bit floats
		o = w.Run(t, "run", ONNXHTP, "--var=graph=example", `--var=schemes=["none"]`)
		if o.Code != 0 ||
			!strings.Contains(o.Stdout, "6 of 6") {
			t.Error(o)
		}
	})

	t.Run("programs", func(t *testing.T) { programs(t, w, "test_programs.py") })

	t.Run("any processor", func(t *testing.T) { anyProcessor(t, w) })

	t.Run("goes on", func(t *testing.T) { goesOn(t, w) })

	t.Run("device", func(t *testing.T) {
		at := filepath.Join(w.Dir, "out", ONNXHTP, "contexts.lpbq")
		said := filepath.Join(at, "device", "decoder.txt")
		if !regexp.MustCompile(`^shared 1\nmade for SM8750, Hexagon v79, compiled by QAIRT 2\.51\.0\.\d+\n(stop \d+\n)?` +
			`(zero past_[kv]_[01] \d+\n){4}$`).MatchString(Read(t, said)) {
			t.Errorf("decoder.txt: %s", Read(t, said))
		}
		var manifest struct {
			Files map[string]struct {
				Bytes  int
				SHA256 string
			}
		}
		if err := json.Unmarshal([]byte(Read(t, filepath.Join(at, "manifest.json"))), &manifest); err != nil {
			t.Fatal(err)
		}
		seen := 0
		err := filepath.WalkDir(at, func(file string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == "manifest.json" {
				return err
			}
			text, name := Read(t, file), strings.TrimPrefix(file, at+string(filepath.Separator))
			if f := manifest.Files[name]; f.Bytes != len(text) ||
				f.SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) {
				t.Errorf("%s has %d bytes, and manifest.json says %+v", name, len(text), f)
			}
			if strings.HasPrefix(text, "\x7fELF") || strings.Contains(filepath.Base(name), ".so") {
				t.Errorf("%s is a library", name)
			}
			seen++
			return nil
		})
		if err != nil || seen != len(manifest.Files) {
			t.Errorf("%d files, manifest.json has %d; %v", seen, len(manifest.Files), err)
		}
	})

	t.Run("contexts", func(t *testing.T) { readAlike(t, w) })
	t.Run("sizes", func(t *testing.T) { sized(t, w) })

	t.Run("outputs", func(t *testing.T) { outputs(t, w) })

	t.Run("keys", func(t *testing.T) { keys(t, w) })

	t.Run("reproducible", func(t *testing.T) {
		other := NewWorld(t).WithEmulatorDownloads(t)
		for _, w := range []*World{w, other} { // in w others were made meanwhile
			if o := w.Run(t, "run", ONNXHTP); o.Code != 0 {
				t.Fatalf("in %s: %s", w.Dir, o)
			}
		}
		for _, name := range []string{"device/prefill_ctx_qnn.bin", "emulator/prefill/prefill_ctx_qnn.bin",
			"emulator/decode/decode_ctx_qnn.bin"} {
			at := "contexts.a16w8/" + name
			one, two := Read(t, filepath.Join(w.Dir, "out", ONNXHTP, at)),
				Read(t, filepath.Join(other.Dir, "out", ONNXHTP, at))
			if one != two || len(one) < 100_000 {
				t.Errorf("%s: %d and %d bytes, not the same", name, len(one), len(two))
			}
		}
		for _, scheme := range []string{"a16w8", "lpbq"} {
			at := filepath.Join("out", ONNXHTP, "contexts."+scheme, "manifest.json") // which has every file's digest
			if Read(t, filepath.Join(w.Dir, at)) != Read(t, filepath.Join(other.Dir, at)) {
				t.Errorf("%s: not the same", at)
			}
		}
	})

	t.Run("socs", func(t *testing.T) {
		for soc, of := range map[string]struct {
			arch   string
			model  int
			scheme string
		}{"SM8550": {"73", 43, "lpbq"}, "SM8650": {"75", 57, "lpbq"}, "SM8750": {"79", 69, "a16w4"},
			"SM8850": {"81", 87, "lpbq"}} {
			if o := w.Run(t, "--soc", soc, "run", ONNXHTP, `--var=schemes=["`+of.scheme+`"]`); o.Code != 0 {
				t.Errorf("%s: %s", soc, o)
				continue
			}
			at := filepath.Join("out", ONNXHTP, "contexts."+of.scheme)
			o := w.Run(t, "inspect", "--json", filepath.Join(at, "device", "prefill_ctx_qnn.bin"))
			Wants(t, o, ExitOK, `"arch":`+of.arch, `"soc_model":`+strconv.Itoa(of.model), "2.51.0")
			// as Qualcomm's own library found them
			for _, g := range graphs(t, filepath.Join(w.Dir, at, "manifest.json")) {
				Wants(t, o, ExitOK, g)
			}
		}
		Wants(t, w.Run(t, "--soc", "SM9999", "run", ONNXHTP), ExitUsage, "SM9999", "`hexmage compat` lists")
	})
}

// TestCheckpoint runs the tests of checkpoint.py in its locked environment, and converts a checkpoint.
func TestCheckpoint(t *testing.T) {
	w := EmulatorWarmed(t)
	programs(t, w, "test_checkpoint.py")
	w.Write(t, "pipelines/pth.hcl", `profile "emulator" { default = true }
step "convert" "m" {
  model  = "host/tests/checkpoints/module.pth"
  format = "v1"
  name   = "m"
}
output "mllm" { value = step.convert.m.outputs.model }
`)
	Wants(t, w.Run(t, "run", "pth"), ExitUsage, `needs toolchain "onnx"`, `toolchain "onnx" {}`)
	w.Edit(t, "pipelines/pth.hcl", `step "convert"`, `toolchain "onnx" {}
step "convert"`)
	Wants(t, w.Run(t, "run", "pth"), ExitOK, "2 executed")
	Wants(t, w.Run(t, "inspect", "out/pth/mllm"), ExitOK, "mllm", "0.weight", "1.running_mean")
}

// programs runs tests of the host's programs in their own environment.
func programs(t *testing.T, w *World, tests string) {
	t.Helper()
	for _, sub := range []string{"programs", "tests", "texts"} {
		if err := os.CopyFS(filepath.Join(w.Dir, "host", sub),
			os.DirFS(filepath.Join(Repo(), "model", "python", sub))); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(t, "pipelines/programs.hcl", `profile "emulator" { default = true }
toolchain "onnx" {}
step "python" "tests" {
  environment = toolchain.onnx.dir
  script      = "host/tests/`+tests+`"
  args        = ["host/programs"]
  inputs      = ["host/programs", "host/texts", "host/tests/checkpoints"]
}
`)
	Wants(t, w.Run(t, "run", "programs"), ExitOK, "1 executed")
}

// anyProcessor wants reference runs to equal integer arithmetic: on this machine's processor, and on an emulated one
// with AVX2 and without VNNI, on which ONNX Runtime's default options must give wrong values. Emulated it takes 12 s
// of one core.
func anyProcessor(t *testing.T, w *World) {
	t.Helper()
	env := strings.TrimSpace(w.Run(t, "toolchain", "path", "--profile", "emulator", "onnx").Stdout)
	host := filepath.Join(Repo(), "model", "python")
	// bin/python3 may be a script, which the emulator does not take: Python says where its program is, and with which
	// libraries.
	said, err := exec.CommandContext(t.Context(), filepath.Join(env, "bin", "python3"), "-c",
		`import os, sys; print(sys.executable, os.environ.get("LD_LIBRARY_PATH", ""), sep="\n")`).Output()
	program, libraries, _ := strings.Cut(strings.TrimSuffix(string(said), "\n"), "\n")
	if err != nil {
		t.Fatal(err)
	}
	python := []string{program, "-s", filepath.Join(host, "tests", "test_reference.py"),
		filepath.Join(host, "programs")}
	qemu := toolchaintest.Path(t, "qemu_x86_64", "usr/bin/qemu-x86_64-static")
	for name, argv := range map[string][]string{"native": python,
		"AVX2 without VNNI": slices.Concat([]string{qemu, "-cpu", "max"}, python, []string{"saturating"})} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "ORT_DISABLE_TELEMETRY=1",
			"LD_LIBRARY_PATH="+libraries)
		out, err := cmd.CombinedOutput()
		if t.Logf("%s:\n%s", name, out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// asksFor compares what plan and doctor say is to be downloaded for a pipeline with the sizes in the lock of these
// toolchains; where the machine has no Python 3.13, one comes with onnx.
func asksFor(t *testing.T, w *World, pipeline string, names ...string) {
	t.Helper()
	lock, diags := toolchains.ParseLock([]byte(Read(t, filepath.Join(Repo(), "hexmage.lock.hcl"))), "hexmage.lock.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if _, err := execute.LookPath("python3.13", Path()); err != nil && slices.Contains(names, "onnx") {
		names = append(names, "python")
	}
	var sum int64
	for _, name := range names {
		before := sum
		for _, e := range lock.Entries {
			if e.Name != name || name == "htp_host" && e.Version != "2.7.0" {
				continue
			}
			sum += downloaded(e)
		}
		if sum == before {
			t.Errorf("the lock says no size of %s", name)
		}
	}
	args := strings.Fields(pipeline) // and variables
	plan, doctor := w.Run(t, append([]string{"plan"}, args...)...), w.Run(t, append([]string{"doctor"}, args...)...)
	if sum == 0 {
		Wants(t, doctor, doctor.Code, "nothing to download")
		if strings.Contains(plan.Stdout, "to download") || plan.Code != ExitOK {
			t.Errorf("there is nothing to download: %s", plan)
		}
		return
	}
	Wants(t, plan, ExitOK, "; to download: "+bytesize.Decimal(sum)+"\n")
	Wants(t, doctor, doctor.Code, bytesize.Decimal(sum)+" to download")
}

// downloaded is how much there is to download for what the lock names, in bytes.
func downloaded(e *toolchains.Locked) int64 {
	size := e.Size
	for _, p := range e.Packages {
		size += p.Size
	}
	for _, p := range e.Wheels {
		size += p.Size
	}
	return size
}

// sized holds the table of sizes in docs/emulator.md to the lock, and to what is unpacked.
func sized(t *testing.T, w *World) {
	lock, diags := toolchains.ParseLock([]byte(Read(t, filepath.Join(Repo(), "hexmage.lock.hcl"))), "hexmage.lock.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)`, .* \\| ([0-9.]+) MB \\| ([0-9.]+) MB \\|$").
		FindAllStringSubmatch(Read(t, filepath.Join(Repo(), "docs/emulator.md")), -1)
	if len(rows) != 6 {
		t.Fatalf("%d rows", len(rows))
	}
	versions := map[string]string{"htp_host": "2.7.0", "python": "3.13"}
	for _, row := range rows {
		name := row[1]
		n := slices.IndexFunc(lock.Entries, func(e *toolchains.Locked) bool {
			return e.Name == name && (versions[name] == "" || e.Version == versions[name])
		})
		if n < 0 {
			t.Errorf("the lock has no %s", name)
			continue
		}
		e := lock.Entries[n]
		if want := fmt.Sprintf("%.1f", float64(downloaded(e))/1e6); row[2] != want {
			t.Errorf("%s: docs/emulator.md says %s MB to download, the lock %s", name, row[2], want)
		}
		if name == "onnx" && !strings.Contains(row[0], fmt.Sprintf(" %d Python packages", len(e.Wheels))) {
			t.Errorf("%s: %d packages are locked", row[0], len(e.Wheels))
		}
		_, own := execute.LookPath("python3.13", Path())
		if name == "smollm2" || own == nil && (name == "python" || name == "onnx") {
			continue // not fetched here, or made of the machine's own
		}
		at := strings.TrimSpace(w.Run(t, "toolchain", "path", "--profile", "emulator", name+"@"+e.Version).Stdout)
		var unpacked int64
		if err := filepath.WalkDir(at, func(_ string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			info, err := e.Info()
			unpacked += info.Size()
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := fmt.Sprintf("%.0f", float64(unpacked)/1e6); row[3] != want {
			t.Errorf("%s: docs/emulator.md says %s MB unpacked, it is %s", name, row[3], want)
		}
	}
}

// graphs are the names of the graphs in the context for the device.
func graphs(t *testing.T, manifest string) (names []string) {
	t.Helper()
	var m struct {
		Contexts map[string]struct{ Graphs []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(Read(t, manifest)), &m); err != nil || len(m.Contexts["device"].Graphs) != 2 {
		t.Fatalf("%s: %+v, %v", manifest, m, err)
	}
	for _, g := range m.Contexts["device"].Graphs {
		names = append(names, g.Name)
	}
	return names
}

// readAlike holds what inspect reads of contexts to what Qualcomm's own library says of the same files; one that
// was cut off both refuse.
func readAlike(t *testing.T, w *World) {
	var names []string
	for _, name := range qnnctxtest.Names(t) {
		if strings.HasSuffix(name, ".bin") {
			w.Write(t, name, string(qnnctxtest.Real(t, name)))
			names = append(names, name)
		}
	}
	w.Write(t, "cut.bin", string(qnnctxtest.Real(t, "2.51-SM8750.bin")[:200]))
	names = append(names, "cut.bin")
	w.Write(t, "system.py", systemLibrary)
	list, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(t, "pipelines/contexts.hcl", `profile "emulator" { default = true }
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
step "python" "system" {
  environment = toolchain.onnx.dir
  script      = "system.py"
  args        = concat(["said", "${toolchain.htp_host.dir}/onnxruntime_qnn/libQnnSystem.so"], `+string(list)+`)
  inputs      = `+string(list)+`
  env         = { LD_LIBRARY_PATH = "${toolchain.gnu_runtime.dir}/usr/lib/x86_64-linux-gnu:${toolchain.gnu_runtime.dir}/lib/x86_64-linux-gnu" }
  output "said" { file = "said" }
}
output "said" { value = step.python.system.outputs.said }
`)
	Wants(t, w.Run(t, "run", "contexts"), ExitOK, "1 executed")
	said := strings.Split(strings.TrimSpace(Read(t, filepath.Join(w.Dir, "out", "contexts", "said"))), "\n")
	if len(said) != len(names) || len(names) < 13 {
		t.Fatalf("%d answers for %d files:\n%q", len(said), len(names), said)
	}
	for i, name := range names {
		o := w.Run(t, "inspect", "--json", name)
		if strings.Contains(said[i], `"error"`) != (o.Code != ExitOK) || (o.Code != ExitOK) != (name == "cut.bin") {
			t.Errorf("%s: the vendor says %s, and we %s", name, said[i], o)
		}
		if o.Code != ExitOK {
			continue
		}
		type api struct{ Major, Minor, Patch int }
		var ours struct {
			Context struct {
				Backend     int
				BuildID     string `json:"build_id"`
				CoreAPI     api    `json:"core_api"`
				BackendAPI  api    `json:"backend_api"`
				BlobVersion api    `json:"blob_version"`
				BlobSize    int64  `json:"blob_size"`
				SoCModel    int    `json:"soc_model"`
				Graphs      []struct {
					Name            string
					Inputs, Outputs []any
				}
			}
		}
		if err := json.Unmarshal([]byte(o.Stdout), &ours); err != nil {
			t.Fatal(err)
		}
		c := ours.Context
		v := func(a api) string { return fmt.Sprintf("%d.%d.%d", a.Major, a.Minor, a.Patch) }
		graphs := []string{}
		for _, g := range c.Graphs {
			graphs = append(graphs, fmt.Sprintf("%s %d %d", g.Name, len(g.Inputs), len(g.Outputs)))
		}
		b, err := json.Marshal(map[string]any{"build": c.BuildID, "backend": c.Backend, "core": v(c.CoreAPI),
			"api": v(c.BackendAPI), "blob": v(c.BlobVersion), "size": c.BlobSize, "model": c.SoCModel,
			"graphs": graphs})
		if err != nil {
			t.Fatal(err)
		}
		var theirs any
		if err := json.Unmarshal([]byte(said[i]), &theirs); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(theirs) // in the same order
		if err != nil || string(b) != string(want) {
			t.Errorf("%s: the vendor reads\n%s\nand we\n%s", name, want, b)
		}
	}
}

// systemLibrary asks libQnnSystem what is in the files that it is given.
const systemLibrary = `
import ctypes as C, json, os, sys
u32, u64, text, ptr = C.c_uint32, C.c_uint64, C.c_char_p, C.c_void_p
def struct(*fields): return type("S", (C.Structure,), {"_fields_": list(fields)})
V = struct(("a", u32), ("b", u32), ("c", u32))
G = struct(("version", u32), ("pad", u32), ("name", text), ("ins", u32), ("in_", ptr), ("outs", u32), ("out", ptr), ("ups", u32), ("up", ptr), ("size", u32), ("blob", ptr), ("s", u32), ("e", u32))
I = struct(("version", u32), ("pad", u32), ("backend", u32), ("build", text), ("core", V), ("api", V), ("soc", text), ("blob", V), ("size", u64), ("tensors", u32), ("t", ptr),
    ("graphs", u32), ("g", C.POINTER(G)), ("platform", ptr), ("msize", u32), ("meta", ptr), ("model", u32))
P = struct(("backend", u32), ("name", text), ("v", V), ("create", ptr), ("info", ptr))
lib = C.CDLL(sys.argv[2])
pp, n, h = C.POINTER(C.POINTER(P))(), u32(), ptr()
assert lib.QnnSystemInterface_getProviders(C.byref(pp), C.byref(n)) == 0
assert C.CFUNCTYPE(u64, C.POINTER(ptr))(pp[0].contents.create)(C.byref(h)) == 0
out = open(sys.argv[1], "w")
for name in sys.argv[3:]:
    d = open(name, "rb").read()
    b, o, s = C.create_string_buffer(d, len(d)), ptr(), u64()
    rc = C.CFUNCTYPE(u64, ptr, ptr, u64, C.POINTER(ptr), C.POINTER(u64))(pp[0].contents.info)(h, b, len(d), C.byref(o), C.byref(s))
    if rc: print(json.dumps({"error": rc}), file=out); continue
    i = C.cast(o, C.POINTER(I))[0]
    v = lambda x: "%d.%d.%d" % (x.a, x.b, x.c)
    print(json.dumps({"build": i.build.decode(), "backend": i.backend, "core": v(i.core), "api": v(i.api), "blob": v(i.blob), "size": i.size, "model": i.model,
        "graphs": ["%s %d %d" % (i.g[k].name.decode(), i.g[k].ins, i.g[k].outs) for k in range(i.graphs)]}), file=out)
`
