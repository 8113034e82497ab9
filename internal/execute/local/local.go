// Package local runs actions as processes on this machine.
//
// Every action gets a folder of its own, its exec root, with its declared inputs and nothing else, and an environment
// that holds what the action says and what is listed at environ. It knows processes, folders and the store; it does
// not know what commands mean.
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
	Dir   string        // folder for exec roots; on the store's file system, so that outputs enter it by renaming
	Store store.Blobs   // where inputs come from and outputs go
	Trees *merkle.Trees // where whole toolchains stand unpacked; nil: they are materialised like other inputs
	Fn    digest.Function
	Self  string // hexmage's own binary, for workers and for actions that run a built-in tool
	// variables of this machine, such as its proxies, for what may use the network or needs the machine; in no key
	Extra map[string]string
	// Private are variables that a built-in tool alone sees, by its name: secrets, and where the user keeps logins;
	// in no key.
	Private map[string]map[string]string
	// Checkpoints has what actions left that ended before their time; nil: nothing is kept of them.
	Checkpoints *checkpoint.Store
	// Tidy, if not nil, is called before an action looks there: it puts there what hexmages left that were killed
	// since this one began.
	Tidy func(context.Context)
	Keep bool // leave exec roots behind, for people to look at

	// Memory is a folder, made when needed, that other users cannot look into. If it is on a file system in memory,
	// files with secrets are in it while their command runs; else, or if it is "", they are in the exec root's
	// folder.
	Memory string

	// Hold, if not nil, returns a file that stays open as long as a process of a command may run, also when this
	// process is killed.
	Hold func() (*os.File, error)

	Base      *sandbox.Base // what restricted commands may see of the host; nil: commands are not restricted
	Workspace string        // where files are that a command that failed may have looked for; "": nowhere
}

// Executor is an execute.Executor.
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

// Kill ends all commands and what they started, at once, and also those that are just starting. It is for a process
// that is about to exit.
func (x *Executor) Kill() { x.killed.Do(func() { close(x.kill) }) }

// Close ends the workers. It is for when nothing is executed any more.
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

// Execute runs the action's command in an exec root of its own.
func (x *Executor) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	w, err := x.worker() // it begins while the inputs are laid out
	if err != nil {
		return nil, &execute.Error{Op: "begin to run commands", Err: err}
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
	if limit := a.TimeLimit(); limit > 0 {
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
	if err == nil && !leaveOut {
		res.Files, res.Dirs, err = merkle.Capture(context.WithoutCancel(ctx), x.o.Store, x.o.Fn, s.root(),
			a.Command.Outputs)
	}
	end()
	if refused := (*execute.Error)(nil); errors.As(err, &refused) {
		return nil, err
	}
	if unfit := (*merkle.UnfitError)(nil); errors.As(err, &unfit) && res.ExitCode != 0 {
		err = nil // what a command that failed leaves is of no use in any case
	} else if unfit != nil {
		return nil, &execute.Error{Op: "store the outputs", Refused: true, Err: err,
			Remedy: "let the command write files, folders and relative links that stay in the output: cp -L copies " +
				"what a link leads to, ln -sr makes it relative"}
	}
	if err != nil {
		return nil, &execute.Error{Op: "store the outputs", Err: err}
	}
	if res.ExitCode != 0 || len(res.Files)+len(res.Dirs) < len(a.Command.Outputs) {
		res.Hints = x.hints(a.Action, s, res)
		if s.left() {
			res.Hints = append(res.Hints, "what it left in "+s.checkpoint+" is kept, and the next run goes on from "+
				"there; with --fresh it begins anew")
		}
	}
	s.complete = a.Succeeded(res.ExitCode) && len(res.Files)+len(res.Dirs) >= len(a.Command.Outputs)
	return res, nil
}

// leave releases an exec root, while the next action begins if not too many are being released. A folder that is left
// takes space until its scratch folder goes.
func (x *Executor) leave(s *execRoot) {
	release := func() error { return s.release(x.o.Keep) }
	if x.o.Keep || !x.removals.TryGo(release) {
		_ = release()
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
		return nil, &execute.Error{Op: "make an exec root", Err: err}
	}
	defer func() {
		if err != nil {
			x.keepCheckpoint(ctx, a, s)
			_ = s.release(x.o.Keep)
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
			return nil, &execute.Error{Op: "make the folder of output " + o, Err: err}
		}
	}
	if folder != "" {
		if err := x.beginCheckpoint(ctx, a, s, folder); err != nil {
			return nil, &execute.Error{Op: "make an exec root", Err: err}
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

// readable returns what the action may read beside its exec root and the base system, in order: its toolchains, and
// the programs of the host that it names.
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

// maxHostFile bounds what is read of a toolchain's action.HostFile, in bytes.
const maxHostFile = 64 << 10

// hostPaths returns what the toolchain unpacked at dir needs of the host.
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
				Remedy: "install it, or name a program of a toolchain or an input by its path"}
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
		res.Varies = fmt.Sprintf("its addresses are random here, which it asks not to have (%s)", ended.RandomAddresses)
	}
	return res, nil
}

// environ is the command's whole environment: what the action says, the host's program path unless it says another,
// where things are, and a home and a temporary folder of its own.
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
