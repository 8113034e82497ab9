// Package local runs actions as processes on this machine.
//
// Every action gets a folder of its own, its exec root, with its declared inputs and nothing else, and an environment
// that holds what the action says and what is listed at environ. It knows processes, folders and the store; it does not
// know what commands mean.
package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/tree"
)

// Options configure an Executor.
type Options struct {
	Dir   string      // folder for exec roots; on the store's file system, so that outputs enter it by renaming
	Store cas.Store   // where inputs come from and outputs go
	Trees *tree.Trees // where whole toolchains stand unpacked; nil: they are materialised like other inputs
	Fn    digest.Function
	Self  string            // hexmage's own binary, for actions that run a built-in tool
	Extra map[string]string // variables of this machine, such as its proxies, for built-in tools and what may use the network; in no key
	Keep  bool              // leave exec roots behind, for people to look at
}

// Executor is an execute.Executor.
type Executor struct {
	o     Options
	count atomic.Int64

	mu     sync.Mutex
	groups map[int]bool // process groups that run
}

// New returns an Executor.
func New(o Options) *Executor { return &Executor{o: o, groups: map[int]bool{}} }

// Execute runs the action's command in an exec root of its own.
func (x *Executor) Execute(ctx context.Context, a *action.Action) (*action.Result, error) {
	root, done, err := x.Prepare(ctx, a)
	if err != nil {
		return nil, err
	}
	defer done()
	if limit := a.TimeLimit(); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &execute.TimeoutError{Limit: limit})
		defer cancel()
	}
	res, err := x.start(ctx, a, root)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		if late := (*execute.TimeoutError)(nil); errors.As(err, &late) {
			return nil, &execute.TimeoutError{Limit: late.Limit, Result: res}
		}
		return nil, err
	}
	res.Root = root
	return res, Collect(context.WithoutCancel(ctx), x.o.Store, x.o.Fn, root, a, res)
}

// Collect brings the action's outputs below root into the store and names them in res.
func Collect(ctx context.Context, store cas.Store, fn digest.Function, root string, a *action.Action, res *action.Result) error {
	files, dirs, err := tree.Capture(ctx, store, fn, root, a.Command.Outputs)
	if err != nil {
		return &execute.Error{Op: "store the outputs", Err: err}
	}
	res.Files, res.Dirs = files, dirs
	return nil
}

// Prepare makes the action's exec root and returns it, with a function that removes it.
func (x *Executor) Prepare(ctx context.Context, a *action.Action) (string, func(), error) {
	base := filepath.Join(x.o.Dir, fmt.Sprintf("exec-%d-%d", os.Getpid(), x.count.Add(1)))
	remove := func() {
		if !x.o.Keep {
			removeAll(base)
		}
	}
	fail := func(op string, err error) (string, func(), error) {
		remove()
		return "", nil, &execute.Error{Op: op, Err: err}
	}
	root := filepath.Join(base, "root")
	if err := os.MkdirAll(filepath.Join(base, "tmp"), 0o755); err != nil {
		return fail("make an exec root", err)
	}
	if err := os.Mkdir(filepath.Join(base, "home"), 0o755); err != nil {
		return fail("make an exec root", err)
	}
	shared, err := x.toolchains(ctx, a.InputRoot)
	if err != nil {
		return fail("unpack a toolchain", err)
	}
	opts := tree.MaterialiseOptions{Shared: func(root digest.Digest) (string, bool) {
		dir, ok := shared[root]
		return dir, ok
	}}
	if err := tree.Materialise(ctx, x.o.Store, tree.Ref(a.InputRoot), root, opts); err != nil {
		return fail("lay out the inputs", err)
	}
	for _, o := range a.Command.Outputs {
		if err := outputFolder(root, o); err != nil {
			return fail("make the folder of output "+o, err)
		}
	}
	return root, remove, nil
}

// outputFolder makes the folder that the output is written to. It goes through no symlink: behind the one of a toolchain
// is a folder that all actions share.
func outputFolder(root, output string) error {
	at := root
	for _, name := range strings.Split(path.Dir(path.Clean(output)), "/") {
		at = filepath.Join(at, name)
		switch st, err := os.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			if err := os.Mkdir(at, 0o755); err != nil {
				return err
			}
		case err != nil:
			return err
		case !st.IsDir():
			return fmt.Errorf("%s is an input and no folder of this action's own: let the command write elsewhere", name)
		}
	}
	return nil
}

// create makes a new file at path. An input that is there goes away first: its content may be shared with the store.
func create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// toolchains unpacks the folders below toolchains/ of the input root, each once for all actions, and returns where they
// are. In the exec root a link stands in their place.
func (x *Executor) toolchains(ctx context.Context, root digest.Digest) (map[digest.Digest]string, error) {
	if x.o.Trees == nil {
		return nil, nil
	}
	dir, err := tree.Ref(root).Sub(ctx, x.o.Store, "toolchains")
	if errors.Is(err, tree.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if dir, err = dir.Open(ctx, x.o.Store); err != nil {
		return nil, err
	}
	at := map[digest.Digest]string{}
	for _, sub := range dir.Dirs {
		if ref, ok := sub.Ref(); ok {
			if at[ref], err = x.o.Trees.Path(ctx, x.o.Store, ref); err != nil {
				return nil, err
			}
		}
	}
	return at, nil
}

func (x *Executor) start(ctx context.Context, a *action.Action, root string) (*action.Result, error) {
	argv := a.Command.Args
	if len(argv) == 0 {
		return nil, &execute.Error{Op: "start a command", Err: errors.New("the action has no arguments")}
	}
	prog := argv[0]
	isTool := prog == action.ToolArg0 && a.Command.Platform[action.PropertyTool] != ""
	switch {
	case isTool:
		prog = x.o.Self
	case strings.Contains(prog, "/") && !filepath.IsAbs(prog):
		prog = filepath.Join(root, filepath.FromSlash(prog))
	case !strings.Contains(prog, "/"):
		found, err := LookPath(prog, "")
		if err != nil {
			return nil, &execute.Error{Op: "start " + prog, Err: err, Remedy: "install it, or name a program of a toolchain or an input by its path"}
		}
		prog = found
	}
	cmd := exec.Command(prog)
	cmd.Args = argv
	cmd.Dir = root
	cmd.Env = x.environ(a, root)
	if in := a.Command.Platform[action.PropertyStdin]; in != "" {
		f, err := os.Open(filepath.Join(root, filepath.FromSlash(in)))
		if err != nil {
			return nil, &execute.Error{Op: "open standard input", Err: err}
		}
		defer f.Close()
		cmd.Stdin = f
	}
	var stdout, stderr execute.Capped
	var out io.Writer = &stdout
	var file *os.File
	if path := a.Command.Platform[action.PropertyStdout]; path != "" {
		f, err := create(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return nil, &execute.Error{Op: "create the file for standard output", Err: err}
		}
		defer f.Close()
		file, out = f, io.MultiWriter(&stdout, f)
	}
	progress := &progressLines{ctx: ctx, next: &stderr}
	start := time.Now()
	code, err := x.run(ctx, cmd, out, progress)
	if err != nil {
		return nil, &execute.Error{Op: "start " + argv[0], Err: err, Remedy: "is the program there, executable, and built for this machine?"}
	}
	progress.flush()
	if file != nil {
		if err := file.Close(); err != nil {
			return nil, &execute.Error{Op: "write standard output", Err: err}
		}
	}
	return &action.Result{ExitCode: code, Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Worker: "local", Duration: time.Since(start)}, nil
}

// environ is the command's whole environment: what the action says, the host's program path unless it says another, where
// things are, and a home and a temporary folder of its own.
func (x *Executor) environ(a *action.Action, root string) []string {
	base := filepath.Dir(root)
	env := map[string]string{
		"PATH": execute.HostPath,
		"LANG": "C.UTF-8",
	}
	if a.Command.Platform[action.PropertyTool] != "" || a.Command.Platform[action.PropertyNetwork] == "true" {
		maps.Copy(env, x.o.Extra)
	}
	for k, v := range a.Command.Env {
		env[k] = v
	}
	env["HEXMAGE_ROOT"] = root
	env["HEXMAGE_SELF"] = x.o.Self
	env["HOME"] = filepath.Join(base, "home")
	env["TMPDIR"] = filepath.Join(base, "tmp")
	list := make([]string, 0, len(env))
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	return list
}

// LookPath is execute.LookPath.
func LookPath(name, list string) (string, error) { return execute.LookPath(name, list) }

// removeAll removes an exec root, in which tools may have left folders without write permission.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// progressLines takes lines "progress DONE TOTAL TEXT" out of standard error and reports them; the rest goes on to next.
type progressLines struct {
	ctx  context.Context // of one Execute
	next io.Writer
	line []byte
	last time.Time
}

// Write never fails.
func (p *progressLines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		p.line = append(p.line, b[:i+1]...)
		p.emit()
		b = b[i+1:]
	}
	if p.line = append(p.line, b...); len(p.line) > bufio.MaxScanTokenSize {
		p.emit()
	}
	return n, nil
}

func (p *progressLines) emit() {
	if rest, ok := bytes.CutPrefix(p.line, []byte("progress ")); ok {
		f := strings.SplitN(strings.TrimSpace(string(rest)), " ", 3)
		if len(f) >= 2 {
			done, err1 := strconv.ParseInt(f[0], 10, 64)
			total, err2 := strconv.ParseInt(f[1], 10, 64)
			if err1 == nil && err2 == nil {
				if time.Since(p.last) > 50*time.Millisecond {
					p.last = time.Now()
					execute.ReportProgress(p.ctx, done, total, strings.Join(f[2:], " "))
				}
				p.line = p.line[:0]
				return
			}
		}
	}
	p.flush()
}

func (p *progressLines) flush() {
	_, _ = p.next.Write(p.line)
	p.line = p.line[:0]
}
