// Package executetest contains conformance tests for execute.Executor. Run tests an Executor that runs POSIX shell
// commands, on this machine or another. Decorator and Start test an Executor that wraps another Executor. The parameter
// name is the tested type, as %T prints it. TestSeams of package archtest reads these names, and fails if an
// implementation lacks a conformance test.
//
// Fake is an Executor for tests of other packages.
package executetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/internal/store"
)

// Setup holds an Executor to test, and the store for inputs and outputs.
type Setup struct {
	Executor execute.Executor
	Store    store.Blobs
	Fn       digest.Function
	Shell    string            // absolute path of a POSIX shell on the machine for commands; "": /bin/sh
	Platform map[string]string // properties that Run adds to each action
	// Foreign means that the Executor runs commands on a machine with an unknown file system. On this machine all
	// inputs may seem executable, and a folder may contain extra files. If an output is a link, the Executor returns
	// the file to which the link leads.
	Foreign bool
	Inputs  string // folder in the exec root that becomes the command's working directory; "": the exec root
	// NoSecrets means that the executor rejects actions with secrets.
	NoSecrets bool
	// Silent means that the Executor reports nothing about a command until the command ends.
	Silent bool
	// Prepare, if not nil, adds files to an exec root that each action needs in addition to the inputs.
	Prepare func(*merkle.Dir) error

	// Alive reports whether the machine for commands runs a process whose command line contains the text. For Executors
	// on this machine, use ProcessAlive on Linux.
	Alive func(text string) (bool, error)
}

// leaked is a variable of the test's process that no command may see.
const leaked = "HEXMAGE_TEST_LEAK"

// Run tests the Executors that open returns. It uses several Executors at the same time. These Executors may share
// folders and stores.
func Run(t *testing.T, name string, open func(t *testing.T) Setup) {
	t.Setenv(leaked, "the host's")
	for _, c := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"exit code and output", exitCode},
		{"inputs", inputs},
		{"folders in the action", ownDirectories},
		{"outputs", outputs},
		{"missing output", missingOutput},
		{"output that leads out", escapingOutput},
		{"environment", environment},
		{"secrets", secrets},
		{"secret in an output", secretOutput},
		{"standard input", stdin},
		{"standard output", stdout},
		{"output that is a link", linkedOutput},
		{"long output", longOutput},
		{"exec roots are apart", apart},
		{"no such program", noSuchProgram},
		{"missing input", missingInput},
		{"timeout", timeout},
		{"cancel", cancel},
		{"canceled before", canceledBefore},
		{"listeners", listeners},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &suite{Setup: open(t)}
			is(t, name, s.Executor)
			if s.Shell == "" {
				s.Shell = "/bin/sh"
			}
			c.run(t, s)
		})
	}
}

// is reports an error if v has another type than the suite checks.
func is(t *testing.T, name string, v any) {
	t.Helper()
	if got := fmt.Sprintf("%T", v); got != name {
		t.Fatalf("the suite checks a %s, but got a %s", got, name)
	}
}

type suite struct{ Setup }

// put stores b.
func (s *suite) put(t *testing.T, b string) digest.Digest {
	t.Helper()
	d := s.Fn.Bytes([]byte(b))
	if err := s.Store.Put(t.Context(), d, strings.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	return d
}

// dir returns an exec root with the files. A * after a name marks a program.
func (s *suite) dir(t *testing.T, files map[string]string) *merkle.Dir {
	t.Helper()
	d := &merkle.Dir{}
	if s.Prepare != nil {
		if err := s.Prepare(d); err != nil {
			t.Fatal(err)
		}
	}
	for p, content := range files {
		name, executable := strings.CutSuffix(path.Join(s.Inputs, p), "*")
		f := merkle.File{Digest: s.put(t, content), Executable: executable}
		if err := d.Insert(t.Context(), s.Store, name, f); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// action makes an action that runs the script in an exec root with the given files.
func (s *suite) action(t *testing.T, script string, files map[string]string, outputs ...string) *action.Action {
	t.Helper()
	root, err := s.dir(t, files).Put(t.Context(), s.Store, s.Fn)
	if err != nil {
		t.Fatal(err)
	}
	c := action.Command{Args: []string{s.Shell, "-c", script}, Outputs: outputs, Platform: map[string]string{}}
	maps.Copy(c.Platform, s.Platform)
	return &action.Action{Command: c, InputRoot: root}
}

func (s *suite) execute(t *testing.T, a *action.Action) *action.Result {
	t.Helper()
	r, err := s.Executor.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatalf("%q could not run: %v", a.Command.Args, err)
	}
	return r
}

func (s *suite) read(t *testing.T, d digest.Digest) string {
	t.Helper()
	r, err := s.Store.Open(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exitCode(t *testing.T, s *suite) {
	for _, code := range []int{0, 1, 7, 255} {
		r := s.execute(t, s.action(t, fmt.Sprintf("echo out; echo err >&2; exit %d", code), nil))
		if r.ExitCode != code || string(r.Stdout) != "out\n" || string(r.Stderr) != "err\n" {
			t.Errorf("got exit code %d, stdout %q and stderr %q, want %d, \"out\" and "+
				"\"err\"", r.ExitCode, r.Stdout, r.Stderr, code)
		}
		if r.Worker == "" || r.Duration <= 0 {
			t.Errorf("got worker %q and duration %v, want both set", r.Worker, r.Duration)
		}
	}
	if r := s.execute(t, s.action(t, "kill -9 $$", nil)); r.ExitCode == 0 {
		t.Error("a command that was killed has exit code 0")
	}
}

func inputs(t *testing.T, s *suite) {
	alone := "test ! -x a/b.txt && find . -type f | sort"
	if s.Foreign {
		alone = "printf './%s\\n' a/* run"
	}
	a := s.action(t, "cat a/b.txt && ./run && "+alone, map[string]string{
		"a/b.txt": "content\n", "run*": "#!" + s.Shell + "\necho ran\n", "a/empty": "",
	})
	r := s.execute(t, a)
	if got, want := string(r.Stdout), "content\nran\n./a/b.txt\n./a/empty\n./run\n"; r.ExitCode != 0 || got != want {
		t.Errorf("got exit code %d and stdout %q, want 0 and %q; stderr: %q", r.ExitCode, got, want, r.Stderr)
	}
}

// ownDirectories has the messages of the inputs' folders in the action, and not in the store.
func ownDirectories(t *testing.T, s *suite) {
	a := s.action(t, "cat a/b/c", nil)
	a.InputRoot, a.Directories = s.dir(t, map[string]string{"a/b/c": "deep"}).Encode(s.Fn)
	if r := s.execute(t, a); r.ExitCode != 0 || string(r.Stdout) != "deep" {
		t.Errorf("got exit code %d and stdout %q, want 0 and \"deep\"; stderr: %q", r.ExitCode, r.Stdout, r.Stderr)
	}
}

func outputs(t *testing.T, s *suite) {
	a := s.action(t, `cat in > out/copy && printf tool > out/tool && chmod 755 out/tool && : > out/empty &&
		mkdir -p tree/sub tree/none && echo 1 > tree/sub/f && ln -s sub/f tree/l && echo not declared > other`,
		map[string]string{"in": "text"}, "out/copy", "out/tool", "out/empty", "tree")
	r := s.execute(t, a)
	if r.ExitCode != 0 {
		t.Fatalf("exit code %d: %s", r.ExitCode, r.Stderr)
	}
	got := map[string]string{}
	for _, f := range r.Files {
		got[f.Path] = fmt.Sprintf("%s %v", s.read(t, f.Digest), f.Executable)
	}
	want := map[string]string{"out/copy": "text false", "out/tool": "tool true", "out/empty": " false"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got files %v, want %v", got, want)
	}
	if len(r.Dirs) != 1 || r.Dirs[0].Path != "tree" {
		t.Fatalf("folders %v, want tree", r.Dirs)
	}
	d, err := merkle.Load(t.Context(), s.Store, r.Dirs[0].Root)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	err = d.Walk(func(p string, e merkle.Entry) error {
		switch {
		case e.File != nil:
			p += "=" + s.read(t, e.File.Digest)
		case e.Dir == nil:
			p += "->" + e.Symlink
		}
		found = append(found, p)
		return nil
	})
	link := "l->sub/f"
	if s.Foreign {
		link = "l=1\n"
	}
	if got, want := strings.Join(found, " "), link+" none sub sub/f=1\n"; err != nil || got != want {
		t.Errorf("got tree %q and error %v, want %q", got, err, want)
	}
	whole, err := merkle.LoadTree(t.Context(), s.Store, r.Dirs[0].Tree)
	if err != nil {
		t.Fatal(err)
	}
	if root, _ := whole.Encode(s.Fn); root != r.Dirs[0].Root {
		t.Errorf("the Tree message has the root %v, want %v", root, r.Dirs[0].Root)
	}
}

func missingOutput(t *testing.T, s *suite) {
	r := s.execute(t, s.action(t, "echo 1 > there", nil, "there", "missing", "deep/missing"))
	if r.ExitCode != 0 || len(r.Files) != 1 || r.Files[0].Path != "there" || len(r.Dirs) != 0 {
		t.Errorf("got exit code %d, files %v and folders %v, want only the file \"there\"", r.ExitCode, r.Files, r.Dirs)
	}
	r = s.execute(t, s.action(t, "echo 1 > there; exit 3", nil, "there"))
	if r.ExitCode != 3 || len(r.Files) != 1 {
		t.Errorf("failed command: got exit code %d and files %v, want 3 and one file", r.ExitCode, r.Files)
	}
}

func escapingOutput(t *testing.T, s *suite) {
	for _, script := range []string{"ln -s /etc out", "ln -s /bin/sh out", "mkdir out; ln -s ../.. out/up",
		"ln -s .. out"} {
		if s.Foreign && strings.Contains(script, "/bin/sh") {
			continue // it is the file
		}
		if r, err := s.Executor.Execute(t.Context(),
			&execute.Request{Action: s.action(t, script, nil, "out")}); err == nil && r.ExitCode == 0 {
			t.Errorf("script %s: got files %v and folders %v, want an error", script, r.Files, r.Dirs)
		}
	}
}

func environment(t *testing.T, s *suite) {
	a := s.action(t, "env", nil)
	a.Command.Env = map[string]string{"ONE": "1", "SPACES": " a  b ", "QUOTES": `'"$x`, "EMPTY": ""}
	r := s.execute(t, a)
	got := map[string]string{}
	for line := range strings.Lines(string(r.Stdout)) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[k] = v
	}
	for k, v := range a.Command.Env {
		if have, ok := got[k]; !ok || have != v {
			t.Errorf("environment variable %s is %q, want %q", k, have, v)
		}
	}
	for _, k := range []string{"HEXMAGE_ROOT", "HOME", "TMPDIR"} {
		if got[k] == "" {
			t.Errorf("environment variable %s is not set", k)
		}
	}
	if v, ok := got[leaked]; ok {
		t.Errorf("the host's environment leaks: %s", v)
	}
}

// hidden is a secret that no test has a reason to print.
const hidden = "hunter2-7f3a9c"

// withSecrets returns a request for the action with the secret as TOKEN, and a file with it as FILE. It returns nil if
// the executor takes no secrets.
func (s *suite) withSecrets(t *testing.T, a *action.Action) *execute.Request {
	t.Helper()
	text := secret.Text{{Literal: "key "}, {Ref: "var.token"}}
	values := secret.Values{"var.token": hidden}
	set, err := secret.NewSet(map[string]secret.Text{"TOKEN": text[1:]}, map[string]secret.Text{"FILE": text}, values)
	if err != nil {
		t.Fatal(err)
	}
	r := &execute.Request{Action: a, Secrets: set}
	if !s.NoSecrets {
		return r
	}
	r.Progress = func(_, _ int64, text string) {
		if strings.Contains(text, "ran") {
			t.Error("it ran")
		}
	}
	a.Command.Args = []string{s.Shell, "-c", "echo progress 1 2 ran >&2"}
	s.refuses(t, r)
	return nil
}

// refuses checks that the executor refuses an action with secrets, and that the error does not show them.
func (s *suite) refuses(t *testing.T, r *execute.Request) {
	t.Helper()
	var e *execute.Error
	res, err := s.Executor.Execute(t.Context(), r)
	if !errors.As(err, &e) || !e.Refused || res != nil || strings.Contains(err.Error()+e.Remedy, hidden) {
		t.Errorf("command %q: got result %v and error %v, want a rejected action", r.Action.Command.Args, res, err)
	}
}

// secrets checks that a command gets the secrets, and that its output does not show them.
func secrets(t *testing.T, s *suite) {
	for _, code := range []int{0, 3} {
		a := s.action(t, fmt.Sprintf(
			`test "$(cat "$FILE")" = "key $TOKEN" && ls -l "$FILE" | cut -c1-10 && echo "a $TOKEN b" && cat "$FILE" >&2 && echo >&2 &&
			echo "progress 1 2 half $TOKEN" >&2 && i=0 && while [ $i -lt 4000 ]; do echo "$i $TOKEN"; i=$((i+1)); done; echo "$FILE"; exit %d`, code), nil)
		r := s.withSecrets(t, a)
		if r == nil {
			return
		}
		r.Printed = execute.NewOutputLog(filepath.Join(t.TempDir(), "printed"))
		var mu sync.Mutex
		var told string
		r.Progress = func(_, _ int64, text string) {
			mu.Lock()
			defer mu.Unlock()
			told += text
		}
		res, err := s.Executor.Execute(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		var whole bytes.Buffer
		if err := r.Printed.CopyTo(&whole, res); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		seen := fmt.Sprintf("%s %+v %s %s %s %+v", told, *res, res.Stdout, res.Stderr, &whole, *r)
		mu.Unlock()
		if strings.Contains(seen, hidden) {
			t.Errorf("exit code %d: the output contains the secret", code)
		}
		lines := strings.Split(strings.TrimSpace(string(res.Stdout)), "\n")
		if res.ExitCode != code || lines[0] != "-rw-------" || lines[1] != "a (sensitive) b" ||
			string(res.Stderr) != "key (sensitive)\n" || !strings.Contains(told, "half (sensitive)") {
			t.Errorf("got exit code %d, first lines %q, stderr %q and progress %q", res.ExitCode,
				lines[:min(len(lines), 2)], res.Stderr, told)
		}
		gone := s.execute(t, s.action(t, "test ! -e '"+lines[len(lines)-1]+"' && test -z \"${TOKEN-}${FILE-}\"", nil))
		if gone.ExitCode != 0 {
			t.Errorf("the next action can read the secret: stdout %s, stderr %s", gone.Stdout, gone.Stderr)
		}
	}
}

// secretOutput checks that no output with a secret is stored.
func secretOutput(t *testing.T, s *suite) {
	for name, script := range map[string]string{
		"content": `echo "x $TOKEN" > out/f`, "file": `cp "$FILE" out/f && chmod 444 out/f`,
		"name": `echo x > "out/$TOKEN"`, "base64": `printf 'user:%s' "$TOKEN" | base64 > out/f`,
	} {
		a := s.action(t, script, map[string]string{"out/in": ""}, "out")
		r := s.withSecrets(t, a)
		if r == nil {
			return
		}
		s.refuses(t, r)
		r.Action = s.action(t, script+"; exit 3", map[string]string{"out/in": ""}, "out")
		if res, err := s.Executor.Execute(t.Context(), r); err != nil || res.ExitCode != 3 ||
			len(res.Files)+len(res.Dirs) > 0 {
			t.Errorf("failed command %s: got result %+v and error %v, want no outputs", name, res, err)
		}
	}
}

func stdin(t *testing.T, s *suite) {
	if r := s.execute(t, s.action(t, "cat; echo end", nil)); r.ExitCode != 0 || string(r.Stdout) != "end\n" {
		t.Errorf("without standard input: got exit code %d and stdout %q, want 0 and \"end\"", r.ExitCode, r.Stdout)
	}
	a := s.action(t, "cat", map[string]string{"dir/prompt.txt": "hello\x00there"})
	a.Command.Platform[action.PropertyStdin] = path.Join(s.Inputs, "dir/prompt.txt")
	if r := s.execute(t, a); r.ExitCode != 0 || string(r.Stdout) != "hello\x00there" {
		t.Errorf("got exit code %d and stdout %q, want the input", r.ExitCode, r.Stdout)
	}
}

// stdout has standard output be an output, too, in the place of an input.
func stdout(t *testing.T, s *suite) {
	a := s.action(t, "cat in; echo said; echo err >&2; exit $1",
		map[string]string{"in": "hello\x00there\n", "said": "not this"}, "said")
	a.Command.Platform[action.PropertyStdout] = "said"
	for _, code := range []string{"0", "3"} {
		a.Command.Args = append(a.Command.Args[:3:3], "sh", code)
		r := s.execute(t, a)
		const want = "hello\x00there\nsaid\n"
		if fmt.Sprint(r.ExitCode) != code || string(r.Stdout) != want || string(r.Stderr) != "err\n" ||
			len(r.Files) != 1 || s.read(t, r.Files[0].Digest) != want {
			t.Errorf("got exit code %d, want %s; stdout %q, stderr %q, files %v", r.ExitCode, code, r.Stdout, r.Stderr,
				r.Files)
		}
	}
}

// linkedOutput has links for outputs, which count as what they lead to in the exec root.
func linkedOutput(t *testing.T, s *suite) {
	if s.Foreign {
		return // the targets of links are unknown
	}
	r := s.execute(t, s.action(t, "mkdir -p out/d && cp in out/d/f && ln -s f out/d/l && chmod 755 out/d/f && ln -s "+
		"../in out/file && ln -s d out/dir && ln -s nowhere out/none",
		map[string]string{"in": "text"}, "out/file", "out/dir", "out/none"))
	if r.ExitCode != 0 || len(r.Files) != 1 || r.Files[0].Path != "out/file" ||
		s.read(t, r.Files[0].Digest) != "text" || len(r.Dirs) != 1 || r.Dirs[0].Path != "out/dir" {
		t.Fatalf("exit code %d, stderr %q, files %v, folders %v", r.ExitCode, r.Stderr, r.Files, r.Dirs)
	}
	d, err := merkle.LoadOutput(t.Context(), s.Store, r.Dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if f := d.Files["f"]; f == nil || !f.Executable || d.Symlinks["l"] != "f" {
		t.Errorf("got files %v and symlinks %v, want an executable f and a symlink l", d.Files, d.Symlinks)
	}
}

func longOutput(t *testing.T, s *suite) {
	const script = "echo first; i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo last"
	out := string(s.execute(t, s.action(t, script, nil)).Stdout)
	if len(out) > action.MaxInline || !strings.HasPrefix(out, "first\n") || !strings.HasSuffix(out, "\nlast\n") {
		t.Errorf("the result has %d bytes, want only its head and tail, at most %d bytes", len(out), action.MaxInline)
	}
}

// apart runs the same action several times at once: no run sees another run's files, or changes its inputs.
func apart(t *testing.T, s *suite) {
	const script = "test ! -e out && cat in > out && sleep 0.1 && rm -f in && echo changed > in && cat out"
	a := s.action(t, script, map[string]string{"in": "x"}, "out")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r, err := s.Executor.Execute(t.Context(), &execute.Request{Action: a})
			if err != nil || r.ExitCode != 0 || string(r.Stdout) != "x" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wg.Wait()
}

func noSuchProgram(t *testing.T, s *suite) {
	for _, args := range [][]string{{"no-such-program-here"}, {"./no/such/program"}, {"/no/such/program"}, nil} {
		a := s.action(t, "", nil)
		a.Command.Args = args
		r, err := s.Executor.Execute(t.Context(), &execute.Request{Action: a})
		var e *execute.Error
		if !errors.As(err, &e) || e.Op == "" || r != nil {
			t.Errorf("%q: got result %v and error %v, want no result and an execute.Error", args, r, err)
		}
	}
}

func missingInput(t *testing.T, s *suite) {
	a := s.action(t, "cat in", nil)
	d := s.dir(t, nil)
	if err := d.Insert(t.Context(), s.Store, path.Join(s.Inputs, "in"),
		merkle.File{Digest: s.Fn.Bytes([]byte("never stored"))}); err != nil {
		t.Fatal(err)
	}
	var err error
	if a.InputRoot, err = d.Put(t.Context(), s.Store, s.Fn); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Executor.Execute(t.Context(), &execute.Request{Action: a}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got result %v and error %v, want ErrNotFound", r, err)
	}
}

// stubborn is a command that ends by itself after a minute, and whose child ignores the request to end. The mark is
// in the command lines of both, and in the progress that the child tells when it is there.
func stubborn() (script, mark string) {
	mark = fmt.Sprintf("61.%d", time.Now().UnixNano())
	return "(trap '' TERM HUP INT; echo progress 1 2 " + mark + " >&2; sleep " + mark + "; sleep " + mark +
		") & sleep " + mark, mark
}

// ended reports when something with the mark still runs a while after an action that began at start.
func (s *suite) ended(t *testing.T, mark string, start time.Time) {
	t.Helper()
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the command ended %v after the cancellation, want at most 20s", took)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		alive, err := s.Alive(mark)
		if err != nil || time.Now().After(end) {
			t.Fatalf("a child process still runs: %v, %v", alive, err)
		}
		if !alive {
			return
		}
	}
}

func timeout(t *testing.T, s *suite) {
	script, mark := stubborn()
	a := s.action(t, script, nil)
	a.Limit = 200 * time.Millisecond
	start := time.Now()
	r, err := s.Executor.Execute(t.Context(), &execute.Request{Action: a})
	var late *execute.TimeoutError
	if !errors.As(err, &late) || late.Limit != a.Limit || r != nil {
		t.Errorf("got result %v and error %v, want no result and a TimeoutError of %v", r, err, a.Limit)
	}
	s.ended(t, mark, start)
}

func cancel(t *testing.T, s *suite) {
	script, mark := stubborn()
	over := errors.New("the build is over")
	ctx, stop := context.WithCancelCause(t.Context())
	progress := func(_, _ int64, text string) {
		if strings.Contains(text, mark) {
			stop(over)
		}
	}
	start := time.Now()
	if s.Silent {
		time.AfterFunc(time.Second, func() { stop(over) })
	}
	if r, err := s.Executor.Execute(ctx,
		&execute.Request{Action: s.action(t, script, nil), Progress: progress}); !errors.Is(err, over) || r != nil {
		t.Errorf("got result %v and error %v, want no result and the cause of the context", r, err)
	}
	s.ended(t, mark, start)
}

func canceledBefore(t *testing.T, s *suite) {
	over := errors.New("the build is over")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(over)
	ran := func(_, _ int64, text string) { t.Errorf("the action ran: %s", text) }
	if r, err := s.Executor.Execute(ctx,
		&execute.Request{Action: s.action(t, "echo progress 1 2 ran >&2", nil), Progress: ran}); !errors.Is(err,
		over) || r != nil {
		t.Errorf("got result %v and error %v, want no result and the cause of the context", r, err)
	}
}

// listeners checks that the caller gets progress, the span of the command, and all of its output.
func listeners(t *testing.T, s *suite) {
	var run, progress atomic.Bool
	a := &execute.Request{
		Printed: execute.NewOutputLog(filepath.Join(t.TempDir(), "printed")),
		Spans: func(name string, start time.Time, took time.Duration) {
			if name == "run" {
				run.Store(!start.IsZero() && took >= 0)
			}
		},
		Progress: func(_, _ int64, text string) {
			if strings.Contains(text, "half") {
				progress.Store(true)
			}
		},
	}
	line := strings.Repeat("x", 1000)
	a.Action = s.action(t, "i=0; while [ $i -lt 200 ]; do echo "+line+"; i=$((i+1)); done", nil)
	r, err := s.Executor.Execute(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := a.Printed.CopyTo(&whole, r); err != nil || strings.Count(whole.String(), line+"\n") != 200 {
		t.Errorf("got a log of %d bytes and error %v, want 200 lines", whole.Len(), err)
	}
	a.Action = s.action(t, "echo progress 1 2 half >&2", nil)
	if _, err := s.Executor.Execute(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if !run.Load() || !progress.Load() {
		t.Errorf("span run reported: %v, progress reported: %v, want both", run.Load(), progress.Load())
	}
}
