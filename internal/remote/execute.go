package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// ExecutorOptions configure an Executor.
type ExecutorOptions struct {
	Inputs *store.HostFiles // source of inputs
	Blobs  *Blobs           // of the same client: destination of outputs
	Self   string           // hexmage's own program, for actions that run a built-in tool
	Next   execute.Executor // runs actions that cannot run on the server; nil: Execute returns an error
}

// Executor runs actions on the server. If an action must not run on the server, ExecutorOptions.Next runs it. With
// FallbackLocal, Next also runs actions that failed because of the server. Execute puts the outputs into the store, as
// a local executor does.
type Executor struct {
	c      *Client
	o      ExecutorOptions
	mu     sync.Mutex
	self   digest.Digest                   // of the program; zero: not read yet
	hosts  map[digest.Digest]bool          // whether a toolchain has programs that read files of this machine
	there  map[digest.Digest]bool          // blobs that the server has
	whole  map[digest.Digest]bool          // folders of inputs that the server has completely
	sends  map[digest.Digest]chan struct{} // uploads in progress; each channel is closed at its end
	ran    int                             // actions that ran remotely
	stayed map[string]int                  // actions that ran on this machine, by reason
	failed int                             // actions in a row that could not run remotely
	gone   error                           // why the executor stopped using the server; nil: it uses the server
	said   bool                            // the fallback was reported
}

// maxFailed is the number of actions in a row that may fail to run remotely before the executor stops using the server.
const maxFailed = 3

// NewExecutor returns an Executor for the server of the client c.
func NewExecutor(c *Client, o ExecutorOptions) *Executor {
	return &Executor{c: c, o: o, hosts: map[digest.Digest]bool{}, there: map[digest.Digest]bool{},
		whole: map[digest.Digest]bool{}, sends: map[digest.Digest]chan struct{}{}, stayed: map[string]int{}}
}

// Use replaces the stores when a build restarts. No action may run during the call.
func (x *Executor) Use(o ExecutorOptions) {
	x.o, x.self = o, digest.Digest{} // the new store does not have hexmage's own program yet
	x.forget()
}

// unrunError is the reason why the server could not run an action, if the action is not the cause.
type unrunError struct{ error }

func (e *unrunError) Unwrap() error { return e.error }

// Execute implements execute.Executor.
func (x *Executor) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	why := LocalOnlyReason(a.Action, x.c.o.Platform)
	if a.Secrets != nil {
		why = getsSecrets
	}
	if why == "" {
		var err error
		if why, err = x.bound(ctx, a); err != nil {
			return nil, &execute.Error{Op: "read the toolchains", Err: err}
		}
	}
	if why != "" {
		return x.here(ctx, a, why, true)
	}
	x.mu.Lock()
	gone := x.gone
	x.mu.Unlock()
	if gone == nil {
		gone = x.c.Out()
	}
	if gone == nil {
		r, err := x.remotely(ctx, a)
		if unrun := (*unrunError)(nil); !errors.As(err, &unrun) {
			if err == nil {
				x.mu.Lock()
				x.ran++
				x.failed = 0
				x.mu.Unlock()
			}
			return r, err
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		gone = err
		x.mu.Lock()
		if x.failed++; x.failed >= maxFailed && x.gone == nil {
			x.gone = fmt.Errorf("%d consecutive actions could not run remotely: %w", maxFailed, err)
		}
		x.mu.Unlock()
	}
	if x.c.o.Fallback == FallbackFail {
		return nil, &execute.Error{Op: "run the action on remote " + x.c.o.Name, Err: gone,
			Remedy: "check the server, or run with --remote off. To run such actions on this machine, set fallback " +
				"= \"local\""}
	}
	x.mu.Lock()
	first := !x.said
	x.said = true
	x.mu.Unlock()
	if first && !errors.Is(gone, ErrDisabled) { // the client has reported ErrDisabled
		x.c.o.Say(fmt.Sprintf("remote %s could not run an action, so such actions run on this machine: %v",
			x.c.o.Name, gone))
	}
	return x.here(ctx, a, "the remote could not run the action", false)
}

// here runs the action on this machine.
func (x *Executor) here(ctx context.Context, a *execute.Request, why string, refused bool) (*action.Result, error) {
	if x.o.Next == nil {
		return nil, &execute.Error{Op: "run the action on remote " + x.c.o.Name, Refused: refused,
			Err: errors.New(why)}
	}
	x.mu.Lock()
	x.stayed[why]++
	x.mu.Unlock()
	return x.o.Next.Execute(ctx, a)
}

// Summary reports how many actions ran remotely, and why the other actions did not. If no action ran, Summary returns
// "".
func (x *Executor) Summary() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var parts []string
	here := 0
	for _, why := range slices.SortedFunc(maps.Keys(x.stayed), func(a, b string) int {
		return cmp.Or(x.stayed[b]-x.stayed[a], strings.Compare(a, b))
	}) {
		parts = append(parts, fmt.Sprintf("%d: %s", x.stayed[why], why))
		here += x.stayed[why]
	}
	if x.ran+here == 0 {
		return ""
	}
	text := fmt.Sprintf("actions on remote %s: %d; on this machine: %d", x.c.o.Name, x.ran, here)
	if here > 0 {
		text += " (" + strings.Join(parts, "; ") + ")"
	}
	return text
}

// remotely runs the action on the server, with Retries if a retry may help.
func (x *Executor) remotely(ctx context.Context, a *execute.Request) (*action.Result, error) {
	var self digest.Digest
	from := execute.Inputs(x.o.Inputs, a.Action)
	if usesSelf(a.Action) {
		var err error
		if self, err = x.program(a.InputRoot.Function()); err != nil {
			return nil, &execute.Error{Op: "read hexmage's own program", Err: err}
		}
	}
	if len(a.Command.Args) == 0 {
		return nil, &execute.Error{Op: "start a command", Err: errors.New("the action has no arguments")}
	}
	t, err := x.translate(a.Action, self)
	if err != nil {
		return nil, &execute.Error{Op: "translate the action", Err: err}
	}
	from = store.Overlay(from, t.messages)
	is, err := x.c.able(ctx)
	if err != nil {
		return nil, &unrunError{err}
	}
	if !is.Executes {
		gone := fmt.Errorf("server %s does not run actions", x.c.o.Address)
		x.mu.Lock()
		x.gone = gone
		x.mu.Unlock()
		return nil, &unrunError{gone}
	}
	pause := 100 * time.Millisecond
	skip := a.Force || a.DoNotCache
	for try := 0; ; try++ {
		r, cached, err := x.attempt(ctx, a, t, from, skip)
		// do not trust a cached failure
		if cached && !skip && ctx.Err() == nil && (err != nil || !a.Succeeded(r.ExitCode)) {
			skip = true
			continue
		}
		failed := err == nil && !a.Succeeded(r.ExitCode) || errors.As(err, new(*execute.Error))
		if failed && ctx.Err() == nil && x.lost(ctx, t, from) { // a lost input may have caused the failure
			r, err, skip = nil, status.Error(codes.FailedPrecondition,
				"the server lost inputs of the action during the run"),
				true
		}
		var own *ownError
		switch {
		case err == nil:
			return r, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &own):
			return nil, &execute.Error{Op: "send the inputs", Err: own.error}
		case errors.As(err, new(*execute.Error)), errors.As(err, new(*execute.TimeoutError)):
			return nil, err
		case errors.As(err, new(*unrunError)):
			return nil, err
		case errors.Is(err, ErrDisabled):
			return nil, &unrunError{err}
		case try >= x.c.o.Retries || !mayPass(err):
			// Not %w: ErrNotFound would be of the local store.
			return nil, &unrunError{fmt.Errorf("%v", reason(err, x.c.o))}
		}
		// else the server returns the same incomplete result
		skip = skip || errors.Is(err, store.ErrNotFound)
		x.forget()
		select {
		case <-time.After(pause/2 + rand.N(pause)): // jitter, so that clients do not retry at the same time
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		pause *= 3
	}
}

// lost reports whether the server lacks an input that it received. Workers may fetch inputs when a command opens them,
// and then the open fails.
func (x *Executor) lost(ctx context.Context, t *translated, from store.Blobs) bool {
	x.forget()
	want := wanted{}
	if err := x.collect(ctx, from, t.inputs, want, 0); err != nil {
		return false
	}
	lacks, err := x.c.missing(ctx, slices.Collect(maps.Keys(want)))
	return err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(lacks)),
		func(d digest.Digest) bool { return d.Size() > 0 })
}

// mayPass reports whether a retry of the action may help. Before it, attempt sends blobs that the server lacks.
func mayPass(err error) bool {
	s, ok := status.FromError(err)
	if !ok {
		return true // an error of the connection
	}
	switch s.Code() {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented, codes.OutOfRange:
		return false
	}
	return true
}

// attempt sends missing inputs, runs the action on the server and downloads the outputs. cached reports a cached
// result.
func (x *Executor) attempt(ctx context.Context, a *execute.Request, t *translated, from store.Blobs,
	skip bool) (_ *action.Result, cached bool, err error) {
	end := a.Span("send inputs")
	err = x.send(ctx, t, from)
	end()
	if err != nil {
		return nil, false, err
	}
	limit := a.Limit
	end = a.Span("run")
	got, err := x.c.execute(ctx, a, &repb.ExecuteRequest{
		InstanceName: x.c.o.Instance, ActionDigest: message(t.key), DigestFunction: function(t.key.Function()),
		SkipCacheLookup: skip, InlineStdout: true, InlineStderr: true,
	}, limit)
	end()
	if err != nil {
		return nil, false, err
	}
	switch s := status.FromProto(got.GetStatus()); {
	case s.Code() == codes.DeadlineExceeded && limit > 0:
		return nil, false, &execute.TimeoutError{Limit: limit}
	case s.Code() == codes.DeadlineExceeded:
		return nil, false, &unrunError{fmt.Errorf("server %s stopped the action because it exceeded the server's "+
			"time limit: %.300s", x.c.o.Address, s.Message())}
	case s.Code() != codes.OK:
		return nil, false, s.Err()
	case got.GetResult() == nil:
		return nil, false, status.Error(codes.Internal, "the response has no result")
	}
	end = a.Span("fetch outputs")
	r, err := x.result(ctx, a, got.GetResult())
	end()
	return r, got.GetCachedResult(), err
}

// execute runs the action on the server, and waits as long as the server responds. It resumes a broken stream if the
// server can.
func (c *Client) execute(ctx context.Context, a *execute.Request, asked *repb.ExecuteRequest,
	limit time.Duration) (*repb.ExecuteResponse, error) {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go c.watch(ctx, cancel)
	client := repb.NewExecutionClient(c.conn)
	name, begun := "", false
	entered := func(stage repb.ExecutionStage_Value) {
		switch {
		case stage == repb.ExecutionStage_QUEUED && !begun:
			a.Report(0, 0, "waits for a worker of remote "+c.o.Name)
		// the time limit starts at execution, not in the queue
		case stage == repb.ExecutionStage_EXECUTING && !begun:
			begun = true
			a.Report(0, 0, "runs on remote "+c.o.Name)
			if limit <= 0 {
				return
			}
			late := time.AfterFunc(limit+graceTime, func() { cancel(&execute.TimeoutError{Limit: limit}) })
			context.AfterFunc(ctx, func() { late.Stop() })
		}
	}
	stream, err := client.Execute(ctx, asked)
	for broken := 0; ; broken++ {
		var done *repb.ExecuteResponse
		if err == nil {
			done, err = c.follow(stream, &name, entered)
		}
		if err == nil {
			return done, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			c.cancel(name)
			if outer.Err() != nil {
				return nil, context.Cause(outer)
			}
			return nil, cause
		}
		if status.Code(err) != codes.Unavailable && !errors.Is(err, io.EOF) || name == "" || broken >= c.o.Retries {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond) // before it connects again
		if stream, err = client.WaitExecution(ctx, &repb.WaitExecutionRequest{Name: name}); err != nil {
			return nil, err
		}
	}
}

// graceTime is the extra time in which the server may report that an action exceeded its limit.
const graceTime = 2 * time.Second

// follow reads an operation's stream until the operation is done.
func (c *Client) follow(stream grpc.ServerStreamingClient[longrunningpb.Operation], name *string,
	entered func(repb.ExecutionStage_Value)) (*repb.ExecuteResponse, error) {
	for {
		op, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		*name = op.GetName()
		if op.GetDone() {
			if err := status.ErrorProto(op.GetError()); err != nil {
				return nil, err
			}
			got := new(repb.ExecuteResponse)
			return got, op.GetResponse().UnmarshalTo(got)
		}
		meta := new(repb.ExecuteOperationMetadata)
		if op.GetMetadata().UnmarshalTo(meta) == nil {
			entered(meta.GetStage())
		}
	}
}

// watch cancels the context if the server is unreachable. A server sends nothing during a long action.
func (c *Client) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	for {
		select {
		case <-time.After(c.o.IdleTimeout):
		case <-ctx.Done():
			return
		}
		if err := c.call(ctx, "check the connection", func(ctx context.Context) error {
			_, err := repb.NewCapabilitiesClient(c.conn).GetCapabilities(ctx,
				&repb.GetCapabilitiesRequest{InstanceName: c.o.Instance})
			return err
		}); errors.Is(err, ErrDisabled) {
			cancel(err)
			return
		}
	}
}

// cancel asks the server to end an operation.
func (c *Client) cancel(name string) {
	if name == "" || c.Out() != nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	_, _ = longrunningpb.NewOperationsClient(c.conn).CancelOperation(ctx,
		&longrunningpb.CancelOperationRequest{Name: name})
}

// result returns the result of an action after storing its outputs, with paths and folder messages as local executors
// write them.
func (x *Executor) result(ctx context.Context, a *execute.Request, m *repb.ActionResult) (*action.Result, error) {
	fn := a.InputRoot.Function()
	printedErr, err := x.printed(ctx, m.GetStderrRaw(), m.GetStderrDigest(), fn)
	if err != nil {
		return nil, err
	}
	printedErr, ended := cutEnd(printedErr)
	if ended == nil {
		return nil, status.Errorf(codes.Internal,
			"the shell on the server did not finish (exit code %d): %.300s", m.GetExitCode(),
			printedErr)
	}
	switch ended.word {
	case noProgram:
		return nil, &execute.Error{Op: "start " + a.Command.Args[0],
			Err:    errors.New("the server lacks this program"),
			Remedy: "use the path of a program in a toolchain or an input"}
	case badLink:
		return nil, unfitError(errors.New("a symlink leaves the exec root"))
	}
	stdout, stderr := a.Streams()
	defer stdout.Close()
	defer stderr.Close()
	progress := a.ProgressLines(stderr)
	_, _ = progress.Write(printedErr)
	progress.Flush()
	printedOut, err := x.printed(ctx, m.GetStdoutRaw(), m.GetStdoutDigest(), fn)
	if err != nil {
		return nil, err
	}
	_, _ = stdout.Write(printedOut)
	m.StdoutRaw, m.StdoutDigest, m.StderrRaw, m.StderrDigest = nil, nil, nil, nil
	r, err := decode(ctx, x.o.Blobs, m, fn)
	if err != nil {
		return nil, err
	}
	r.ExitCode, r.Root = ended.code, ended.root
	unfit, err := x.fetch(ctx, r, fn)
	switch {
	case err != nil:
		return nil, err
	case unfit != nil && a.Succeeded(r.ExitCode):
		return nil, unfitError(unfit)
	case unfit != nil: // outputs of a failed command are unused in any case
		r.Files, r.Dirs = nil, nil
	}
	if p := a.Command.Platform[action.PropertyStdout]; p != "" {
		for _, f := range r.Files {
			if f.Path == p {
				if err := x.copyTo(ctx, stdout, f.Digest); err != nil {
					return nil, err
				}
			}
		}
	}
	order := func(p string) int { return slices.Index(a.Command.Outputs, p) }
	r.Files = slices.DeleteFunc(r.Files, func(f action.OutputFile) bool { return order(f.Path) < 0 })
	r.Dirs = slices.DeleteFunc(r.Dirs, func(d action.OutputDir) bool { return order(d.Path) < 0 })
	slices.SortFunc(r.Files, func(f, g action.OutputFile) int { return order(f.Path) - order(g.Path) })
	slices.SortFunc(r.Dirs, func(f, g action.OutputDir) int { return order(f.Path) - order(g.Path) })
	r.Stdout, r.Stderr = stdout.Bytes(), stderr.Bytes()
	r.Worker = strings.TrimSpace(x.c.o.Name + " " + r.Worker)
	if r.Duration == 0 {
		r.Duration = time.Millisecond // never zero
	}
	return r, nil
}

func unfitError(err error) *execute.Error {
	return &execute.Error{Op: "store the outputs", Refused: true, Err: err,
		Remedy: "write only files, folders and relative links inside the output; cp -L copies the target of a link, " +
			"and ln -sr creates a relative link"}
}

// ending holds the fields of endLine.
type ending struct {
	code int
	word string // noProgram, badLink or ""
	root string
}

// cutEnd removes endLine from the output. It returns nil if the line is missing.
func cutEnd(b []byte) ([]byte, *ending) {
	i := bytes.LastIndex(b, []byte("\n"+endLine))
	if i < 0 {
		return b, nil
	}
	word, root, ok := strings.Cut(strings.TrimSuffix(string(b[i+1+len(endLine):]), "\n"), " in ")
	switch {
	case !ok || strings.Contains(root, "\n"):
		return b, nil
	case word == noProgram, word == badLink:
		return b[:i], &ending{word: word, root: root}
	}
	code, err := strconv.Atoi(word)
	if err != nil {
		return b, nil
	}
	return b[:i], &ending{code: code, root: root}
}

// maxPrinted is the largest output of a command in bytes. A command that prints more runs on this machine.
const maxPrinted = 64 << 20

func (x *Executor) printed(ctx context.Context, raw []byte, at *repb.Digest, fn digest.Function) ([]byte, error) {
	if len(raw) > 0 || at.GetSizeBytes() == 0 {
		return raw, nil
	}
	d, err := parse(at, fn)
	if err != nil {
		return nil, err
	}
	// the output may equal a file of this machine, which Blobs do not download
	return store.ReadBlob(ctx, x.o.Inputs, d, maxPrinted)
}

func (x *Executor) copyTo(ctx context.Context, w io.Writer, d digest.Digest) error {
	r, err := x.o.Inputs.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return err
}

// fetch stores all outputs, and rewrites folder messages in hexmage's encoding. unfit is an error in the command's
// outputs.
func (x *Executor) fetch(ctx context.Context, r *action.Result, fn digest.Function) (unfit, err error) {
	want := map[digest.Digest]bool{}
	for _, f := range r.Files {
		want[f.Digest] = true
	}
	for i, d := range r.Dirs {
		dir, err := merkle.LoadOutput(ctx, x.o.Blobs, d)
		if err != nil {
			return nil, err
		}
		if err := dir.Walk(func(p string, e merkle.Entry) error {
			if e.File != nil {
				want[e.File.Digest] = true
			} else if e.Dir == nil && unfit == nil {
				if err := merkle.CheckSymlink(strings.TrimPrefix(path.Dir(p), "."), e.Symlink); err != nil {
					unfit = fmt.Errorf("output %s: symlink %s: %w", d.Path, p, err)
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
		root, err := dir.Put(ctx, x.o.Blobs, fn)
		if err != nil {
			return nil, err
		}
		if root != d.Root {
			return nil, status.Errorf(codes.Internal, "output %s: the tree does not match the digest of the folder",
				d.Path)
		}
		tree, err := dir.EncodeTree(fn)
		if err != nil {
			return nil, err
		}
		r.Dirs[i].Tree = fn.Bytes(tree)
		if err := x.o.Blobs.Put(ctx, r.Dirs[i].Tree, bytes.NewReader(tree)); err != nil {
			return nil, err
		}
	}
	return unfit, x.o.Blobs.take(ctx, slices.Collect(maps.Keys(want)))
}
