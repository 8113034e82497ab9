package remote

import (
	"bytes"
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
	Inputs *store.HostFiles // where inputs come from
	Blobs  *Blobs           // of the same client: where outputs go
	Self   string           // hexmage's own program, for actions that run a built-in tool
	Next   execute.Executor // runs what cannot go; nil: nobody does, and it is refused
}

// Executor has the server run actions. What cannot go there is run by ExecutorOptions.Next, and so is, with
// FallbackLocal, what could not be run for reasons that are the server's. What comes of an action is in the store
// when it has ended, as with a local executor.
type Executor struct {
	c      *Client
	o      ExecutorOptions
	mu     sync.Mutex
	self   digest.Digest                   // of the program; zero: not read yet
	hosts  map[digest.Digest]bool          // whether a toolchain has programs that read files of this machine
	there  map[digest.Digest]bool          // blobs that the server has
	whole  map[digest.Digest]bool          // folders of inputs of which it has all
	sends  map[digest.Digest]chan struct{} // what is being sent, until it is closed
	ran    int                             // actions that ran there
	stayed map[string]int                  // those that ran here, by why
	failed int                             // that could not run there, since one did
	gone   error                           // why nothing is run there any more; nil: it is
	said   bool                            // it was said that one runs here that should not
}

// maxFailed is how many actions in a row may fail to run there until none is sent any more.
const maxFailed = 3

// NewExecutor returns an Executor of the client's server.
func NewExecutor(c *Client, o ExecutorOptions) *Executor {
	return &Executor{c: c, o: o, hosts: map[digest.Digest]bool{}, there: map[digest.Digest]bool{},
		whole: map[digest.Digest]bool{}, sends: map[digest.Digest]chan struct{}{}, stayed: map[string]int{}}
}

// Use has it go on with other stores, those of a build that begins again. Nothing may run meanwhile.
func (x *Executor) Use(o ExecutorOptions) {
	x.o = o
	x.forget()
}

// unrunError is why an action could not run there, where that is not the action's doing.
type unrunError struct{ error }

func (e *unrunError) Unwrap() error { return e.error }

// Execute implements execute.Executor.
func (x *Executor) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	why := Stays(a.Action, x.c.o.Platform)
	if a.Secrets != nil {
		why = getsSecrets
	}
	if why == "" {
		var err error
		if why, err = x.bound(ctx, a); err != nil {
			return nil, &execute.Error{Op: "look into the toolchains", Err: err}
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
			x.gone = fmt.Errorf("%d actions in a row could not run there: %w", maxFailed, err)
		}
		x.mu.Unlock()
	}
	if x.c.o.Fallback == FallbackFail {
		return nil, &execute.Error{Op: "run at remote " + x.c.o.Name, Err: gone,
			Remedy: `look after the server, go without it with --remote off, or let such actions run here: fallback = "local"`}
	}
	x.mu.Lock()
	first := !x.said
	x.said = true
	x.mu.Unlock()
	if first && !errors.Is(gone, ErrOut) { // of that the client has said it
		x.c.o.Say(fmt.Sprintf("an action could not run at remote %s and runs here, as others will that cannot: %v",
			x.c.o.Name, gone))
	}
	return x.here(ctx, a, "the remote could not run it", false)
}

// here has the action run on this machine.
func (x *Executor) here(ctx context.Context, a *execute.Request, why string, refused bool) (*action.Result, error) {
	if x.o.Next == nil {
		return nil, &execute.Error{Op: "run at remote " + x.c.o.Name, Refused: refused, Err: errors.New(why)}
	}
	x.mu.Lock()
	x.stayed[why]++
	x.mu.Unlock()
	return x.o.Next.Execute(ctx, a)
}

// Summary says how many actions ran there, and why others did not; "" where none was to run.
func (x *Executor) Summary() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var parts []string
	here := 0
	for _, why := range slices.SortedFunc(maps.Keys(x.stayed), func(a, b string) int {
		if n := x.stayed[b] - x.stayed[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	}) {
		parts = append(parts, fmt.Sprintf("%d: %s", x.stayed[why], why))
		here += x.stayed[why]
	}
	if x.ran+here == 0 {
		return ""
	}
	text := fmt.Sprintf("actions that ran at remote %s: %d; here: %d", x.c.o.Name, x.ran, here)
	if here > 0 {
		text += " (" + strings.Join(parts, "; ") + ")"
	}
	return text
}

// remotely runs the action there, again as often as it may where that may help.
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
		x.mu.Lock()
		x.gone = fmt.Errorf("%s runs no actions", x.c.o.Address)
		x.mu.Unlock()
		return nil, &unrunError{x.gone}
	}
	pause := 100 * time.Millisecond
	skip := a.Force || a.DoNotCache
	for try := 0; ; try++ {
		r, cached, err := x.attempt(ctx, a, t, from, skip)
		// others' failures are not believed
		if cached && !skip && ctx.Err() == nil && (err != nil || !a.Succeeded(r.ExitCode)) {
			skip = true
			continue
		}
		failed := err == nil && !a.Succeeded(r.ExitCode) || errors.As(err, new(*execute.Error))
		if failed && ctx.Err() == nil && x.lost(ctx, t, from) { // it may have failed for that
			r, err, skip = nil, status.Error(codes.FailedPrecondition, "it lost inputs of the action while that ran"),
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
		case errors.Is(err, ErrOut):
			return nil, &unrunError{err}
		case try >= x.c.o.Retries || !mayPass(err):
			return nil, &unrunError{fmt.Errorf("%v", reason(err, x.c.o))} // what is not there is not here either
		}
		// or it would be given the same result, of which it has not all
		skip = skip || errors.Is(err, store.ErrNotFound)
		x.forget()
		select {
		case <-time.After(pause/2 + rand.N(pause)): // so that not all come back at once
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		pause *= 3
	}
}

// lost tells whether the server lacks an input that it was sent. Workers may fetch inputs when a command opens them,
// which cannot then.
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

// mayPass tells whether running an action again may help. What a server lacks is sent again before.
func mayPass(err error) bool {
	s, ok := status.FromError(err)
	if !ok {
		return true // of the connection
	}
	switch s.Code() {
	case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented, codes.OutOfRange:
		return false
	}
	return true
}

// attempt sends what the server lacks, has it run the action, and fetches what came of it. cached says that it ran
// earlier.
func (x *Executor) attempt(ctx context.Context, a *execute.Request, t *translated, from store.Blobs,
	skip bool) (_ *action.Result, cached bool, err error) {
	end := a.Span("send inputs")
	err = x.send(ctx, t, from)
	end()
	if err != nil {
		return nil, false, err
	}
	limit := a.TimeLimit()
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
		return nil, false, &unrunError{fmt.Errorf("%s has a time limit of its own for what it runs: %.300s",
			x.c.o.Address, s.Message())}
	case s.Code() != codes.OK:
		return nil, false, s.Err()
	case got.GetResult() == nil:
		return nil, false, status.Error(codes.Internal, "there is no result in the answer")
	}
	end = a.Span("fetch outputs")
	r, err := x.result(ctx, a, got.GetResult())
	end()
	return r, got.GetCachedResult(), err
}

// execute has the server run what is asked for, and waits for it as long as the server is there. A stream that breaks
// is taken up again where the server knows how.
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
		// its time begins now: before, it may have waited for others
		case stage == repb.ExecutionStage_EXECUTING && !begun:
			begun = true
			a.Report(0, 0, "runs at remote "+c.o.Name)
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
		time.Sleep(50 * time.Millisecond) // for the connection
		if stream, err = client.WaitExecution(ctx, &repb.WaitExecutionRequest{Name: name}); err != nil {
			return nil, err
		}
	}
}

// graceTime is what a server has beyond an action's limit to say that it is over.
const graceTime = 2 * time.Second

// follow reads what the server says of an operation until it is done.
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

// watch ends the context when the server is not there any more: one that runs something long says nothing meanwhile.
func (c *Client) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	for {
		select {
		case <-time.After(c.o.Timeout):
		case <-ctx.Done():
			return
		}
		if err := c.call(ctx, "look whether it is there", func(ctx context.Context) error {
			_, err := repb.NewCapabilitiesClient(c.conn).GetCapabilities(ctx,
				&repb.GetCapabilitiesRequest{InstanceName: c.o.Instance})
			return err
		}); errors.Is(err, ErrOut) {
			cancel(err)
			return
		}
	}
}

// cancel has the server end an operation, if it can.
func (c *Client) cancel(name string) {
	if name == "" || c.Out() != nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	_, _ = longrunningpb.NewOperationsClient(c.conn).CancelOperation(ctx,
		&longrunningpb.CancelOperationRequest{Name: name})
}

// result is what came of an action, in the store, and with the paths and the spelling that local executors have.
func (x *Executor) result(ctx context.Context, a *execute.Request, m *repb.ActionResult) (*action.Result, error) {
	fn := a.InputRoot.Function()
	printedErr, err := x.printed(ctx, m.GetStderrRaw(), m.GetStderrDigest(), fn)
	if err != nil {
		return nil, err
	}
	printedErr, ended := cutEnd(printedErr)
	if ended == nil {
		return nil, status.Errorf(codes.Internal,
			"the shell that runs commands there did not come to its end (exit code %d): %.300s", m.GetExitCode(),
			printedErr)
	}
	switch ended.word {
	case noProgram:
		return nil, &execute.Error{Op: "start " + a.Command.Args[0],
			Err:    errors.New("there is no such program there"),
			Remedy: "name a program of a toolchain or an input by its path"}
	case badLink:
		return nil, unfitError(errors.New("a symlink leads out of the exec root"))
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
	case unfit != nil && r.ExitCode == 0:
		return nil, unfitError(unfit)
	case unfit != nil: // what a command that failed leaves is of no use in any case
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
		r.Duration = time.Millisecond // it took some
	}
	return r, nil
}

func unfitError(err error) *execute.Error {
	return &execute.Error{Op: "store the outputs", Refused: true, Err: err,
		Remedy: "let the command write files, folders and relative links that stay in the output: cp -L copies what " +
			"a link leads to, ln -sr makes it relative"}
}

// ending is what endLine says.
type ending struct {
	code int
	word string // noProgram, badLink or ""
	root string
}

// cutEnd takes endLine from what was printed; nil: it is not there.
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

// maxPrinted is how much a command may print there, in bytes; one that prints more runs here.
const maxPrinted = 64 << 20

func (x *Executor) printed(ctx context.Context, raw []byte, at *repb.Digest, fn digest.Function) ([]byte, error) {
	if len(raw) > 0 || at.GetSizeBytes() == 0 {
		return raw, nil
	}
	d, err := parse(at, fn)
	if err != nil {
		return nil, err
	}
	// it may be what a file of this machine says, which Blobs leave to that
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

// fetch has all outputs in the store, and folders in our own spelling of them. unfit is about what a command wrote.
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
					unfit = fmt.Errorf("output %s: %s: %w", d.Path, p, err)
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
			return nil, status.Errorf(codes.Internal, "output %s: the tree is of another folder", d.Path)
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
