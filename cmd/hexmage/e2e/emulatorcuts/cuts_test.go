//go:build linux

package emulatorcuts_test

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

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// envCuts has the tests of this file do more where it is set: what takes minutes.
const envCuts = "HEXMAGE_CUTS"

// writeSteps writes one that begins as cuts does, as far as its toolchains, with other steps.
func writeSteps(t *testing.T, w *World, name, steps string) {
	t.Helper()
	head, _, _ := strings.Cut(Cuts, "step \"htp_context\"")
	w.Write(t, "pipelines/"+name+".hcl", head+steps)
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

// lockedWheel is a wheel in the lock: of an environment in a line, of a toolchain in three.
var lockedWheel = regexp.MustCompile(`"([^" ]+\.whl)"?\s+(?:size\s+= )?(\d+)\s+(?:sha256\s+= ")?([0-9a-f]{64})"`)

// serveWheels serves the wheels that EmulatorRun downloaded, and makes the index that of the world's user.
func serveWheels(t *testing.T, w *World) *wheels {
	t.Helper()
	x := &wheels{files: map[string]string{}, sums: map[string]string{}}
	for _, m := range lockedWheel.FindAllStringSubmatch(Read(t, filepath.Join(Repo(), "hexmage.lock.hcl")), -1) {
		if at := filepath.Join(EmulatorRun(t).Cache, "downloads", m[3]); Exists(at) {
			x.files[m[1]], x.sums[m[1]] = at, m[3]
		}
	}
	x.Server = httptest.NewServer(http.HandlerFunc(x.serve))
	t.Cleanup(x.Close)
	x.configure(t, w)
	return x
}

// configure writes pip's configuration of the world's user.
func (x *wheels) configure(t *testing.T, w *World) {
	t.Helper()
	at := filepath.Join(w.Home, ".config", "pip")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "pip.conf"), []byte("[global]\nindex-url = "+x.URL+"/simple\n"),
		0o644); err != nil {
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
	_ = json.NewEncoder(w).Encode(map[string]any{"meta": map[string]string{"api-version": "1.0"},
		"name": path.Base(r.URL.Path), "files": files})
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

// treesOf are the unpacked toolchains of the cache that it takes for whole.
func treesOf(w *World) []string {
	found, _ := filepath.Glob(filepath.Join(w.Cache, "trees", "*.ok"))
	return found
}

// sound has everything in the cache compared with what its name says.
func sound(t *testing.T, w *World) {
	t.Helper()
	if o := w.Run(t, "cache", "verify"); o.Code != ExitOK {
		t.Errorf("the store: %s", o)
	}
}

// unharmed checks what a command that failed left behind: as many toolchains as before, none of them half, nothing in
// tmp, no process, and no output.
func unharmed(t *testing.T, w *World, trees int, pipeline string) {
	t.Helper()
	if is := treesOf(w); len(is) != trees {
		t.Errorf("%d toolchains, there were %d: %q", len(is), trees, is)
	}
	all, _ := filepath.Glob(filepath.Join(w.Cache, "trees", "*-*"))
	for _, p := range all {
		if filepath.Ext(p) == "" && !Exists(p+".ok") {
			t.Errorf("half installed: %s", p)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.Cache, "tmp", "run-*")); len(left) > 0 {
		t.Errorf("left in tmp: %q", left)
	}
	if left := Running(w); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(w.Dir, "out", pipeline, "*")); len(left) > 0 {
		t.Errorf("outputs of a run that failed: %q", left)
	}
}

// lookAtHTP is a pipeline for which Qualcomm's libraries have to be there.
const lookAtHTP = `profile "emulator" { default = true }
toolchain "htp_host" {}
step "exec" "look" {
  argv = ["sh", "-c", "ls $0 > o", toolchain.htp_host.dir]
  output "o" { file = "o" }
}
`

// TestCutWheels: a wheel that is not the pinned one, whatever the reason, is not installed, and the next run with the
// right one is a success.
func TestCutWheels(t *testing.T) {
	w := NewWorld(t)
	x := serveWheels(t, w)
	w.Write(t, "pipelines/p.hcl", lookAtHTP)
	const name = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_35_x86_64.whl"
	sum := x.sums[name]
	if sum == "" {
		t.Fatal("there is no such wheel")
	}
	refused := func(t *testing.T, texts ...string) {
		t.Helper()
		o := w.Run(t, "run", "p")
		Wants(t, o, ExitFailed, append(texts, "toolchain.htp_host", "pipelines/p.hcl:2", "htp_host 2.7.0")...)
		t.Log(o)
		unharmed(t, w, 0, "p")
		w.Clean(t)
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
		w.Write(t, "hexmage.lock.hcl",
			strings.ReplaceAll(Read(t, filepath.Join(Repo(), "hexmage.lock.hcl")), sum, wrong))
		defer os.Remove(filepath.Join(w.Dir, "hexmage.lock.hcl"))
		refused(t, wrong)
	})
	t.Run("then the right one", func(t *testing.T) {
		if r := w.RunJSON(t, "p"); r.Executed != 2 {
			t.Errorf("%q ran", r.Names)
		}
		unharmed(t, w, 1, "p")
		sound(t, w)
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
	w := EmulatorWarmed(t)
	x := serveWheels(t, w)
	const name = "jinja2-3.1.6-py3-none-any.whl"
	jinja := x.sums[name]
	repack := func(change func([]byte) []byte) { // so that it is another file than the one that the store knows already
		b := rewritten(t, filepath.Join(EmulatorRun(t).Cache, "downloads", jinja), "jinja2/filters.py", change)
		x.files[name], x.sums[name] = filepath.Join(t.TempDir(), name), DigestOf(b)
		if err := os.WriteFile(x.files[name], b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	repack(func(b []byte) []byte { return b })
	w.Write(t, "pipelines/p.hcl", `
profile "emulator" { default = true }
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
	w.Write(t, "say.py", "import jinja2\nopen('said', 'w').write(jinja2.Template('{{ 6 * 7 }}').render())\n")
	Wants(t, w.Run(t, "lock", "p"), ExitOK, "small")
	trees := len(treesOf(w))
	if err := os.RemoveAll(filepath.Join(w.Cache, "downloads")); err != nil {
		t.Fatal(err)
	}
	refused := func(t *testing.T, texts ...string) {
		t.Helper()
		o := w.Run(t, "run", "p")
		Wants(t, o, ExitFailed, append(texts, "toolchain.small", "pipelines/p.hcl:3")...)
		t.Log(o)
		unharmed(t, w, trees, "p")
		w.Clean(t)
	}
	for what, send := range map[string]func(http.ResponseWriter, *http.Request,
		[]byte) bool{"a flipped byte": flipped, "half of it": short} {
		t.Run(what, func(t *testing.T) {
			x.send = func(w http.ResponseWriter, r *http.Request, b []byte) bool {
				return path.Base(r.URL.Path) == name && send(w, r, b)
			}
			refused(t, "jinja2 3.1.6")
		})
	}
	x.send = nil
	t.Run("then the right one", func(t *testing.T) {
		r := w.RunJSON(t, "p")
		// jinja2, the installation, the step
		if Read(t, filepath.Join(w.Dir, "out/p/said")) != "42" || r.Executed != 3 {
			t.Errorf("%q ran", r.Names)
		}
		sound(t, w)
	})
	t.Run("a download that the disk has damaged", func(t *testing.T) {
		other := EmulatorWarmed(t)
		x.configure(t, other)
		for _, f := range []string{"pipelines/p.hcl", "say.py", "hexmage.lock.hcl"} {
			other.Write(t, f, Read(t, filepath.Join(w.Dir, f)))
		}
		at := filepath.Join(other.Cache, "downloads", x.sums[name])
		damage := func() {
			b := []byte(Read(t, x.files[name]))
			b[len(b)/2] ^= 1
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		damage()
		Wants(t, other.Run(t, "--offline", "run", "p"), ExitFailed, "offline", "jinja2")
		damage()
		if o := other.Run(t, "run", "p"); o.Code != ExitOK || Read(t, filepath.Join(other.Dir, "out/p/said")) != "42" {
			t.Error(o)
		}
		other.Clean(t)
	})
}

// TestCutRuntime: the libraries of GNU's compiler that Qualcomm's need are left out, or are others.
func TestCutRuntime(t *testing.T) {
	w := EmulatorWarmed(t)
	one := "step \"htp_context\" \"one\" { graphs = \"${step.python.graphs.outputs.dir}/one.onnx\" }\n"
	write := func(name, toolchain string) {
		writeSteps(t, w, name, one)
		w.Edit(t, "pipelines/"+name+".hcl", "toolchain \"gnu_runtime\" {}\n", toolchain)
	}
	of := func(members ...Member) string {
		b := Archive(t, members...)
		name := filepath.Join(t.TempDir(), "runtime.tar.gz")
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("toolchain \"gnu_runtime\" {\n  urls   = [\"file://%s\"]\n  sha256 = \"%s\"\n}\n", name,
			DigestOf(b))
	}
	libraries, _ := filepath.Glob(filepath.Join(w.Cache, "trees", "*", "lib/x86_64-linux-gnu/libgcc_s.so.1"))
	if len(libraries) != 1 {
		t.Fatalf("gnu_runtime: %q", libraries)
	}
	gcc := Read(t, libraries[0])
	standard := Read(t, filepath.Join(libraries[0], "../../../usr/lib/x86_64-linux-gnu/libstdc++.so.6"))
	some := []Member{{Name: "lib/x86_64-linux-gnu/libgcc_s.so.1", Text: gcc},
		{Name: "usr/lib/x86_64-linux-gnu/libstdc++.so.6", Text: standard}}
	trees := len(treesOf(w))

	write("left", "")
	Wants(t, w.Run(t, "run", "left"), ExitUsage, "Undeclared toolchain", "gnu_runtime", "pipelines/left.hcl",
		"Add toolchain")
	write("without", of(some...))
	Wants(t, w.Run(t, "run", "without"), ExitFailed, "toolchain.gnu_runtime", "libatomic.so.1: found nothing")
	unharmed(t, w, trees, "without")
	write("other", of(append(some, Member{Name: "usr/lib/x86_64-linux-gnu/libatomic.so.1", Text: gcc})...))
	Wants(t, w.Run(t, "run", "other"), ExitFailed, "htp_context.one", "libQnnSystem.so", "LIBATOMIC_1.0",
		"gnu_runtime as the catalog has it")
	unharmed(t, w, trees+1, "other") // it is whole, as far as anybody can tell
	write("right", "toolchain \"gnu_runtime\" {}\n")
	if r := w.RunJSON(t, "right"); r.Executed != 2 {
		t.Errorf("%q ran", r.Names)
	}
	sound(t, w)
}

// TestCutReleases: a context is emulated by an older release of Qualcomm's libraries, which refuses it, and by a
// later one, which takes it.
func TestCutReleases(t *testing.T) {
	w := EmulatorWarmed(t)
	made := EmulatorRun(t)
	for dir, to := range map[string]string{"context": "new", "said": "said"} {
		if err := os.CopyFS(filepath.Join(w.Dir, to), os.DirFS(filepath.Join(made.Dir, "out/cuts", dir))); err != nil {
			t.Fatal(err)
		}
	}
	emulate := func(context string) string {
		return fmt.Sprintf("step \"htp_emulate\" \"it\" {\n  context = %s\n  inputs  = "+
			"\"${step.python.graphs.outputs.dir}/samples\"\n}\n", context)
	}
	old := `toolchain "htp_host" { version = "2.4.0" }`
	writeSteps(t, w, "refused", emulate(`"new"`))
	writeSteps(t, w, "old", "step \"htp_context\" \"old\" {\n"+
		"  graphs = \"${step.python.graphs.outputs.dir}/one.onnx\"\n}\n"+
		emulate("step.htp_context.old.outputs.dir")+"output \"context\" { value = step.htp_context.old.outputs.dir }\n")
	writeSteps(t, w, "taken", emulate(`"out/old/context"`))
	for _, name := range []string{"refused", "old"} {
		w.Edit(t, "pipelines/"+name+".hcl", `toolchain "htp_host" {}`, old)
	}
	o := w.Run(t, "run", "refused")
	sound(t, w)
	Wants(t, o, ExitFailed, "htp_emulate.it",
		"was compiled by v2.51.0.260929181845, and the emulator is of v2.48.40.260702151143",
		"toolchain htp_host that is no older")
	t.Log(o)
	unharmed(t, w, len(treesOf(w)), "refused")
	if os.Getenv(envCuts) == "" {
		return
	}
	for _, name := range []string{"old", "taken"} {
		if o := w.Run(t, "run", name); o.Code != ExitOK {
			t.Errorf("%s: %s", name, o)
		}
	}
}

// TestCutShared: a context for a device, which several graphs share, is given to the emulator, which would crash on it.
func TestCutShared(t *testing.T) {
	w := EmulatorWarmed(t)
	steps := "step \"htp_context\" \"both\" { graphs = \"${step.python.graphs.outputs.dir}/both\" }\n"
	for name, context := range map[string]string{"whole": "", "twin": "/emulator/left"} {
		steps += fmt.Sprintf("step \"htp_emulate\" \"%s\" {\n  context = "+
			"\"${step.htp_context.both.outputs.dir}%s\"\n  inputs  = \"${step.python.graphs.outputs.dir}/samples\"\n"+
			"}\n", name, context)
	}
	steps += "step \"htp_emulate\" \"prompt\" {\n  context = \"${step.htp_context.both.outputs.dir}/device\"\n  " +
		"prompt  = \"What is it?\"\n}\n"
	writeSteps(t, w, "both", steps+"output \"context\" { value = step.htp_context.both.outputs.dir }\n")
	writeSteps(t, w, "copied", "step \"htp_emulate\" \"copied\" {\n  context = \"copied\"\n  inputs  = "+
		"\"${step.python.graphs.outputs.dir}/samples\"\n}\n")
	o := w.Run(t, "run", "--keep-going", "both")
	Wants(t, o, ExitFailed, "has 2 graphs in one context", "emulator/left", "has no arch.json", "2 failed")
	if strings.Contains(o.Stderr+o.Stdout, "Traceback") || strings.Contains(o.Stderr+o.Stdout, "signal 11") {
		t.Error(o)
	}
	if r := w.RunJSON(t, "both", "htp_emulate.twin"); r.Executed != 0 {
		t.Errorf("%q ran", r.Names)
	}
	for _, name := range []string{"left_ctx.onnx", "left_ctx_qnn.bin"} { // as somebody takes one graph of it
		w.Write(t, "copied/"+name, Read(t, filepath.Join(w.Dir, "out/both/context/device", name)))
	}
	Wants(t, w.Run(t, "run", "copied"), ExitFailed, "left_ctx.onnx is one of 2 graphs that share one context",
		"emulator/GRAPH/")
	unharmed(t, w, len(treesOf(w)), "copied")
	sound(t, w)
}

// compilers are the processes of the world that compile.
func compilers(w *World) (pids []int) {
	base := filepath.Dir(w.Home)
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
	w := EmulatorWarmed(t)
	trees := len(treesOf(w))
	for _, what := range []string{"the compiler", "hexmage", "everything"} {
		ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
		defer cancel()
		cmd := w.Command(ctx, "--json", "--var=optimization=3", "run", "cuts")
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
			Wants(t, &Outcome{Code: cmd.ProcessState.ExitCode(), Stdout: out.String()}, ExitFailed,
				"htp_compile was killed (signal 9)", "memory ran out", "--jobs 1")
		}
		if left := Running(w); len(left) > 0 {
			t.Errorf("%s was killed; still running: %q", what, left)
		}
	}
	r := w.RunJSON(t, "--var=optimization=3", "cuts")
	if !slices.Equal(r.Names, []string{"htp_context.one", "htp_context.one placement", "htp_emulate.one"}) {
		t.Errorf("%q ran", r.Names)
	}
	if again := w.RunJSON(t, "--var=optimization=3", "cuts"); again.Executed != 0 {
		t.Errorf("again: %q ran", again.Names)
	}
	if err := os.RemoveAll(filepath.Join(w.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	unharmed(t, w, trees, "cuts")
	sound(t, w)
}

// TestCutNetwork: what was downloaded once needs no network, nor an index that answers.
func TestCutNetwork(t *testing.T) {
	warm := EmulatorWarmed(t)
	x := serveWheels(t, warm)
	x.send = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return true
	}
	for _, args := range [][]string{{"--json", "--offline", "run", "cuts"}, {"--json", "run", "cuts"}} {
		o := warm.RunAlone(t, args...)
		Wants(t, o, ExitOK, `"executed":0`)
		if err := os.RemoveAll(filepath.Join(warm.Dir, "out")); err != nil {
			t.Fatal(err)
		}
	}
	if o := warm.Run(t, "run", "cuts"); o.Code != ExitOK {
		t.Error(o)
	}
	unpacked := CutWorld(t).WithEmulatorDownloads(t) // the toolchains are not there, what was downloaded is
	x.configure(t, unpacked)
	Wants(t, unpacked.RunAlone(t, "--offline", "run", "cuts", "htp_context.one"), ExitOK, "out/cuts/context")
	if n := x.pages.Load() + x.asked.Load(); n != 0 {
		t.Errorf("the index was asked: %d", n)
	}
	cold := CutWorld(t)
	x.configure(t, cold)
	Wants(t, cold.Run(t, "--offline", "run", "cuts"), ExitFailed, "run once without --offline")
	unharmed(t, cold, 0, "cuts")
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
	d := disk{filepath.Join(Base(), "small")}
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

// fillDisk runs the pipeline with so little space, which is to be too little, and returns what failed; "" when it was
// enough.
func fillDisk(t *testing.T, w *World, d disk, free int64, args ...string) (failed string) {
	t.Helper()
	d.leave(t, free)
	o := w.Run(t, append([]string{"run"}, args...)...)
	d.leave(t, 1<<30)
	if o.Code == ExitOK {
		return ""
	}
	if o.Code != ExitFailed && o.Code != ExitEngine {
		t.Errorf("%d bytes free: exit code %d", free, o.Code)
	}
	if !strings.Contains(strings.ToLower(o.Stderr), "no space left") {
		t.Errorf("%d bytes free: it does not say that the disk is full: %s", free, o)
	}
	Wants(t, o, o.Code, "hexmage cache gc", "HEXMAGE_CACHE")
	if _, rest, ok := strings.Cut(o.Stderr, "\n✗ "); ok {
		failed, _, _ = strings.Cut(rest, ":")
		failed = strings.TrimSuffix(strings.TrimSuffix(failed, " failed"), " could not run")
	}
	t.Logf("%d bytes free: %s: %s", free, failed, o)
	return failed
}

// TestCutDisk: the disk is full while a wheel is downloaded, while it is unpacked, while an environment is installed,
// and while the compiler writes.
func TestCutDisk(t *testing.T) {
	from := filepath.Join(EmulatorRun(t).Cache, "downloads")
	d := smallDisk(t)
	w := CutWorld(t)
	w.Cache = filepath.Join(d.dir, "cache", "v3")
	x := serveWheels(t, w)
	d.leave(t, 1<<30)
	const wheel = "onnxruntime_qnn-2.7.0-cp311-cp311-manylinux_2_35_x86_64.whl"
	if err := Link(from, filepath.Join(w.Cache, "downloads"),
		func(p string) bool { return !strings.HasSuffix(p, ".lock") && p != x.sums[wheel] }); err != nil {
		t.Fatal(err)
	}
	w.Write(t, "pipelines/p.hcl", lookAtHTP)
	whole := size(t, x.files[wheel])

	// Too little for the download, of which half is kept, and then for the unpacking. What is sent is no measure of
	// that: some of it is still on its way when the disk is full.
	for _, c := range []struct{ free, atMost int64 }{{whole / 2, whole}, {whole + 50<<20, whole * 3 / 4}} {
		x.asked.Store(0)
		if failed := fillDisk(t, w, d, c.free, "p"); failed != "toolchain.htp_host" {
			t.Errorf("%d bytes free: failed: %q", c.free, failed)
		}
		if n := x.asked.Load(); n == 0 || n > c.atMost {
			t.Errorf("%d bytes free: %d bytes of a wheel of %d were asked for", c.free, n, whole)
		}
		unharmed(t, w, 0, "p")
	}
	x.asked.Store(0)
	if r := w.RunJSON(t, "p"); r.Executed != 2 || x.asked.Load() != 0 {
		t.Errorf("%q ran, and %d bytes were asked for", r.Names, x.asked.Load())
	}

	installs := 0
	for free := int64(48 << 20); ; free *= 2 {
		failed := fillDisk(t, w, d, free, "cuts", "python.graphs")
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
	w.RunJSON(t, "cuts", "htp_context.one")
	trees := len(treesOf(w))
	compiles, free, more := 0, int64(1<<20), int64(8)
	if os.Getenv(envCuts) != "" {
		free, more = 64<<10, 2
	}
	for ; ; free *= more {
		failed := fillDisk(t, w, d, free, "cuts", "htp_context.one", "--var=optimization=3")
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
	unharmed(t, w, trees, "no")
	sound(t, w)
}
