//go:build linux

package worldtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Simulated selects the profile that needs no Qualcomm packages.
const Simulated = "--profile=simulated"

// Files of the pipeline, of its module, and of the toy model on the simulated phone.
const (
	PipelineFile  = "pipelines/" + Pipeline + ".hcl"
	ModuleFile    = "modules/mllm-aot/main.hcl"
	SimulatedFile = "modules/mllm-aot/toy/main.hcl"
	ProfileFile   = "modules/mllm-aot/simulated.hcl"
)

// AOT is the prefix of the addresses of all steps in the pipeline's module.
const AOT = "module.aot."

// RunLimit is the timeout of a command. The first run takes minutes on two shared cores.
const RunLimit = 15 * time.Minute

// World holds the workspace, home and cache of one simulated user.
type World struct {
	Dir, Home, Cache string
	Env              []string // in addition to the default
}

// NewWorld creates a workspace with an empty home and cache. The workspace contains the shipped pipelines and modules,
// and the example op package. The test's cleanup removes the world.
func NewWorld(t *testing.T) *World {
	t.Helper()
	w := LastingWorld(t)
	t.Cleanup(func() { Remove(filepath.Dir(w.Dir)) }) // a world with PyTorch takes 16 GB
	return w
}

// LastingWorld creates a world that several tests can share, because it lasts until the process ends.
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

// WithDownloads links toolchaintest's Debian packages into the cache, to avoid downloads.
func (w *World) WithDownloads(t *testing.T) *World {
	t.Helper()
	from := toolchaintest.Downloads(t)
	if err := Link(from, filepath.Join(w.Cache, "downloads"),
		func(p string) bool { return strings.HasSuffix(p, ".deb") }); err != nil {
		t.Fatal(err)
	}
	return w
}

// Warmed returns a world whose cache contains the results of FirstRun.
func Warmed(t *testing.T) *World {
	t.Helper()
	cold, _ := FirstRun(t)
	w := NewWorld(t)
	if err := CloneCache(cold.Cache, w.Cache); err != nil {
		t.Fatal(err)
	}
	return w
}

// FirstRun runs the pipeline once for all tests. Before the run, the cache contains only downloads. If the user is
// root, the run has no network.
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

// CloneCache links the blobs, results and trees of a cache into a new cache. hexmage never changes these files.
func CloneCache(from, to string) error {
	return Link(from, to, func(p string) bool {
		top, rest, _ := strings.Cut(p, string(filepath.Separator))
		return slices.Contains([]string{"blake3", "trees"}, top) &&
			(!strings.HasSuffix(p, ".lock") || strings.Contains(rest, string(filepath.Separator)))
	})
}

// Link hard-links files from one folder into another folder. If it cannot link a file, it makes a copy. The function
// keep selects the files.
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

// Command returns a command that runs hexmage in the world's environment. The command inherits only TMPDIR and the
// proxy settings from the test.
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

// Outcome is the result of a finished command.
type Outcome struct {
	Code           int
	Stdout, Stderr string
	Took           time.Duration
}

func (o *Outcome) String() string {
	if o == nil {
		return "it did not start"
	}
	return fmt.Sprintf("exit code %d after %v\n%s\n%s", o.Code, o.Took, o.Stdout, o.Stderr)
}

func (w *World) Run(t *testing.T, args ...string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	return Ended(t, w.Command(ctx, args...))
}

// Ended runs a command to its end and returns the Outcome.
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

// Ran summarizes a run's events.
type Ran struct {
	*Outcome
	Executed, Cached int
	Names            []string // "step action" of executed actions, sorted
}

// Line is a line of JSON output, with an event of any kind.
type Line struct {
	Event, Step, Name, Outcome string
	Executed, Cached           int
}

// RunJSON runs the pipeline. A failing run fails the test.
func (w *World) RunJSON(t *testing.T, args ...string) Ran {
	t.Helper()
	o := w.Run(t, append([]string{"--json", "run"}, args...)...)
	if o.Code != 0 {
		t.Fatalf("run %q: %s", args, o)
	}
	return RanOf(t, o)
}

// RanOf parses the events in a run's output.
func RanOf(t *testing.T, o *Outcome) Ran {
	t.Helper()
	r := Ran{Outcome: o, Executed: -1}
	for text := range strings.Lines(o.Stdout) {
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("an event is not valid JSON: %v: %s", err, text)
		}
		switch {
		case l.Event == "action_finished" && l.Outcome == "executed":
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

// Write writes a file in the workspace.
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

// Edit replaces text in a file. If the file lacks the text, the test fails.
func (w *World) Edit(t *testing.T, name, old, new string) {
	t.Helper()
	text := Read(t, filepath.Join(w.Dir, name))
	if !strings.Contains(text, old) {
		t.Fatalf("%s: %q is missing", name, old)
	}
	w.Write(t, name, strings.Replace(text, old, new, 1))
}

// Shipped contains the text of each file of the pipeline and its module, by file name.
type Shipped map[string]string

func (w *World) Shipped(t *testing.T) Shipped {
	t.Helper()
	s := Shipped{}
	for _, file := range []string{PipelineFile, ModuleFile, SimulatedFile, ProfileFile} {
		s[file] = Read(t, filepath.Join(w.Dir, file))
	}
	return s
}

// WriteShipped writes the pipeline's files to the workspace.
func (w *World) WriteShipped(t *testing.T, s Shipped) {
	t.Helper()
	for file, text := range s {
		w.Write(t, file, text)
	}
}

// With returns the pipeline with one text replaced. If the pipeline lacks the text, the test fails.
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

// And returns the pipeline with additional blocks in its module.
func (s Shipped) And(blocks string) Shipped {
	s = maps.Clone(s)
	const toolchains = "\ntoolchain \"busybox\" {}\ntoolchain \"mllm\" {}\n"
	if !strings.Contains(s[ModuleFile], toolchains) {
		s[ModuleFile] += toolchains
	}
	s[ModuleFile] += "\n" + blocks
	return s
}

// Output returns the pipeline with an additional output. The module evaluates the expression in the parameter value.
func (s Shipped) Output(name, value string) Shipped {
	s = s.And("output \"" + name + "\" { value = " + value + " }\n")
	s[PipelineFile] += "\noutput \"" + name + "\" { value = module.aot." + name + " }\n"
	return s
}

// Wants checks that a command ended with the exit code, and printed all texts.
func Wants(t *testing.T, o *Outcome, code int, texts ...string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("got exit code %d, want %d: %s", o.Code, code, o)
	}
	for _, text := range texts {
		if !strings.Contains(o.Stdout+o.Stderr, text) {
			t.Errorf("text %q is missing in the output: %s", text, o)
		}
	}
}

// Exit codes that users see.
const (
	ExitOK     = 0
	ExitFailed = 1
	ExitUsage  = 2
	ExitEngine = 3
	ExitCheck  = 5
)

// Clean checks that the cache contains no unfinished files.
func (w *World) Clean(t *testing.T) {
	t.Helper()
	if entries, err := os.ReadDir(filepath.Join(w.Cache, "tmp")); err != nil || len(entries) > 0 {
		t.Errorf("files left in the tmp folder of the cache: %v, error %v", entries, err)
	}
	kept, err := filepath.Glob(filepath.Join(w.Cache, "downloads", "*"))
	for _, p := range kept {
		if name := filepath.Base(p); len(name) == 64 && DigestOf([]byte(Read(t, p))) != name {
			t.Errorf("digest of the kept download %s differs from the file's name", name)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// MLLMAOT is the pipeline for all architectures that mllm compiles ahead of time.
const MLLMAOT = "mllm-aot"

// Family maps arguments of MLLMAOT to the expected counts of nodes that Qualcomm's compiler accepts. Each argument
// selects a small model of another architecture.
func Family() map[string]string {
	return map[string]string{"--var=architecture=qwen2": "1680 of 1680", "--var=architecture=llama": "1580 of 1580"}
}

const Library = "libQnnLLaMAPackage.so"

// Vendor returns folders with Qualcomm's packages: a new and an old release for each of two systems.
func Vendor(t *testing.T) (newX86, oldX86, newARM, oldARM string) {
	libs := func(name, below string) string { return filepath.Join(toolchaintest.Root(t, name), below) }
	return libs("htp_host", "onnxruntime_qnn"), libs("htp_host@2.4.0", "onnxruntime_qnn"),
		libs("htp_linux_arm64", "onnxruntime_qnn"), libs("qnnruntime", "qnnruntime/.libs")
}
