//go:build linux

package worldtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

const Pipeline = "qwen3-aot-v79"

// Simulated chooses the profile that needs no package of Qualcomm's.
const Simulated = "--profile=simulated"

// The files of the pipeline, of the module that it calls, and of the toy model on the simulated phone.
const (
	PipelineFile  = "pipelines/" + Pipeline + ".hcl"
	ModuleFile    = "modules/mllm-aot/main.hcl"
	SimulatedFile = "modules/mllm-aot/toy/main.hcl"
	ProfileFile   = "modules/mllm-aot/simulated.hcl"
)

// AOT is the address of that module: what its steps' names begin with.
const AOT = "module.aot."

// RunLimit is what a command may take before it counts as one that hangs: on two cores that many share the first run
// takes minutes.
const RunLimit = 15 * time.Minute

// World is a workspace, a home and a cache: what one person has.
type World struct {
	Dir, Home, Cache string
	Env              []string // beside the usual
}

// NewWorld makes a workspace with the shipped pipelines, modules and the example op package, an empty home, and an
// empty cache. It is there as long as the test.
func NewWorld(t *testing.T) *World {
	t.Helper()
	w := LastingWorld(t)
	t.Cleanup(func() { Remove(filepath.Dir(w.Dir)) }) // a world with PyTorch takes 16 GB
	return w
}

// LastingWorld makes one that is there as long as the process: for a set-up that many tests stand on.
func LastingWorld(t *testing.T) *World {
	t.Helper()
	base, err := os.MkdirTemp(Base(), "world-")
	if err != nil {
		t.Fatal(err)
	}
	w := &World{Dir: filepath.Join(base, "workspace"), Home: filepath.Join(base, "home"),
		Cache: filepath.Join(base, "cache", "v3")}
	for _, sub := range []string{"pipelines", "modules", "oppackage/example/LLaMAPackage"} {
		if err := os.CopyFS(filepath.Join(w.Dir, sub), os.DirFS(filepath.Join(Repo(), sub))); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{w.Home, w.Cache} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// WithDownloads links the packages that toolchaintest keeps into the cache, so that they are not downloaded every
// time.
func (w *World) WithDownloads(t *testing.T) *World {
	t.Helper()
	from := toolchaintest.Downloads(t)
	if err := Link(from, filepath.Join(w.Cache, "downloads"),
		func(p string) bool { return strings.HasSuffix(p, ".deb") }); err != nil {
		t.Fatal(err)
	}
	return w
}

// Warmed returns a world whose cache knows everything that the first run did. The run itself happens once.
func Warmed(t *testing.T) *World {
	t.Helper()
	cold, _ := FirstRun(t)
	w := NewWorld(t)
	if err := CloneCache(cold.Cache, w.Cache); err != nil {
		t.Fatal(err)
	}
	return w
}

// FirstRun runs the pipeline from nothing but packages, once for all tests; as root without a network, which must not
// be missed.
func FirstRun(t *testing.T) (*World, *Outcome) {
	t.Helper()
	s := shared()
	s.warm.Do(func() {
		s.cold = LastingWorld(t).WithDownloads(t)
		if os.Getuid() == 0 {
			s.first = s.cold.RunAlone(t, "run", "--offline", Simulated, Pipeline)
			return
		}
		s.first = s.cold.Run(t, "run", Simulated, Pipeline)
	})
	if s.first == nil || s.first.Code != 0 {
		t.Fatalf("the first run failed: %s", s.first)
	}
	return s.cold, s.first
}

// CloneCache makes a cache of its own with the blobs, results and trees of another. Blobs and trees are linked, not
// copied: hexmage replaces files of its store and never writes into one, but for the pack of results.
func CloneCache(from, to string) error {
	if err := os.CopyFS(filepath.Join(to, "results"), os.DirFS(filepath.Join(from, "results"))); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return Link(from, to, func(p string) bool {
		top, rest, _ := strings.Cut(p, string(filepath.Separator))
		return slices.Contains([]string{"blake3", "trees"}, top) &&
			(!strings.HasSuffix(p, ".lock") || strings.Contains(rest, string(filepath.Separator)))
	})
}

// Link links or, where that is not possible, copies those files below from that keep wants.
func Link(from, to string, keep func(rel string) bool) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil || !keep(rel) {
			return err
		}
		at := filepath.Join(to, rel)
		if Exists(at) && !d.IsDir() {
			return nil
		}
		if d.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		}
		if os.Link(p, at) == nil {
			return nil
		}
		return CopyFile(p, at)
	})
}

func CopyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, st.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(to, time.Time{}, st.ModTime()))
}

// Command is hexmage with the world's environment and nothing else of ours but the way to the network.
func (w *World) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, Hexmage(), args...)
	cmd.Dir = w.Dir
	cmd.Env = append([]string{"PATH=" + Path(), "HOME=" + w.Home, "HEXMAGE_CACHE=" + filepath.Dir(w.Cache)}, w.Env...)
	for _, name := range []string{"TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
		"NO_PROXY"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Outcome is how one command ended.
type Outcome struct {
	Code           int
	Stdout, Stderr string
	Took           time.Duration
}

func (o *Outcome) String() string {
	if o == nil {
		return "it did not start"
	}
	return strings.Join([]string{"exit code", Itoa(o.Code), "after", o.Took.String(), "\n", o.Stdout, "\n", o.Stderr},
		" ")
}

func Itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func (w *World) Run(t *testing.T, args ...string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	return Ended(t, w.Command(ctx, args...))
}

// Ended runs a command to its end.
func Ended(t *testing.T, cmd *exec.Cmd) *Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	return &Outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(start)}
}

// Ran is what a run did, from its events.
type Ran struct {
	*Outcome
	Executed, Cached int
	Names            []string // "step action" of what was executed, sorted
}

// Line is any of the events.
type Line struct {
	Event, Step, Name, Outcome string
	Executed, Cached           int
}

// RunJSON runs the pipeline and wants it to succeed.
func (w *World) RunJSON(t *testing.T, args ...string) Ran {
	t.Helper()
	o := w.Run(t, append([]string{"--json", "run"}, args...)...)
	if o.Code != 0 {
		t.Fatalf("run %q: %s", args, o)
	}
	return RanOf(t, o)
}

// RanOf reads a run's events.
func RanOf(t *testing.T, o *Outcome) Ran {
	t.Helper()
	r := Ran{Outcome: o, Executed: -1}
	for text := range strings.Lines(o.Stdout) {
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("an event that is no JSON: %v: %s", err, text)
		}
		switch {
		case l.Event == "node_finished" && l.Outcome == "executed":
			r.Names = append(r.Names, strings.TrimSpace(l.Step+" "+l.Name))
		case l.Event == "build_finished":
			r.Executed, r.Cached = l.Executed, l.Cached
		}
	}
	slices.Sort(r.Names)
	return r
}

func (w *World) Out(name string) string { return filepath.Join(w.Dir, "out", Pipeline, name) }

func Read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Write writes a file of the workspace.
func (w *World) Write(t *testing.T, name, text string) {
	t.Helper()
	p := filepath.Join(w.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Edit replaces text that must be there.
func (w *World) Edit(t *testing.T, name, old, new string) {
	t.Helper()
	text := Read(t, filepath.Join(w.Dir, name))
	if !strings.Contains(text, old) {
		t.Fatalf("%s: there is no %q to change", name, old)
	}
	w.Write(t, name, strings.Replace(text, old, new, 1))
}

// Shipped are the texts of the pipeline and its module, by their files.
type Shipped map[string]string

func (w *World) Shipped(t *testing.T) Shipped {
	t.Helper()
	s := Shipped{}
	for _, file := range []string{PipelineFile, ModuleFile, SimulatedFile, ProfileFile} {
		s[file] = Read(t, filepath.Join(w.Dir, file))
	}
	return s
}

// WriteShipped puts the texts into the workspace.
func (w *World) WriteShipped(t *testing.T, s Shipped) {
	t.Helper()
	for file, text := range s {
		w.Write(t, file, text)
	}
}

// With is the pipeline with new in the place of old, which must be in one of the files.
func (s Shipped) With(t *testing.T, old, new string) Shipped {
	t.Helper()
	for _, file := range []string{ModuleFile, SimulatedFile, ProfileFile, PipelineFile} {
		if text := s[file]; strings.Contains(text, old) {
			s = maps.Clone(s)
			s[file] = strings.Replace(text, old, new, 1)
			return s
		}
	}
	t.Fatalf("the pipeline has no %q", old)
	return nil
}

// And is the pipeline with more blocks in its module.
func (s Shipped) And(blocks string) Shipped {
	s = maps.Clone(s)
	const toolchains = "\ntoolchain \"busybox\" {}\ntoolchain \"mllm\" {}\n"
	if !strings.Contains(s[ModuleFile], toolchains) {
		s[ModuleFile] += toolchains
	}
	s[ModuleFile] += "\n" + blocks
	return s
}

// Output is the pipeline with one more output, of which the module knows the value.
func (s Shipped) Output(name, value string) Shipped {
	s = s.And("output \"" + name + "\" { value = " + value + " }\n")
	s[PipelineFile] += "\noutput \"" + name + "\" { value = module.aot." + name + " }\n"
	return s
}

// Wants checks a command that must fail: its code, and what it must say.
func Wants(t *testing.T, o *Outcome, code int, texts ...string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("exit code %d, want %d: %s", o.Code, code, o)
	}
	for _, text := range texts {
		if !strings.Contains(o.Stdout+o.Stderr, text) {
			t.Errorf("it does not say %q: %s", text, o)
		}
	}
}

// Exit codes, as people's scripts know them.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitEngine = 3
	ExitCheck  = 5
)

// Clean wants nothing half done in the cache.
func (w *World) Clean(t *testing.T) {
	t.Helper()
	if entries, err := os.ReadDir(filepath.Join(w.Cache, "tmp")); err != nil || len(entries) > 0 {
		t.Errorf("left in tmp: %v, %v", entries, err)
	}
	kept, err := filepath.Glob(filepath.Join(w.Cache, "downloads", "*"))
	for _, p := range kept {
		if name := filepath.Base(p); len(name) == 64 && DigestOf([]byte(Read(t, p))) != name {
			t.Errorf("download %s is kept and is not what its name says", name)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// MLLMAOT is the pipeline for all architectures that mllm compiles ahead of time.
const MLLMAOT = "mllm-aot"

// Family are the arguments for MLLMAOT that make it build another architecture than qwen3-aot-v79, and how many nodes
// of how many Qualcomm's compiler takes of its small model.
func Family() map[string]string {
	return map[string]string{"--var=architecture=qwen2": "1680 of 1680", "--var=architecture=llama": "1580 of 1580"}
}

const Library = "libQnnLLaMAPackage.so"

// Vendor has Qualcomm's packages: two releases for each of two systems.
func Vendor(t *testing.T) (newX86, oldX86, newARM, oldARM string) {
	libs := func(name, below string) string { return filepath.Join(toolchaintest.Root(t, name), below) }
	return libs("htp_host", "onnxruntime_qnn"), libs("htp_host@2.4.0", "onnxruntime_qnn"),
		libs("htp_linux_arm64", "onnxruntime_qnn"), libs("qnnruntime", "qnnruntime/.libs")
}
