//go:build linux

package e2e_test

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

const pipeline = "qwen3-aot-v79"

// The pipeline's file, and those of the module that it calls: what all profiles have, and what profile open has.
const (
	pipelineFile = "pipelines/" + pipeline + ".hcl"
	moduleFile   = "modules/mllm-aot/main.hcl"
	openFile     = "modules/mllm-aot/open.hcl"
)

// aot is the address of that module: what its steps' names begin with.
const aot = "module.aot."

const runLimit = 5 * time.Minute

// world is a workspace, a home and a cache: what one person has.
type world struct {
	dir, home, cache string
	env              []string // beside the usual
}

// newWorld makes a workspace with the shipped pipelines, modules and the example op package, an empty home, and an empty cache.
func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := os.MkdirTemp(shared.base, "world-")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir: filepath.Join(base, "workspace"), home: filepath.Join(base, "home"), cache: filepath.Join(base, "cache")}
	for _, sub := range []string{"pipelines", "modules", "oppackage/example/LLaMAPackage"} {
		if err := os.CopyFS(filepath.Join(w.dir, sub), os.DirFS(filepath.Join(shared.repo, sub))); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{w.home, w.cache} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if w != shared.cold && w != shared.host && w != shared.grid { // a world with PyTorch takes 16 GB
			remove(base)
		}
	})
	return w
}

// withDownloads links the packages that toolchaintest keeps into the cache, so that they are not downloaded every time.
func (w *world) withDownloads(t *testing.T) *world {
	t.Helper()
	from := toolchaintest.Downloads(t)
	if err := link(from, filepath.Join(w.cache, "downloads"), func(p string) bool { return strings.HasSuffix(p, ".deb") }); err != nil {
		t.Fatal(err)
	}
	return w
}

// warmed returns a world whose cache knows everything that the first run did. The run itself happens once.
func warmed(t *testing.T) *world {
	t.Helper()
	firstRun(t)
	w := newWorld(t)
	if err := cloneCache(shared.cold.cache, w.cache); err != nil {
		t.Fatal(err)
	}
	return w
}

// firstRun runs the pipeline from nothing but packages, once for all tests; as root without a network, which must not be
// missed.
func firstRun(t *testing.T) (*world, *outcome) {
	t.Helper()
	shared.warm.Do(func() {
		shared.cold = newWorld(t).withDownloads(t)
		if os.Getuid() == 0 {
			shared.did = shared.cold.runAlone(t, "run", "--offline", pipeline)
			return
		}
		shared.did = shared.cold.run(t, "run", pipeline)
	})
	if shared.did == nil || shared.did.code != 0 {
		t.Fatalf("the first run failed: %s", shared.did)
	}
	return shared.cold, shared.did
}

// cloneCache makes a cache with the blobs, results and trees of another one. It links their files: hexmage replaces
// files of its store and never writes into one.
func cloneCache(from, to string) error {
	return link(from, to, func(p string) bool {
		top, rest, _ := strings.Cut(p, string(filepath.Separator))
		return slices.Contains([]string{"blake3", "trees"}, top) && (!strings.HasSuffix(p, ".lock") || strings.Contains(rest, string(filepath.Separator)))
	})
}

// link links or, where that is not possible, copies those files below from that keep wants.
func link(from, to string, keep func(rel string) bool) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil || !keep(rel) {
			return err
		}
		at := filepath.Join(to, rel)
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
		return copyFile(p, at)
	})
}

func copyFile(from, to string) error {
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

// command is hexmage with the world's environment and nothing else of ours but the way to the network.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, shared.hexmage, args...)
	cmd.Dir = w.dir
	cmd.Env = append([]string{"PATH=" + shared.path, "HOME=" + w.home, "HEXMAGE_CACHE=" + w.cache}, w.env...)
	for _, name := range []string{"TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// outcome is how one command ended.
type outcome struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

func (o *outcome) String() string {
	if o == nil {
		return "it did not start"
	}
	return strings.Join([]string{"exit code", itoa(o.code), "after", o.took.String(), "\n", o.stdout, "\n", o.stderr}, " ")
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func (w *world) run(t *testing.T, args ...string) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	return ended(t, w.command(ctx, args...))
}

// ended runs a command to its end.
func ended(t *testing.T, cmd *exec.Cmd) *outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	return &outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(start)}
}

// ran is what a run did, from its events.
type ran struct {
	*outcome
	executed, cached int
	names            []string // "step action" of what was executed, sorted
}

// line is any of the events.
type line struct {
	Event, Step, Name, Outcome string
	Executed, Cached           int
}

// runJSON runs the pipeline and wants it to succeed.
func (w *world) runJSON(t *testing.T, args ...string) ran {
	t.Helper()
	o := w.run(t, append([]string{"--json", "run"}, args...)...)
	if o.code != 0 {
		t.Fatalf("run %q: %s", args, o)
	}
	return ranOf(t, o)
}

// ranOf reads a run's events.
func ranOf(t *testing.T, o *outcome) ran {
	t.Helper()
	r := ran{outcome: o, executed: -1}
	for text := range strings.Lines(o.stdout) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("an event that is no JSON: %v: %s", err, text)
		}
		switch {
		case l.Event == "node_finished" && l.Outcome == "executed":
			r.names = append(r.names, strings.TrimSpace(l.Step+" "+l.Name))
		case l.Event == "build_finished":
			r.executed, r.cached = l.Executed, l.Cached
		}
	}
	slices.Sort(r.names)
	return r
}

func (w *world) out(name string) string { return filepath.Join(w.dir, "out", pipeline, name) }

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// write writes a file of the workspace.
func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit replaces text that must be there.
func (w *world) edit(t *testing.T, name, old, new string) {
	t.Helper()
	text := read(t, filepath.Join(w.dir, name))
	if !strings.Contains(text, old) {
		t.Fatalf("%s: there is no %q to change", name, old)
	}
	w.write(t, name, strings.Replace(text, old, new, 1))
}

// shipped are the texts of the pipeline and its module, by their files.
type shipped map[string]string

func (w *world) shipped(t *testing.T) shipped {
	t.Helper()
	s := shipped{}
	for _, file := range []string{pipelineFile, moduleFile, openFile} {
		s[file] = read(t, filepath.Join(w.dir, file))
	}
	return s
}

// writeShipped puts the texts into the workspace.
func (w *world) writeShipped(t *testing.T, s shipped) {
	t.Helper()
	for file, text := range s {
		w.write(t, file, text)
	}
}

// with is the pipeline with new in the place of old, which must be in one of the files.
func (s shipped) with(t *testing.T, old, new string) shipped {
	t.Helper()
	for _, file := range []string{moduleFile, openFile, pipelineFile} {
		if text := s[file]; strings.Contains(text, old) {
			s = maps.Clone(s)
			s[file] = strings.Replace(text, old, new, 1)
			return s
		}
	}
	t.Fatalf("the pipeline has no %q", old)
	return nil
}

// and is the pipeline with more blocks in its module.
func (s shipped) and(blocks string) shipped {
	s = maps.Clone(s)
	s[moduleFile] += "\n" + blocks
	return s
}

// output is the pipeline with one more output, of which the module knows the value.
func (s shipped) output(name, value string) shipped {
	s = s.and("output \"" + name + "\" { value = " + value + " }\n")
	s[pipelineFile] += "\noutput \"" + name + "\" { value = module.aot." + name + " }\n"
	return s
}

// wants checks a command that must fail: its code, and what it must say.
func wants(t *testing.T, o *outcome, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d: %s", o.code, code, o)
	}
	for _, text := range texts {
		if !strings.Contains(o.stdout+o.stderr, text) {
			t.Errorf("it does not say %q: %s", text, o)
		}
	}
}
