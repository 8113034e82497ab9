// Package local runs actions as processes on this machine.
//
// An action runs in an exec root, which is a folder that contains only the declared inputs, and with an environment
// from the function environ. The package knows processes, folders and the store; it does not know the meaning of
// commands.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/checkpoint"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// Options configure an Executor.
type Options struct {
	Dir   string        // folder for exec roots; must be on the store's file system, for renames
	Store store.Blobs   // store from which inputs come and to which outputs go
	Trees *merkle.Trees // unpacked toolchains; nil: the executor copies toolchains like other inputs
	Fn    digest.Function
	Self  string // path of hexmage's binary, for workers and for built-in tools
	// extra environment variables, such as proxies, for actions that use the network or run without a sandbox; not in
	// the key
	Extra map[string]string
	// Private maps the name of a built-in tool to environment variables that only this tool gets. Examples are secrets
	// and the paths of files with logins. They are not part of the key.
	Private map[string]map[string]string
	// Checkpoints stores the checkpoints of actions that failed or were killed; nil: no checkpoints.
	Checkpoints *checkpoint.Store
	// Tidy, if not nil, is called before an action looks for a checkpoint. It saves the checkpoints of other hexmage
	// processes that were killed in the meantime.
	Tidy func(context.Context)

	// Memory is a folder that other users cannot read; the Executor creates it if it is missing. If the folder is on a
	// file system in memory (tmpfs), the Executor keeps files with secrets in this folder while a command runs.
	// Otherwise, or if Memory is "", it keeps them in the folder that contains the exec root.
	Memory string

	// Hold, if not nil, returns a file that stays open while processes of commands may run, even if this process is
	// killed.
	Hold func() (*os.File, error)

	Base      *sandbox.Base // part of the host that restricted commands may read; nil: no restriction
	Workspace string        // folder in which to search for files that a failed command lacked; "": none
}

// Executor runs actions on this machine. It implements execute.Executor.
type Executor struct {
	o Options

	mark     string       // in the names of exec roots
	roots    atomic.Int64 // exec roots made so far
	programs sync.Map     // of the host, by name: where they are

	mu   sync.Mutex
	idle []*worker.Worker

	kill   chan struct{} // closed by Kill
	killed sync.Once
	lost   atomic.Bool // a worker was killed

	canMount func() bool // once: whether a command can be shown files elsewhere
	removals errgroup.Group
}

// New returns an Executor.
func New(o Options) *Executor {
	// Several executors may have one folder.
	mark := strconv.FormatUint(uint64(rand.Uint32()), 36)
	x := &Executor{o: o, mark: mark, kill: make(chan struct{}),
		canMount: sync.OnceValue(func() bool { return sandbox.CanMount(o.Self) == nil })}
	x.removals.SetLimit(runtime.GOMAXPROCS(0))
	return x
}

// worker returns an idle worker, or starts one.
func (x *Executor) worker() (*worker.Worker, error) {
	for w := x.takeIdle(); w != nil; w = x.takeIdle() {
		if w.Usable() {
			return w, nil
		}
		w.Close()
	}
	var hold *os.File
	if x.o.Hold != nil {
		var err error
		if hold, err = x.o.Hold(); err != nil {
			return nil, err
		}
	}
	return worker.Start(x.o.Self, x.o.Dir, hold)
}

// takeIdle takes the worker that became idle last, or returns nil.
func (x *Executor) takeIdle() *worker.Worker {
	x.mu.Lock()
	defer x.mu.Unlock()
	last := len(x.idle) - 1
	if last < 0 {
		return nil
	}
	w := x.idle[last]
	x.idle = x.idle[:last]
	return w
}

// putBack makes a worker idle that has run its command.
func (x *Executor) putBack(w *worker.Worker) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.idle = append(x.idle, w)
}

// Kill immediately kills all processes of all commands, including commands that are just starting. Call it only before
// this process exits.
func (x *Executor) Kill() { x.killed.Do(func() { close(x.kill) }) }

// Close stops the worker processes. Call it after the last action.
func (x *Executor) Close() error {
	_ = x.removals.Wait()
	for _, w := range x.idle {
		w.Close()
	}
	x.idle = nil
	if x.lost.Load() {
		worker.End(x.o.Dir)
	}
	return nil
}

// Execute runs the command of the action in a new exec root.
func (x *Executor) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	w, err := x.worker() // it begins while the inputs are laid out
	if err != nil {
		return nil, &execute.Error{Op: "start a worker", Err: err}
	}
	defer x.putBack(w)
	end := a.Span("lay out inputs")
	s, err := x.prepare(ctx, a)
	end()
	if err != nil {
		return nil, err
	}
	defer x.leave(s)
	defer x.keepCheckpoint(ctx, a, s)
	if limit := a.Limit; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, &execute.TimeoutError{Limit: limit})
		defer cancel()
	}
	end = a.Span("run")
	res, err := x.start(ctx, a, s, w)
	end()
	if rerr := s.removeSecrets(); err == nil && rerr != nil {
		err = &execute.Error{Op: "remove files with secrets", Err: rerr}
	}
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		if late := (*execute.TimeoutError)(nil); errors.As(err, &late) {
			return nil, &execute.TimeoutError{Limit: late.Limit, Result: res}
		}
		return nil, err
	}
	if err := x.giveBack(context.WithoutCancel(ctx), a.Action, s, res.ExitCode); err != nil {
		return nil, err
	}
	res.Root = s.root()
	end = a.Span("store outputs")
	leaveOut, err := leak(a, s, res.ExitCode)
	if err == nil && !leaveOut && !s.ended.Lost { // processes of a lost worker may still write to outputs
		res.Files, res.Dirs, err = merkle.Capture(context.WithoutCancel(ctx), x.o.Store, x.o.Fn, s.root(),
			a.Command.Outputs)
	}
	end()
	if refused := (*execute.Error)(nil); errors.As(err, &refused) {
		return nil, err
	}
	if !a.Succeeded(res.ExitCode) {
		err = nil // the exit code and the output say more, and the outputs of a failed command are not cached
	}
	if unfit := (*merkle.UnfitError)(nil); errors.As(err, &unfit) {
		return nil, &execute.Error{Op: "store the outputs", Refused: true, Err: err,
			Remedy: "write only files, folders and relative links inside the output; cp -L copies the target of a " +
				"link, and ln -sr creates a relative link"}
	}
	if err != nil {
		return nil, &execute.Error{Op: "store the outputs", Err: err}
	}
	if !a.Succeeded(res.ExitCode) || len(res.Files)+len(res.Dirs) < len(a.Command.Outputs) {
		res.Hints = x.hints(a.Action, s, res)
		if s.left() {
			res.Hints = append(res.Hints, "the next run resumes from the checkpoint "+s.checkpoint+"; to start from "+
				"the beginning, use --force")
		}
	}
	s.complete = a.Succeeded(res.ExitCode) && len(res.Files)+len(res.Dirs) >= len(a.Command.Outputs)
	return res, nil
}

// leave releases an exec root, while the next action begins if not too many are being released. A folder that is left
// takes space until its scratch folder goes.
func (x *Executor) leave(s *execRoot) {
	if !x.removals.TryGo(s.release) {
		_ = s.release()
	}
}

// prepare makes an exec root with the action's inputs, in which its command can start.
func (x *Executor) prepare(ctx context.Context, a *execute.Request) (_ *execRoot, err error) {
	in := execute.Inputs(x.o.Store, a.Action)
	if err := checkCheckpoint(ctx, a, in); err != nil {
		return nil, err
	}
	shared, err := x.toolchains(ctx, in, a.Root())
	if err != nil {
		return nil, &execute.Error{Op: "unpack a toolchain", Err: err}
	}
	restricted := x.o.Base != nil && a.Command.Platform[action.PropertyHost] == ""
	name := execPrefix + x.mark + "-" + strconv.FormatInt(x.roots.Add(1), 10)
	s, err := newExecRoot(filepath.Join(x.o.Dir, name), restricted)
	if err != nil {
		return nil, &execute.Error{Op: "create the exec root", Err: err}
	}
	defer func() {
		if err != nil {
			x.keepCheckpoint(ctx, a, s)
			_ = s.release()
		}
	}()
	l := &layout{x: x, a: a.Action, s: s, in: in, shared: shared}
	written, folder := a.Command.Outputs, a.Command.Platform[action.PropertyCheckpoint]
	if folder != "" {
		written = append(slices.Clone(written), folder+"/.")
	}
	if restricted {
		l.open = folders(written)
	}
	if err := l.dir(ctx, a.Root(), "", "root", 0); err != nil {
		return nil, &execute.Error{Op: "lay out the inputs", Err: err}
	}
	for _, o := range written {
		if err := l.output(o); err != nil {
			return nil, &execute.Error{Op: "create the folder of output " + o, Err: err}
		}
	}
	if folder != "" {
		if err := x.beginCheckpoint(ctx, a, s, folder); err != nil {
			return nil, &execute.Error{Op: "create the exec root", Err: err}
		}
	}
	if len(a.Secrets.Files()) > 0 {
		if err := errors.Join(x.secretFolder(s), s.putSecrets(a.Secrets)); err != nil {
			return nil, &execute.Error{Op: "write files with secrets", Err: err}
		}
	}
	if restricted {
		s.access = x.access(s, readable(a.Action, shared), l.open)
	}
	return s, nil
}

// folders returns the folders that the outputs are written to, without those inside others.
func folders(outputs []string) []string {
	var all []string
	for _, o := range outputs {
		all = append(all, filepath.ToSlash(filepath.Dir(filepath.FromSlash(o))))
	}
	slices.Sort(all)
	var out []string
	for _, dir := range all {
		inside := slices.ContainsFunc(out,
			func(o string) bool { return o == "." || dir == o || strings.HasPrefix(dir, o+"/") })
		if !inside {
			out = append(out, dir)
		}
	}
	return out
}

// readable returns the files that the action may read beside its exec root and the base system, sorted: its toolchains,
// and the host programs that it names.
func readable(a *action.Action, shared map[digest.Digest]string) []string {
	var paths []string
	for _, dir := range shared {
		paths = append(append(paths, dir), hostPaths(dir)...)
	}
	for name := range a.Command.Platform {
		if p, ok := strings.CutPrefix(name, action.PropertyProgram); ok {
			if p, err := execute.LookPath(p, a.Command.Env["PATH"]); err == nil {
				paths = append(paths, p)
			}
		}
	}
	if len(a.Command.Args) > 0 && filepath.IsAbs(a.Command.Args[0]) {
		paths = append(paths, a.Command.Args[0])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// maxHostFile is the largest part of a toolchain's action.HostFile that is read, in bytes.
const maxHostFile = 64 << 10

// hostPaths returns the host files that the toolchain unpacked at dir needs.
func hostPaths(dir string) []string {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(action.HostFile)))
	if err != nil {
		return nil // it is whole in itself, as nearly all are
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxHostFile))
	var paths []string
	for line := range strings.Lines(string(b)) {
		if p := strings.TrimSuffix(line, "\n"); filepath.IsAbs(p) && filepath.Clean(p) != "/" {
			paths = append(paths, p)
		}
	}
	return paths
}

func (x *Executor) start(ctx context.Context, a *execute.Request, s *execRoot, w *worker.Worker,
) (*action.Result, error) {
	argv, root := a.Command.Args, s.root()
	if len(argv) == 0 {
		return nil, &execute.Error{Op: "start a command", Err: errors.New("the action has no arguments")}
	}
	c := &worker.Command{Path: argv[0], Args: argv, Dir: root, Env: x.environ(a, s),
		DisableASLR: a.Command.Platform[action.PropertyAddresses] == action.AddressesFixed,
		Access:      s.access, Network: a.Command.Platform[action.PropertyNetwork] == "true", Mounts: s.mounts()}
	switch {
	case c.Path == action.ToolArg0 && a.Command.Platform[action.PropertyTool] != "":
		c.Path = x.o.Self
	case strings.Contains(c.Path, "/") && !filepath.IsAbs(c.Path):
		c.Path = filepath.Join(root, filepath.FromSlash(c.Path))
	case !strings.Contains(c.Path, "/"):
		found, err := x.lookPath(c.Path)
		if err != nil {
			return nil, &execute.Error{Op: "start " + c.Path, Err: err,
				Remedy: "install the program, or use the path of a program in a toolchain or an input"}
		}
		c.Path = found
	}
	in := os.DevNull
	if name := a.Command.Platform[action.PropertyStdin]; name != "" {
		in = s.host(filepath.Join(root, filepath.FromSlash(name)))
	}
	stdin, err := os.Open(in)
	if err != nil {
		return nil, &execute.Error{Op: "open standard input", Err: err}
	}
	defer stdin.Close()
	stdout, stderr := a.Streams()
	defer stdout.Close()
	defer stderr.Close()
	out := func(b []byte) { _, _ = stdout.Write(b) }
	var file *os.File
	var ferr error
	if path := a.Command.Platform[action.PropertyStdout]; path != "" {
		if file, err = create(filepath.Join(root, filepath.FromSlash(path))); err != nil {
			return nil, &execute.Error{Op: "create the file for standard output", Err: err}
		}
		defer file.Close()
		out = func(b []byte) {
			_, _ = stdout.Write(b)
			if _, err := file.Write(b); ferr == nil {
				ferr = err
			}
		}
	}
	progress := a.ProgressLines(stderr)
	start := time.Now()
	ended, err := w.Run(ctx, x.kill, c, stdin, out, func(b []byte) { _, _ = progress.Write(b) })
	switch {
	case err != nil:
		return nil, &execute.Error{Op: "run " + argv[0], Err: err}
	case ended.Restrict != "":
		return nil, &execute.Error{Op: "restrict the command",
			Err: errors.Join(s.checkHostRefs(), errors.New(ended.Restrict))}
	case ended.Start != "":
		return nil, &execute.Error{Op: "start " + argv[0], Err: errors.New(ended.Start), Remedy: s.remedy(argv[0])}
	case ended.Left != "":
		return nil, &execute.Error{Op: "end " + argv[0], Err: errors.New(ended.Left)}
	case ended.Lost:
		x.lost.Store(true)
	}
	s.ended = ended
	progress.Flush()
	if file != nil {
		if err := errors.Join(ferr, file.Close()); err != nil {
			return nil, &execute.Error{Op: "write standard output", Err: err}
		}
	}
	res := &action.Result{ExitCode: ended.Code, Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Worker: "local",
		Duration: time.Since(start), Memory: ended.Memory}
	if ended.RandomAddresses != "" {
		res.Varies = fmt.Sprintf("its memory addresses are random, although it needs fixed addresses (%s)",
			ended.RandomAddresses)
	}
	return res, nil
}

// environ returns the command's whole environment: the action's variables, PATH of the host unless the action sets it,
// the paths of exec root and hexmage, and a private HOME and TMPDIR.
func (x *Executor) environ(a *execute.Request, s *execRoot) []string {
	own := []string{"HEXMAGE_ROOT=" + s.root(), "HEXMAGE_SELF=" + x.o.Self, "HOME=" + s.tmp(), "TMPDIR=" + s.tmp()}
	env := make([]string, 0, len(own)+len(a.Command.Env)+len(x.o.Extra)+2)
	add := func(name, value string) {
		if _, ok := a.Command.Env[name]; !ok {
			env = append(env, name+"="+value)
		}
	}
	add("PATH", execute.HostPath)
	add("LANG", "C.UTF-8")
	if a.Command.Platform[action.PropertyHost] != "" || a.Command.Platform[action.PropertyNetwork] == "true" {
		for name, value := range x.o.Extra {
			add(name, value)
		}
	}
	if tool, _, ok := strings.Cut(a.Command.Platform[action.PropertyTool], "/"); ok && len(a.Command.Args) > 0 &&
		a.Command.Args[0] == action.ToolArg0 {
		for name, value := range x.o.Private[tool] {
			add(name, value)
		}
	}
	for name, value := range a.Command.Env {
		switch name {
		case "HEXMAGE_ROOT", "HEXMAGE_SELF", "HOME", "TMPDIR":
		default:
			env = append(env, name+"="+value)
		}
	}
	for name, value := range a.Secrets.Env() {
		env = append(env, name+"="+value)
	}
	for name := range a.Secrets.Files() {
		env = append(env, name+"="+s.secretFile(name))
	}
	env = append(env, own...)
	slices.Sort(env) // a command that prints it must print the same each time
	return env
}

// lookPath is execute.LookPath for a command, which asks the host once for each name.
func (x *Executor) lookPath(name string) (string, error) {
	if p, ok := x.programs.Load(name); ok {
		return p.(string), nil
	}
	p, err := execute.LookPath(name, "")
	if err == nil {
		x.programs.Store(name, p)
	}
	return p, err
}
