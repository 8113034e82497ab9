package local_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
)

type fixture struct {
	x     *local.Executor
	blobs store.Blobs
	dir   string
}

func newFixture(t testing.TB) fixture {
	t.Helper()
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "tmp", "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	x := local.New(local.Options{Dir: dir, Store: blobs, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3,
		Self: self(t)})
	t.Cleanup(func() { _ = x.Close() })
	return fixture{x, blobs, dir}
}

// self is the test's own program.
func self(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// root stores a tree with these files and returns its digest. A file called "prog" is executable.
func (f fixture) root(t testing.TB, files map[string]string) digest.Digest {
	t.Helper()
	d := &merkle.Dir{}
	for p, content := range files {
		dg := digest.BLAKE3.Bytes([]byte(content))
		if err := f.blobs.Put(t.Context(), dg, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if err := d.Insert(t.Context(), f.blobs, p,
			merkle.File{Digest: dg, Executable: path.Base(p) == "prog"}); err != nil {
			t.Fatal(err)
		}
	}
	root, err := d.Put(t.Context(), f.blobs, digest.BLAKE3)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestToolchainsAreLinked(t *testing.T) {
	f := newFixture(t)
	a := &action.Action{
		Command: action.Command{
			Args: []string{"sh", "-c", "readlink toolchains/sdk > link && cat toolchains/sdk/include/x.h in.txt " +
				"> both; test ! -L in.txt"},
			Outputs: []string{"link", "both"},
		},
		InputRoot: f.root(t, map[string]string{"toolchains/sdk/include/x.h": "x\n", "in.txt": "in\n"}),
	}
	for range 2 {
		res, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
		if err != nil || res.ExitCode != 0 || len(res.Files) != 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		if res.Files[0].Digest.Size() == 0 {
			t.Error("toolchains/sdk is no link")
		}
	}
	if err := f.x.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(f.dir); len(left) > 0 {
		t.Errorf("exec roots were left behind: %v", left)
	}
}

func TestProgressAndErrors(t *testing.T) {
	f := newFixture(t)
	var seen []string
	progress := func(done, total int64, text string) { seen = append(seen, text) }
	a := &action.Action{
		Command: action.Command{Args: []string{"sh", "-c",
			"echo progress 1 2 half >&2; echo progress is no number >&2; exit 3"}},
		InputRoot: f.root(t, nil),
	}
	res, err := f.x.Execute(t.Context(), &execute.Request{Action: a, Progress: progress})
	if err != nil || res.ExitCode != 3 || string(res.Stderr) != "progress is no number\n" || len(seen) != 1 ||
		seen[0] != "half" {
		t.Errorf("%+v, %v, progress %q", res, err, seen)
	}
	a.Command.Args = []string{"no-such-program"}
	var e *execute.Error
	if _, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); !errors.As(err, &e) || e.Remedy == "" {
		t.Errorf("err = %v, want one with a remedy", err)
	}
}

// TestSpoiledOutputs: a command that makes its outputs unreadable fails with its own exit code, or with a remedy.
func TestSpoiledOutputs(t *testing.T) {
	f := newFixture(t)
	for script, refused := range map[string]bool{
		"rm -r out/sub; echo > out/sub":           false, // the output is missing
		"rm -r out/sub; ln -s sub out/sub":        true,
		"mkfifo out/sub/y":                        true,
		"ln -s / out/sub/y; touch out/x":          true,
		"ln -s nowhere out/sub/y; ln -s x out/x2": false,
	} {
		for code, success := range map[int]bool{0: true, 7: false, 8: true} {
			a := &action.Action{
				OKExitCodes: []int{8},
				Command: action.Command{Outputs: []string{"out/x", "out/sub/y"},
					Args: []string{"sh", "-c", fmt.Sprintf("echo own >&2; %s; exit %d", script, code)}},
				InputRoot: f.root(t, nil),
			}
			res, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
			var e *execute.Error
			if refused && success {
				if !errors.As(err, &e) || !e.Refused || e.Remedy == "" {
					t.Errorf("%s: %+v, %v", script, res, err)
				}
			} else if err != nil || res.ExitCode != code || string(res.Stderr) != "own\n" {
				t.Errorf("%s, exit code %d: %+v, %v", script, code, res, err)
			}
		}
	}
}

// Variables of this machine reach what may use the network or needs the machine; other commands must not depend on
// them.
func TestVariablesOfTheMachine(t *testing.T) {
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{local.New(local.Options{Dir: filepath.Join(root, "tmp"), Store: blobs, Fn: digest.BLAKE3,
		Self: self(t), Extra: map[string]string{"PROXY": "here"}}), blobs, root}
	for platform, want := range map[string]string{"": "none", action.PropertyNetwork + "=true": "here",
		action.PropertyHost + "=apt": "here", action.PropertyTool + "=x/1": "none"} {
		name, value, _ := strings.Cut(platform, "=")
		a := &action.Action{Command: action.Command{Args: []string{"sh", "-c", "echo ${PROXY:-none}"},
			Platform: map[string]string{name: value}}, InputRoot: f.root(t, nil)}
		if r, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil ||
			string(r.Stdout) != want+"\n" {
			t.Errorf("%s: %q, %v; want %s", platform, r.Stdout, err, want)
		}
	}
}

// A secret reaches the built-in tool that it is for, and no other command.
func TestPrivateVariables(t *testing.T) {
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "self") // plays hexmage
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ \"$2\" != "+worker.Tool+" ] || exec "+self(t)+
		" \"$@\"\necho ${SECRET:-none}\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := fixture{local.New(local.Options{Dir: filepath.Join(root, "tmp"), Store: blobs, Fn: digest.BLAKE3,
		Self: program, Private: map[string]map[string]string{"fetch": {"SECRET": "here"}}}), blobs, root}
	network := map[string]string{action.PropertyNetwork: "true", action.PropertyHost: "x"}
	tool := func(name string) map[string]string {
		return map[string]string{action.PropertyTool: name, action.PropertyNetwork: "true"}
	}
	for name, c := range map[string]struct {
		args     []string
		platform map[string]string
		want     string
	}{
		"the tool":                       {[]string{action.ToolArg0, "tool", "fetch"}, tool("fetch/1"), "here"},
		"another tool":                   {[]string{action.ToolArg0, "tool", "metrics"}, tool("metrics/1"), "none"},
		"a command that calls itself so": {[]string{"sh", "-c", "echo ${SECRET:-none}"}, tool("fetch/1"), "none"},
		"a command with network":         {[]string{"sh", "-c", "echo ${SECRET:-none}"}, network, "none"},
	} {
		a := &action.Action{Command: action.Command{Args: c.args, Platform: c.platform}, InputRoot: f.root(t, nil)}
		if r, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil ||
			string(r.Stdout) != c.want+"\n" {
			t.Errorf("%s: %q, %v; want %s", name, r.Stdout, err, c.want)
		}
	}
}

func (f fixture) content(t *testing.T, d digest.Digest) string {
	t.Helper()
	r, err := f.blobs.Open(t.Context(), d)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Standard output may go to a path where an input is: the input's blob, which may be the same file, stays as it is.
func TestStandardOutputOverAnInput(t *testing.T) {
	f := newFixture(t)
	a := &action.Action{
		Command: action.Command{Args: []string{"echo", "new"}, Outputs: []string{"f"},
			Platform: map[string]string{action.PropertyStdout: "f"}},
		InputRoot: f.root(t, map[string]string{"f": "old\n"}),
	}
	r, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil || len(r.Files) != 1 || f.content(t, r.Files[0].Digest) != "new\n" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := f.content(t, digest.BLAKE3.Bytes([]byte("old\n"))); got != "old\n" {
		t.Errorf("the input is now %q", got)
	}
}

// An action that writes to its inputs, as root can whatever their mode, does not change what the next one gets.
func TestInputsThatAreWrittenTo(t *testing.T) {
	f := newFixture(t)
	root := f.root(t, map[string]string{"f": "old\n", "g": "g\n"})
	a := &action.Action{
		Command: action.Command{Args: []string{"sh", "-c",
			"chmod +w f g; echo more >> f; echo bad > g; cat f; ls -l"}, Outputs: []string{"f"}},
		InputRoot: root,
	}
	r, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Files) != 1 || f.content(t, r.Files[0].Digest) != "old\nmore\n" {
		t.Errorf("the output: %+v", r)
	}
	// The store has the blobs as they were, or says that it has not: then they are made again.
	var want []digest.Digest
	for _, s := range []string{"old\n", "g\n"} {
		d := digest.BLAKE3.Bytes([]byte(s))
		want = append(want, d)
		if got := f.content(t, d); got != s && !strings.Contains(got, "damaged") {
			t.Errorf("the store has %q for %q", got, s)
		}
	}
	missing, err := f.blobs.Missing(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range want {
		if got := f.content(t, d); !slices.Contains(missing, d) && digest.BLAKE3.Bytes([]byte(got)) != d {
			t.Errorf("the store calls %q whole", got)
		}
	}
}

// What actions share is nobody's place for outputs.
func TestOutputsInAToolchain(t *testing.T) {
	f := newFixture(t)
	for _, out := range []string{"toolchains/sdk/new/out", "toolchains/sdk/out", "in.txt/out"} {
		a := &action.Action{
			Command:   action.Command{Args: []string{"true"}, Outputs: []string{out}},
			InputRoot: f.root(t, map[string]string{"toolchains/sdk/bin/cc": "x", "in.txt": "in"}),
		}
		var e *execute.Error
		if _, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); !errors.As(err, &e) ||
			!strings.Contains(err.Error(), out) {
			t.Errorf("%s: %v", out, err)
		}
	}
}

func TestKill(t *testing.T) {
	f := newFixture(t)
	started := filepath.Join(t.TempDir(), "started")
	a := &action.Action{Command: action.Command{Args: []string{"sh", "-c",
		"trap '' TERM; (trap '' TERM; sleep 60) & touch " + started + "; sleep 60"}}, InputRoot: f.root(t, nil)}
	go func() {
		for range 1000 {
			if _, err := os.Stat(started); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		f.x.Kill()
	}()
	start := time.Now()
	if r, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil || r.ExitCode != 128+9 ||
		time.Since(start) > 20*time.Second {
		t.Errorf("%+v, %v after %v", r, err, time.Since(start))
	}
	// A command may be on its way to its process while the others are killed.
	start = time.Now()
	if r, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil || r.ExitCode != 128+9 ||
		time.Since(start) > 20*time.Second {
		t.Errorf("afterwards: %+v, %v after %v", r, err, time.Since(start))
	}
}

// TestLostWorker: after its worker was killed, a command may still write to its output. The store must not contain it.
func TestLostWorker(t *testing.T) {
	f := newFixture(t)
	a := &action.Action{Command: action.Command{Outputs: []string{"out"}, Args: []string{"sh", "-c",
		"echo first > out; (sleep 0.2; echo second >> out) & kill -9 $PPID; wait"}}, InputRoot: f.root(t, nil)}
	r, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil || r.ExitCode != 128+9 || len(r.Files) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	first := digest.BLAKE3.Bytes([]byte("first\n"))
	if missing, err := f.blobs.Missing(t.Context(), []digest.Digest{first}); err != nil || len(missing) != 1 {
		t.Errorf("the store has the output of a running command, %v", err)
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "tool")
	for _, c := range []struct{ name, list, want string }{
		{"tool", "/nowhere:" + dir, tool},
		{tool, "", tool},
		{"data", dir, ""},
		{filepath.Join(dir, "gone"), "", ""},
		{"tool", "", ""},
	} {
		if got, err := execute.LookPath(c.name, c.list); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("LookPath(%q, %q) = %q, %v; want %q", c.name, c.list, got, err, c.want)
		}
	}
	if p, err := execute.LookPath("sh", ""); err != nil || !filepath.IsAbs(p) {
		t.Errorf("sh: %q, %v", p, err)
	}
}
