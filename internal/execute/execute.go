// Package execute runs actions.
//
// An Executor runs an action whose input blobs are in the store or in the action. It stores the output blobs and
// returns the result. Cached, Route, package verify and package trace return Executors that wrap other Executors. The
// engine retries actions; Executors enforce time limits. The package does not know pipelines, steps or plans.
package execute

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/internal/store"
)

// Executor runs actions. Several goroutines may call Execute; a call waits for another call only if both calls need the
// same exclusive resource or run the same action (see Locks). Execute does not change the Action. The caller may change
// the Result.
//
// Only the command may see Request.Secrets, in environment variables and in files. Only the command's user can read
// these files, and the Executor deletes the files later. Command lines, messages, logs, Results, the files of
// Request.Printed and progress must not contain a secret. If the output of a successful action contains a secret,
// Execute returns an error. If the output of a failed action contains a secret, Execute omits the output. An Executor
// that cannot guarantee this must reject secrets with an *Error in which Refused is set.
//
// An Executor that wraps another Executor must pass on the action, the context, the secrets and the callbacks of the
// request. It must return results and errors unchanged.
type Executor interface {
	// Execute runs an action and returns a Result, which has the exit code even if the command failed. It returns an
	// *Error if the action could not run, for example because of a missing program, a missing machine or a full disk.
	// If the command times out, the error is a *TimeoutError. If ctx ends, Execute kills all processes of the command
	// and returns the cause of ctx. The Result lists only the outputs that exist; Execute does not fail because of a
	// missing output.
	Execute(ctx context.Context, a *Request) (*action.Result, error)
}

// TimeoutError reports an action that exceeded its time limit. hexmage may retry the action.
type TimeoutError struct {
	Limit  time.Duration
	Result *action.Result // nil, or the output until the timeout, without output files
}

// Error returns the message.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the step exceeded its timeout of %v", e.Limit)
}

// Error reports why an action could not run.
type Error struct {
	Op        string // the operation that failed: "start clang-22", "upload a.bin"
	Retryable bool   // a retry of the action may succeed
	// the action cannot work because of the step's inputs, so the step failed; the engine and the machine work
	Refused bool
	Remedy  string // next step for the user, or ""
	Err     error
}

// Error returns the message without the next step. Reports show the next step on a separate line.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Inputs returns a store with the inputs of an action. Directory messages come from the action, and all other content
// comes from blobs.
func Inputs(blobs store.Blobs, a *action.Action) store.Blobs {
	if len(a.Directories) == 0 {
		return blobs
	}
	return store.Overlay(blobs, a.Directories)
}

// Route returns an Executor that passes each action to an Executor from the given map. The key is the action's platform
// property "executor"; the default is "local". If the map lacks the key, Execute returns an *Error.
func Route(by map[string]Executor) Executor { return route(by) }

type route map[string]Executor

func (r route) Execute(ctx context.Context, a *Request) (*action.Result, error) {
	name := cmp.Or(a.Command.Platform[action.PropertyExecutor], action.ExecutorLocal)
	next, ok := r[name]
	if !ok {
		return nil, &Error{Op: "choose an executor",
			Err: fmt.Errorf("unknown executor %q. Available: %q", name, slices.Sorted(maps.Keys(r)))}
	}
	return next.Execute(ctx, a)
}

// Request asks an Executor for the result of an action. Only the field Action is part of the cache key.
type Request struct {
	*action.Action
	Step, Name string // the action's step, and its name in the step, for executors that select steps
	Force      bool   // run the action despite a cached result
	// ignore the checkpoint of an earlier run (action.PropertyCheckpoint)
	DropCheckpoint bool

	// Start, if not nil, is called on a cache miss, before the action runs or waits for another hexmage process that
	// runs it. Start may change the request that it gets, and the Executor then runs the changed request. If Start
	// fails, Execute returns the error.
	Start func(*Request) error

	Secrets *secret.Set // secrets for the command, not part of the key; nil: no secrets
	// the folder with the digest InputRoot, to avoid reading it from the store; do not change it. nil: read the store
	Tree     *merkle.Dir
	Progress Progress   // may be nil
	Spans    Spans      // may be nil
	Printed  *OutputLog // may be nil
}

// Progress receives the progress of a running action: the amount done, the total amount (0: unknown), and a short text.
// It must accept calls from any goroutine.
type Progress func(done, total int64, text string)

// Spans receives the name, start and duration of each phase of an action. It must accept concurrent calls.
type Spans func(name string, start time.Time, took time.Duration)

// Begin calls the field Start if it is not nil.
func (a *Request) Begin() error {
	if a.Start == nil {
		return nil
	}
	return a.Start(a)
}

// Report removes secrets from the text and passes it to Progress. If Progress is nil, Report does nothing.
func (a *Request) Report(done, total int64, text string) {
	if a.Progress != nil {
		a.Progress(done, total, a.Secrets.Redact(text))
	}
}

// Span begins a phase of an action, such as "lay out inputs", "run" or "store outputs". The caller must call the
// returned function at the end of the phase. Phases may be nested, but must not overlap otherwise. If Spans is nil,
// Span does nothing.
func (a *Request) Span(name string) func() {
	if a.Spans == nil {
		return func() {}
	}
	start := time.Now()
	return func() { a.Spans(name, start, time.Since(start)) }
}

// Root returns the folder that contains all inputs of the action.
func (a *Request) Root() *merkle.Dir {
	if a.Tree != nil {
		return a.Tree
	}
	return merkle.Ref(a.InputRoot)
}

// Streams returns buffers for the standard output and standard error of the command. The buffers remove secrets. The
// caller must close the two buffers after the command. If the request already ran a command, Streams discards the
// output of that command.
func (a *Request) Streams() (stdout, stderr *HeadTailBuffer) {
	stdout, stderr = &HeadTailBuffer{hide: a.Secrets.Hider()}, &HeadTailBuffer{hide: a.Secrets.Hider()}
	if p := a.Printed; p != nil {
		p.Remove()
		stdout.whole, stderr.whole = wholeStream{of: p, name: stdoutName}, wholeStream{of: p, name: stderrName}
	}
	return stdout, stderr
}

// HostPath is the PATH for programs of the host's base system, without folders of the user.
const HostPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LookPath returns the path of a host program, as actions find it. It searches the folders in the parameter list, or in
// HostPath if list is "", but never in the user's PATH. If name contains a slash, LookPath returns name unchanged.
func LookPath(name, list string) (string, error) {
	if list == "" {
		list = HostPath
	}
	if strings.Contains(name, "/") {
		if isProgram(name) {
			return name, nil
		}
		return "", fmt.Errorf("%s is missing or not executable", name)
	}
	for _, dir := range filepath.SplitList(list) {
		if p := filepath.Join(dir, name); isProgram(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("program %s not found in %s", name, list)
}

func isProgram(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// OutputLog saves the output of a command to files if the output is too long for a Result. Standard output and standard
// error have one file each, of at most 64 MB, in the same folder.
type OutputLog struct {
	path string // prefix of the files' names

	mu    sync.Mutex
	files []string
	cut   bool
}

// NewOutputLog returns an OutputLog whose file names start with path.
func NewOutputLog(path string) *OutputLog { return &OutputLog{path: path} }

const (
	stdoutName = ".stdout"
	stderrName = ".stderr"
)

func (p *OutputLog) add(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = append(p.files, path)
}

// Cut reports whether part of the output was lost, because the output was too long or the disk was full.
func (p *OutputLog) Cut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

func (p *OutputLog) setCut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
}

// Remove deletes the log's temporary files, if there are any.
func (p *OutputLog) Remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	for _, f := range p.files {
		_ = os.Remove(f)
	}
	p.files = nil
}

// CopyTo writes the standard output and then the standard error of the command to w. It reads a stream from the file,
// or from the result if the stream has no file.
func (p *OutputLog) CopyTo(w io.Writer, r *action.Result) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []struct {
		path string
		head []byte
	}{{p.path + stdoutName, r.Stdout}, {p.path + stderrName, r.Stderr}} {
		var from io.Reader = bytes.NewReader(s.head)
		if len(p.files) > 0 {
			f, err := os.Open(s.path)
			if err == nil {
				defer f.Close()
				from = f
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if _, err := io.Copy(w, from); err != nil {
			return err
		}
	}
	return nil
}
