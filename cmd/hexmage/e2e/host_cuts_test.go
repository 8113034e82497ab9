//go:build linux

package e2e_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// envCuts has the tests of this file do more where it is set: what takes minutes.
const envCuts = "HEXMAGE_CUTS"

// cuts is a pipeline that goes the whole way of profile host with three nodes.
const cuts = `
profile "host" { default = true }
target "SM8750" {}
variable "optimization" {
  type    = number
  default = 1
}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
step "python" "graphs" {
  environment = toolchain.onnx.dir
  script      = "graphs.py"
  args        = ["dir"]
  output "dir" { tree = "dir" }
}
step "htp_context" "one" {
  graphs       = "${step.python.graphs.outputs.dir}/one.onnx"
  optimization = var.optimization
}
step "htp_emulate" "one" {
  context = step.htp_context.one.outputs.dir
  inputs  = "${step.python.graphs.outputs.dir}/samples"
}
output "context" { value = step.htp_context.one.outputs.dir }
output "said" { value = step.htp_emulate.one.outputs.dir }
`

const cutGraphs = `
import os, sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = sys.argv[1]
os.makedirs(out + "/samples")
value = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 512])
r = np.random.default_rng(79)
w = numpy_helper.from_array(r.standard_normal((512, 512)).astype(np.float32) * 0.04, "w")
nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="a"), helper.make_node("Relu", ["a"], ["b"], name="b"), helper.make_node("Add", ["b", "x"], ["y"], name="c")]
for name in ("one", "both/left", "both/right"):
    os.makedirs(os.path.dirname(f"{out}/{name}"), exist_ok=True)
    graph = helper.make_graph(nodes, os.path.basename(name), [value("x")], [value("y")], [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), f"{out}/{name}.onnx")
np.savez(out + "/samples/0.npz", x=r.standard_normal((1, 512)).astype(np.float32))
`

// cutWorld makes a workspace with the pipeline.
func cutWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write(t, "pipelines/cuts.hcl", cuts)
	w.write(t, "graphs.py", cutGraphs)
	return w
}

// hostRun is the world in which all that profile host needs was downloaded, and that pipeline run. It happens once.
func hostRun(t *testing.T) *world {
	t.Helper()
	shared.hostOnce.Do(func() {
		w := cutWorld(t)
		if o := w.run(t, "run", "cuts"); o.code != exitOK {
			t.Fatalf("what all of profile host stands on: %s", o)
		}
		shared.host = w
	})
	if shared.host == nil {
		t.Fatal("what all of profile host stands on failed before")
	}
	return shared.host
}

// withHostDownloads links what was downloaded into the world's cache.
func (w *world) withHostDownloads(t *testing.T) *world {
	t.Helper()
	return w.withDownloadsOf(t, hostRun(t).cache)
}

// withDownloadsOf links what was downloaded into another cache, if that is one.
func (w *world) withDownloadsOf(t *testing.T, cache string) *world {
	t.Helper()
	downloads := filepath.Join(cache, "downloads")
	if !exists(downloads) {
		return w
	}
	if err := link(downloads, filepath.Join(w.cache, "downloads"), func(p string) bool { return !strings.HasSuffix(p, ".lock") }); err != nil {
		t.Fatal(err)
	}
	return w
}

// hostWarmed returns a world whose cache knows everything that the run did; it has no downloads.
func hostWarmed(t *testing.T) *world {
	t.Helper()
	w := cutWorld(t)
	if err := cloneCache(hostRun(t).cache, w.cache); err != nil {
		t.Fatal(err)
	}
	return w
}

// pipeline writes one that begins as cuts does, as far as its toolchains, with other steps.
func (w *world) pipeline(t *testing.T, name, steps string) {
	t.Helper()
	head, _, _ := strings.Cut(cuts, "step \"htp_context\"")
	w.write(t, "pipelines/"+name+".hcl", head+steps)
}

// wheels is a package index on this machine.
type wheels struct {
	*httptest.Server
	files map[string]string                                           // by name: where it is
	sums  map[string]string                                           // what the index says of them
	send  func(w http.ResponseWriter, r *http.Request, b []byte) bool // in place of a whole file
	pages atomic.Int64
	asked atomic.Int64 // bytes of files
}

var lockedWheel = regexp.MustCompile(`file\s+= "([^"]+\.whl)"\s+size\s+= (\d+)\s+sha256\s+= "([0-9a-f]+)"`)

// serveWheels serves the wheels that hostRun downloaded, and makes the index that of the world's user.
func serveWheels(t *testing.T, w *world) *wheels {
	t.Helper()
	x := &wheels{files: map[string]string{}, sums: map[string]string{}}
	for _, m := range lockedWheel.FindAllStringSubmatch(read(t, filepath.Join(shared.repo, "hexmage.lock.hcl")), -1) {
		if at := filepath.Join(hostRun(t).cache, "downloads", m[3]); exists(at) {
			x.files[m[1]], x.sums[m[1]] = at, m[3]
		}
	}
	x.Server = httptest.NewServer(http.HandlerFunc(x.serve))
	t.Cleanup(x.Close)
	x.configure(t, w)
	return x
}

// configure writes pip's configuration of the world's user.
func (x *wheels) configure(t *testing.T, w *world) {
	t.Helper()
	at := filepath.Join(w.home, ".config", "pip")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "pip.conf"), []byte("[global]\nindex-url = "+x.URL+"/simple\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (x *wheels) serve(w http.ResponseWriter, r *http.Request) {
	if at, ok := x.files[path.Base(r.URL.Path)]; ok {
		f, err := os.Open(at) // nothing that takes long: a request that nobody waits for any more is not to count later
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer f.Close()
		end, err := f.Seek(0, io.SeekEnd)
		first, last := int64(0), end-1
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last) // what it does not say stays
		x.asked.Add(last - first + 1)
		var b []byte
		if err == nil && x.send != nil {
			b, err = io.ReadAll(io.NewSectionReader(f, 0, end))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if x.send == nil || !x.send(w, r, b) {
			w.Header().Set("ETag", `"`+x.sums[path.Base(r.URL.Path)]+`"`)
			http.ServeContent(w, r, "", time.Time{}, f)
		}
		return
	}
	x.pages.Add(1)
	type file struct {
		Name   string            `json:"filename"`
		URL    string            `json:"url"`
		Hashes map[string]string `json:"hashes"`
	}
	var files []file
	for name := range x.files {
		if project, _, _ := strings.Cut(name, "-"); strings.ReplaceAll(project, "_", "-") == path.Base(r.URL.Path) {
			files = append(files, file{name, "/files/" + name, map[string]string{"sha256": x.sums[name]}})
		}
	}
	if files == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	_ = json.NewEncoder(w).Encode(map[string]any{"meta": map[string]string{"api-version": "1.0"}, "name": path.Base(r.URL.Path), "files": files})
}

// flipped sends a whole file with one byte of its middle changed.
func flipped(w http.ResponseWriter, r *http.Request, b []byte) bool {
	b[len(b)/2] ^= 0x10
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	return true
}

// short sends the first half of a file as if it were all.
func short(w http.ResponseWriter, r *http.Request, b []byte) bool {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b[:len(b)/2]))
	return true
}

func size(t *testing.T, p string) int64 {
	t.Helper()
	st, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// trees are the unpacked toolchains of the cache that it takes for whole.
func (w *world) trees() []string {
	found, _ := filepath.Glob(filepath.Join(w.cache, "trees", "*.ok"))
	return found
}

// sound has everything in the cache compared with what its name says.
func (w *world) sound(t *testing.T) {
	t.Helper()
	if o := w.run(t, "cache", "verify"); o.code != exitOK {
		t.Errorf("the store: %s", o)
	}
}

// unharmed checks what a command that failed left behind: as many toolchains as before, none of them half, nothing in tmp, no process, and no output.
func (w *world) unharmed(t *testing.T, trees int, pipeline string) {
	t.Helper()
	if is := w.trees(); len(is) != trees {
		t.Errorf("%d toolchains, there were %d: %q", len(is), trees, is)
	}
	all, _ := filepath.Glob(filepath.Join(w.cache, "trees", "*-*"))
	for _, p := range all {
		if filepath.Ext(p) == "" && !exists(p+".ok") {
			t.Errorf("half installed: %s", p)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.cache, "tmp", "run-*")); len(left) > 0 {
		t.Errorf("left in tmp: %q", left)
	}
	if left := running(w); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "out", pipeline, "*")); len(left) > 0 {
		t.Errorf("outputs of a run that failed: %q", left)
	}
}

// lookAtHTP is a pipeline for which the vendor's libraries have to be there.
const lookAtHTP = `profile "host" { default = true }
toolchain "htp_host" {}
step "exec" "look" {
  argv = ["sh", "-c", "ls $0 > o", toolchain.htp_host.dir]
  output "o" { file = "o" }
}
`

// TestCutWheels: a wheel that is not the pinned one, whatever the reason, is not installed, and the next run with the right one is a success.
func TestCutWheels(t *testing.T) {
	w := newWorld(t)
	x := serveWheels(t, w)
	w.write(t, "pipelines/p.hcl", lookAtHTP)
	const name = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_35_x86_64.whl"
	sum := x.sums[name]
	if sum == "" {
		t.Fatal("there is no such wheel")
	}
	refused := func(t *testing.T, texts ...string) {
		t.Helper()
		o := w.run(t, "run", "p")
		wants(t, o, exitFailed, append(texts, "toolchain.htp_host", "pipelines/p.hcl:2", "htp_host 2.7.0")...)
		t.Log(o)
		w.unharmed(t, 0, "p")
		w.clean(t)
	}
	t.Run("a flipped byte", func(t *testing.T) {
		x.send = flipped
		refused(t, "sha256")
	})
	t.Run("half of it", func(t *testing.T) {
		x.send = short
		refused(t, "bytes")
	})
	x.send = nil
	t.Run("another at the index", func(t *testing.T) {
		x.sums[name] = strings.Repeat("5", 64)
		defer func() { x.sums[name] = sum }()
		refused(t, "was replaced")
	})
	t.Run("another in the lock", func(t *testing.T) {
		wrong := strings.Repeat("7", 64)
		w.write(t, "hexmage.lock.hcl", strings.ReplaceAll(read(t, filepath.Join(shared.repo, "hexmage.lock.hcl")), sum, wrong))
		defer os.Remove(filepath.Join(w.dir, "hexmage.lock.hcl"))
		refused(t, wrong)
	})
	t.Run("then the right one", func(t *testing.T) {
		if r := w.runJSON(t, "p"); r.executed != 2 {
			t.Errorf("%q ran", r.names)
		}
		w.unharmed(t, 1, "p")
		w.sound(t)
	})
}

// rewritten is a wheel in which a file was changed after its RECORD was written.
func rewritten(t *testing.T, wheel, file string, change func([]byte) []byte) []byte {
	t.Helper()
	r, err := zip.OpenReader(wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	changed := false
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == file {
			b, changed = change(b), true
		}
		to, err := z.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = to.Write(b)
	}
	if err := z.Close(); err != nil || !changed {
		t.Fatalf("%s has no %s: %v", wheel, file, err)
	}
	return out.Bytes()
}

// TestCutEnvironment: the same of an environment's wheels.
func TestCutEnvironment(t *testing.T) {
	w := hostWarmed(t)
	x := serveWheels(t, w)
	const name = "jinja2-3.1.6-py3-none-any.whl"
	jinja := x.sums[name]
	repack := func(change func([]byte) []byte) { // so that it is another file than the one that the store knows already
		b := rewritten(t, filepath.Join(hostRun(t).cache, "downloads", jinja), "jinja2/filters.py", change)
		x.files[name], x.sums[name] = filepath.Join(t.TempDir(), name), digestOf(b)
		if err := os.WriteFile(x.files[name], b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	repack(func(b []byte) []byte { return b })
	w.write(t, "pipelines/p.hcl", `
profile "host" { default = true }
toolchain "small" {
  python       = "3.13"
  requirements = ["jinja2==3.1.6"]
}
step "python" "say" {
  environment = toolchain.small.dir
  script      = "say.py"
  output "said" { file = "said" }
}
output "said" { value = step.python.say.outputs.said }
`)
	w.write(t, "say.py", "import jinja2\nopen('said', 'w').write(jinja2.Template('{{ 6 * 7 }}').render())\n")
	wants(t, w.run(t, "lock", "p"), exitOK, "small")
	trees := len(w.trees())
	if err := os.RemoveAll(filepath.Join(w.cache, "downloads")); err != nil {
		t.Fatal(err)
	}
	refused := func(t *testing.T, texts ...string) {
		t.Helper()
		o := w.run(t, "run", "p")
		wants(t, o, exitFailed, append(texts, "toolchain.small", "pipelines/p.hcl:3")...)
		t.Log(o)
		w.unharmed(t, trees, "p")
		w.clean(t)
	}
	for what, send := range map[string]func(http.ResponseWriter, *http.Request, []byte) bool{"a flipped byte": flipped, "half of it": short} {
		t.Run(what, func(t *testing.T) {
			x.send = func(w http.ResponseWriter, r *http.Request, b []byte) bool {
				return path.Base(r.URL.Path) == name && send(w, r, b)
			}
			refused(t, "jinja2 3.1.6")
		})
	}
	x.send = nil
	t.Run("a RECORD of other files", func(t *testing.T) {
		good, sum := x.files[name], x.sums[name]
		repack(func(b []byte) []byte { return append(b, "\nimport os  # planted\n"...) })
		lock := read(t, filepath.Join(w.dir, "hexmage.lock.hcl"))
		pinned := regexp.MustCompile(`size\s+= \d+\s+sha256\s+= "`+sum+`"`).ReplaceAllString(lock, fmt.Sprintf("size = %d\nsha256 = \"%s\"", size(t, x.files[name]), x.sums[name]))
		if pinned == lock {
			t.Fatal(lock)
		}
		w.write(t, "hexmage.lock.hcl", pinned)
		refused(t, "jinja2/filters.py", "RECORD")
		x.files[name], x.sums[name] = good, sum
		w.write(t, "hexmage.lock.hcl", lock)
	})
	t.Run("then the right one", func(t *testing.T) {
		r := w.runJSON(t, "p")
		if read(t, filepath.Join(w.dir, "out/p/said")) != "42" || r.executed != 3 { // jinja2, the installation, the step
			t.Errorf("%q ran", r.names)
		}
		w.sound(t)
	})
	t.Run("a download that the disk has damaged", func(t *testing.T) {
		other := hostWarmed(t)
		x.configure(t, other)
		for _, f := range []string{"pipelines/p.hcl", "say.py", "hexmage.lock.hcl"} {
			other.write(t, f, read(t, filepath.Join(w.dir, f)))
		}
		at := filepath.Join(other.cache, "downloads", x.sums[name])
		damage := func() {
			b := []byte(read(t, x.files[name]))
			b[len(b)/2] ^= 1
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		damage()
		wants(t, other.run(t, "--offline", "run", "p"), exitFailed, "offline", "jinja2")
		damage()
		if o := other.run(t, "run", "p"); o.code != exitOK || read(t, filepath.Join(other.dir, "out/p/said")) != "42" {
			t.Error(o)
		}
		other.clean(t)
	})
}

// TestCutRuntime: the libraries of GNU's compiler that the vendor's need are left out, or are others.
func TestCutRuntime(t *testing.T) {
	w := hostWarmed(t)
	one := "step \"htp_context\" \"one\" { graphs = \"${step.python.graphs.outputs.dir}/one.onnx\" }\n"
	write := func(name, toolchain string) {
		w.pipeline(t, name, one)
		w.edit(t, "pipelines/"+name+".hcl", "toolchain \"gnu_runtime\" {}\n", toolchain)
	}
	of := func(members ...member) string {
		b := archive(t, members...)
		name := filepath.Join(t.TempDir(), "runtime.tar.gz")
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("toolchain \"gnu_runtime\" {\n  urls   = [\"file://%s\"]\n  sha256 = \"%s\"\n}\n", name, digestOf(b))
	}
	libraries, _ := filepath.Glob(filepath.Join(w.cache, "trees", "*", "lib/x86_64-linux-gnu/libgcc_s.so.1"))
	if len(libraries) != 1 {
		t.Fatalf("gnu_runtime: %q", libraries)
	}
	gcc := read(t, libraries[0])
	standard := read(t, filepath.Join(libraries[0], "../../../usr/lib/x86_64-linux-gnu/libstdc++.so.6"))
	some := []member{{name: "lib/x86_64-linux-gnu/libgcc_s.so.1", text: gcc}, {name: "usr/lib/x86_64-linux-gnu/libstdc++.so.6", text: standard}}
	trees := len(w.trees())

	write("left", "")
	wants(t, w.run(t, "run", "left"), exitUsage, "Toolchain not declared", "gnu_runtime", "pipelines/left.hcl", "Add a block")
	write("without", of(some...))
	wants(t, w.run(t, "run", "without"), exitFailed, "toolchain.gnu_runtime", "libatomic.so.1: found nothing")
	w.unharmed(t, trees, "without")
	write("other", of(append(some, member{name: "usr/lib/x86_64-linux-gnu/libatomic.so.1", text: gcc})...))
	wants(t, w.run(t, "run", "other"), exitFailed, "htp_context.one", "libQnnSystem.so", "LIBATOMIC_1.0", "gnu_runtime as the catalogue has it")
	w.unharmed(t, trees+1, "other") // it is whole, as far as anybody can tell
	write("right", "toolchain \"gnu_runtime\" {}\n")
	if r := w.runJSON(t, "right"); r.executed != 1 {
		t.Errorf("%q ran", r.names)
	}
	w.sound(t)
}

// TestCutReleases: a context is emulated by an older release of the vendor's libraries, which refuses it, and by a later one, which takes it.
func TestCutReleases(t *testing.T) {
	w := hostWarmed(t)
	made := hostRun(t)
	for dir, to := range map[string]string{"context": "new", "said": "said"} {
		if err := os.CopyFS(filepath.Join(w.dir, to), os.DirFS(filepath.Join(made.dir, "out/cuts", dir))); err != nil {
			t.Fatal(err)
		}
	}
	emulate := func(context string) string {
		return fmt.Sprintf("step \"htp_emulate\" \"it\" {\n  context = %s\n  inputs  = \"${step.python.graphs.outputs.dir}/samples\"\n}\n", context)
	}
	old := `toolchain "htp_host" { version = "2.4.0" }`
	w.pipeline(t, "refused", emulate(`"new"`))
	w.pipeline(t, "old", "step \"htp_context\" \"old\" { graphs = \"${step.python.graphs.outputs.dir}/one.onnx\" }\n"+
		emulate("step.htp_context.old.outputs.dir")+"output \"context\" { value = step.htp_context.old.outputs.dir }\n")
	w.pipeline(t, "taken", emulate(`"out/old/context"`))
	for _, name := range []string{"refused", "old"} {
		w.edit(t, "pipelines/"+name+".hcl", `toolchain "htp_host" {}`, old)
	}
	o := w.run(t, "run", "refused")
	w.sound(t)
	wants(t, o, exitFailed, "htp_emulate.it", "was compiled by v2.51.0.260929181845, and the emulator is of v2.48.40.260702151143", "toolchain htp_host that is no older")
	t.Log(o)
	w.unharmed(t, len(w.trees()), "refused")
	if os.Getenv(envCuts) == "" {
		return
	}
	for _, name := range []string{"old", "taken"} {
		if o := w.run(t, "run", name); o.code != exitOK {
			t.Errorf("%s: %s", name, o)
		}
	}
}

// TestCutShared: a context for a device, which several graphs share, is given to the emulator, which would crash on it.
func TestCutShared(t *testing.T) {
	w := hostWarmed(t)
	steps := "step \"htp_context\" \"both\" { graphs = \"${step.python.graphs.outputs.dir}/both\" }\n"
	for name, context := range map[string]string{"whole": "", "twin": "/emulator/left"} {
		steps += fmt.Sprintf("step \"htp_emulate\" \"%s\" {\n  context = \"${step.htp_context.both.outputs.dir}%s\"\n  inputs  = \"${step.python.graphs.outputs.dir}/samples\"\n}\n", name, context)
	}
	steps += "step \"htp_emulate\" \"prompt\" {\n  context = \"${step.htp_context.both.outputs.dir}/device\"\n  prompt  = \"What is it?\"\n}\n"
	w.pipeline(t, "both", steps+"output \"context\" { value = step.htp_context.both.outputs.dir }\n")
	w.pipeline(t, "copied", "step \"htp_emulate\" \"copied\" {\n  context = \"copied\"\n  inputs  = \"${step.python.graphs.outputs.dir}/samples\"\n}\n")
	o := w.run(t, "run", "--keep-going", "both")
	wants(t, o, exitFailed, "has 2 graphs in one context", "emulator/left", "has no arch.json", "2 failed")
	if strings.Contains(o.stderr+o.stdout, "Traceback") || strings.Contains(o.stderr+o.stdout, "signal 11") {
		t.Error(o)
	}
	if r := w.runJSON(t, "both", "htp_emulate.twin"); r.executed != 0 {
		t.Errorf("%q ran", r.names)
	}
	for _, name := range []string{"left_ctx.onnx", "left_ctx_qnn.bin"} { // as somebody takes one graph of it
		w.write(t, "copied/"+name, read(t, filepath.Join(w.dir, "out/both/context/device", name)))
	}
	wants(t, w.run(t, "run", "copied"), exitFailed, "left_ctx.onnx is one of 2 graphs that share one context", "twins")
	w.unharmed(t, len(w.trees()), "copied")
	w.sound(t)
}

// compilers are the processes of the world that compile.
func compilers(w *world) (pids []int) {
	base := filepath.Dir(w.cache)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.Contains(string(args), "htp_compile.py\x00--child") && strings.HasPrefix(cwd, base+"/") {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestCutCompile: the compiler, hexmage or both are killed while they compile, and the next run does what is missing.
func TestCutCompile(t *testing.T) {
	w := hostWarmed(t)
	trees := len(w.trees())
	for _, what := range []string{"the compiler", "hexmage", "everything"} {
		ctx, cancel := context.WithTimeout(t.Context(), runLimit)
		defer cancel()
		cmd := w.command(ctx, "--json", "--var=optimization=3", "run", "cuts")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var pids []int
		for pids = compilers(w); len(pids) == 0; pids = compilers(w) {
			select {
			case err := <-ended:
				t.Fatalf("it ended before it compiled: %v\n%s", err, &out)
			case <-time.After(time.Millisecond):
			}
		}
		switch what {
		case "the compiler":
			_ = syscall.Kill(pids[0], syscall.SIGKILL)
		case "hexmage":
			_ = cmd.Process.Kill()
		default:
			_ = syscall.Kill(pids[0], syscall.SIGKILL)
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		<-ended
		if what == "the compiler" {
			wants(t, &outcome{code: cmd.ProcessState.ExitCode(), stdout: out.String()}, exitFailed, "htp_compile was killed (signal 9)", "memory ran out", "--jobs 1")
		}
		if left := running(w); len(left) > 0 {
			t.Errorf("%s was killed; still running: %q", what, left)
		}
	}
	r := w.runJSON(t, "--var=optimization=3", "cuts")
	if !slices.Equal(r.names, []string{"htp_context.one", "htp_emulate.one"}) {
		t.Errorf("%q ran", r.names)
	}
	if again := w.runJSON(t, "--var=optimization=3", "cuts"); again.executed != 0 {
		t.Errorf("again: %q ran", again.names)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "out")); err != nil {
		t.Fatal(err)
	}
	w.unharmed(t, trees, "cuts")
	w.sound(t)
}

// TestCutNetwork: what was downloaded once needs no network, nor an index that answers.
func TestCutNetwork(t *testing.T) {
	warm := hostWarmed(t)
	x := serveWheels(t, warm)
	x.send = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return true
	}
	for _, args := range [][]string{{"--json", "--offline", "run", "cuts"}, {"--json", "run", "cuts"}} {
		o := warm.runAlone(t, args...)
		wants(t, o, exitOK, `"executed":0`)
		if err := os.RemoveAll(filepath.Join(warm.dir, "out")); err != nil {
			t.Fatal(err)
		}
	}
	if o := warm.run(t, "run", "cuts"); o.code != exitOK {
		t.Error(o)
	}
	unpacked := cutWorld(t).withHostDownloads(t) // the toolchains are not there, what was downloaded is
	x.configure(t, unpacked)
	wants(t, unpacked.runAlone(t, "--offline", "run", "cuts", "htp_context.one"), exitOK, "out/cuts/context")
	if n := x.pages.Load() + x.asked.Load(); n != 0 {
		t.Errorf("the index was asked: %d", n)
	}
	cold := cutWorld(t)
	x.configure(t, cold)
	wants(t, cold.run(t, "--offline", "run", "cuts"), exitFailed, "run once without --offline")
	cold.unharmed(t, 0, "cuts")
}

// disk is a small file system of its own.
type disk struct{ dir string }

// smallDisk mounts one, for this test alone.
func smallDisk(t *testing.T) disk {
	t.Helper()
	runtime.LockOSThread() // for good: the thread, which alone sees the mount, ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		t.Skipf("NOT TESTED: what a full disk does. This machine lets this user mount nothing: %v", err)
	}
	d := disk{filepath.Join(shared.base, "small")}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", d.dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Fatal(err)
	}
	return d
}

// leave makes the disk so large that so many bytes are free.
func (d disk) leave(t *testing.T, free int64) {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(d.dir, &st); err != nil {
		t.Fatal(err)
	}
	used := (int64(st.Blocks) - int64(st.Bfree)) * st.Bsize
	if err := unix.Mount("", d.dir, "", unix.MS_REMOUNT, fmt.Sprintf("size=%d", used+free)); err != nil {
		t.Fatal(err)
	}
}

// full runs the pipeline with so little space, which is to be too little, and returns what failed; "" when it was enough.
func (w *world) full(t *testing.T, d disk, free int64, args ...string) (failed string) {
	t.Helper()
	d.leave(t, free)
	o := w.run(t, append([]string{"run"}, args...)...)
	d.leave(t, 1<<30)
	if o.code == exitOK {
		return ""
	}
	if o.code != exitFailed && o.code != exitEngine {
		t.Errorf("%d bytes free: exit code %d", free, o.code)
	}
	if !strings.Contains(strings.ToLower(o.stderr), "no space left") {
		t.Errorf("%d bytes free: it does not say that the disk is full: %s", free, o)
	}
	wants(t, o, o.code, "hexmage cache gc", "HEXMAGE_CACHE")
	if _, rest, ok := strings.Cut(o.stderr, "\n✗ "); ok {
		failed, _, _ = strings.Cut(rest, ":")
	}
	t.Logf("%d bytes free: %s: %s", free, failed, o)
	return failed
}

// TestCutDisk: the disk is full while a wheel is downloaded, while it is unpacked, while an environment is installed, and while the compiler writes.
func TestCutDisk(t *testing.T) {
	from := filepath.Join(hostRun(t).cache, "downloads")
	d := smallDisk(t)
	w := cutWorld(t)
	w.cache = filepath.Join(d.dir, "cache")
	x := serveWheels(t, w)
	d.leave(t, 1<<30)
	const wheel = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_35_x86_64.whl"
	if err := link(from, filepath.Join(w.cache, "downloads"), func(p string) bool { return !strings.HasSuffix(p, ".lock") && p != x.sums[wheel] }); err != nil {
		t.Fatal(err)
	}
	w.write(t, "pipelines/p.hcl", lookAtHTP)
	whole := size(t, x.files[wheel])

	// Too little for the download, of which half is kept, and then for the unpacking. What is sent is no measure of that: some of it
	// is still on its way when the disk is full.
	for _, c := range []struct{ free, atMost int64 }{{whole / 2, whole}, {whole + 50<<20, whole * 3 / 4}} {
		x.asked.Store(0)
		if failed := w.full(t, d, c.free, "p"); failed != "toolchain.htp_host" {
			t.Errorf("%d bytes free: failed: %q", c.free, failed)
		}
		if n := x.asked.Load(); n == 0 || n > c.atMost {
			t.Errorf("%d bytes free: %d bytes of a wheel of %d were asked for", c.free, n, whole)
		}
		w.unharmed(t, 0, "p")
	}
	x.asked.Store(0)
	if r := w.runJSON(t, "p"); r.executed != 2 || x.asked.Load() != 0 {
		t.Errorf("%q ran, and %d bytes were asked for", r.names, x.asked.Load())
	}

	installs := 0
	for free := int64(48 << 20); ; free *= 2 {
		failed := w.full(t, d, free, "cuts", "python.graphs")
		if failed == "" {
			break
		}
		if failed == "toolchain.onnx" {
			installs++
		}
	}
	if installs == 0 {
		t.Error("the disk was never full while the environment was installed")
	}
	w.runJSON(t, "cuts", "htp_context.one")
	trees := len(w.trees())
	compiles, free, more := 0, int64(1<<20), int64(8)
	if os.Getenv(envCuts) != "" {
		free, more = 64<<10, 2
	}
	for ; ; free *= more {
		failed := w.full(t, d, free, "cuts", "htp_context.one", "--var=optimization=3")
		if failed == "" {
			break
		}
		if failed == "htp_context.one" {
			compiles++
		}
	}
	if compiles == 0 {
		t.Error("the disk was never full while the compiler wrote")
	}
	w.unharmed(t, trees, "no")
	w.sound(t)
}
