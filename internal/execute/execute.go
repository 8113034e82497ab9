// Package execute runs actions.
//
// An Executor is given an action whose input blobs are in the store or in the action itself, and returns what came of
// it, with the output blobs in the store. Cached and Route here, package verify and package trace decorate an Executor.
// Retries are the engine's, and time limits each executor's. The package does not know pipelines, steps or plans.
package execute

import (
	"bytes"
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

// Executor runs actions. Execute may be called from many goroutines at once. A call waits for another one only if both
// need the same exclusive resource or run the same action (see Locks). The Action stays as it is; the Result is the
// caller's.
//
// What is in Request.Secrets reaches the command and nobody else, in variables of its environment and in files that
// only its user can read, which go when it has ended. No executor puts it into a command line, a message that is kept
// or a log. It stands in no Result, no file of Printed and no progress, and an action that succeeds with a value in
// an output is refused; that of one that fails is left out. An executor that cannot do this refuses the action: it
// returns an *Error with Refused set.
//
// A decorator passes on the action, the context, its secrets and who listens, and returns results and errors as they
// come.
type Executor interface {
	// Execute returns an error, an *Error, only for what kept the action from running (no such program, no machine,
	// no space), and no Result beside it. A command that ran and failed is a Result with its exit code, one that ran
	// out of time a *TimeoutError. When ctx ends, the command ends with all that it started, and the error is the
	// context's cause. The outputs named in the command that exist are in the store and in the Result; one that is
	// missing is just not in the Result.
	Execute(ctx context.Context, a *Request) (*action.Result, error)
}

// TimeoutError says that an action ran longer than it may. Trying again may help.
type TimeoutError struct {
	Limit  time.Duration
	Result *action.Result // what it printed until then, without outputs; nil when that is not known
}

// Error returns the message.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the step's timeout of %v is over", e.Limit)
}

// Error says what kept an action from running.
type Error struct {
	Op        string // what was being done: "start clang-22", "upload a.bin"
	Retryable bool   // the same action may succeed when tried again
	// a check of what the step brought found it cannot work: the step failed, nothing is wrong with the engine
	Refused bool
	Remedy  string // what the user can do, if known
	Err     error
}

// Error returns the message without the remedy, which reports show on a line of its own.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Inputs are the blobs that the action's inputs are read from: those of its own Directories, and of the store.
func Inputs(blobs store.Blobs, a *action.Action) store.Blobs {
	if len(a.Directories) == 0 {
		return blobs
	}
	return store.Overlay(blobs, a.Directories)
}

// Route gives every action to the executor that its platform names (property "executor"; "local" when it names none).
// Without any it executes nothing.
func Route(by map[string]Executor) Executor { return route(by) }

type route map[string]Executor

func (r route) Execute(ctx context.Context, a *Request) (*action.Result, error) {
	name := a.Command.Platform[action.PropertyExecutor]
	if name == "" {
		name = action.ExecutorLocal
	}
	next, ok := r[name]
	if !ok {
		return nil, &Error{Op: "choose an executor",
			Err: fmt.Errorf("no executor named %q; there are: %q", name, slices.Sorted(maps.Keys(r)))}
	}
	return next.Execute(ctx, a)
}

// Request asks for an action's result. It has what is in no key: whose action it is, and who listens.
type Request struct {
	*action.Action
	Step, Name string // the step that it is of, and its name within that: for who chooses among steps
	Force      bool   // run the action although a result is remembered
	// do not continue from a checkpoint of an earlier run (action.PropertyCheckpoint)
	DropCheckpoint bool

	// Start is called when no remembered result serves. The action runs next, or waits for another hexmage that runs
	// it and takes its result. Start may complete the request that it is given, which is the one that runs. An error
	// ends the request and is returned as it is. nil: nothing is called.
	Start func(*Request) error

	Secrets *secret.Set // what its command gets beside what is in its key; nil: nothing
	// of InputRoot, where it is in memory, which saves reading it; nobody changes it. nil: it is in the store
	Tree     *merkle.Dir
	Progress Progress // nil: nobody asks
	Spans    Spans    // nil: nobody asks
	Printed  *Printed // nil: nobody asks
}

// Progress is told how far a running action is, from any goroutine: done and total in unit ("bytes"; total 0 when not
// known), and a few words.
type Progress func(done, total int64, text string)

// Spans is told what an executor spent its time with on one action. It may be called from several goroutines.
type Spans func(name string, start time.Time, took time.Duration)

// Begin calls Start.
func (a *Request) Begin() error {
	if a.Start == nil {
		return nil
	}
	return a.Start(a)
}

// Report tells the request's Progress, if there is one.
func (a *Request) Report(done, total int64, text string) {
	if a.Progress != nil {
		a.Progress(done, total, a.Secrets.Redact(text))
	}
}

// Span begins something that takes time: "lay out inputs", "run", "store outputs". What it returns is to be called
// at the end. Spans of an action are one after the other or one in the other. Where nobody listens it costs nothing.
func (a *Request) Span(name string) func() {
	if a.Spans == nil {
		return func() {}
	}
	start := time.Now()
	return func() { a.Spans(name, start, time.Since(start)) }
}

// Root is the folder of the action's inputs.
func (a *Request) Root() *merkle.Dir {
	if a.Tree != nil {
		return a.Tree
	}
	return merkle.Ref(a.InputRoot)
}

// Streams returns what the command's standard output and error are written to. Both have to be closed when it has
// ended. What an earlier command of this request printed is gone. They do not take in the request's secrets.
func (a *Request) Streams() (stdout, stderr *Capped) {
	stdout, stderr = &Capped{hide: a.Secrets.Hider()}, &Capped{hide: a.Secrets.Hider()}
	if p := a.Printed; p != nil {
		p.Remove()
		stdout.whole, stderr.whole = wholeStream{of: p, name: stdoutName}, wholeStream{of: p, name: stderrName}
	}
	return stdout, stderr
}

// HostPath is where programs without a slash in their name are looked for: the host's base system.
const HostPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// LookPath finds a program of the host as actions see it: in the folders of list, by default HostPath, and not in
// those of the user's own PATH. A name with a slash is a path already.
func LookPath(name, list string) (string, error) {
	if list == "" {
		list = HostPath
	}
	if strings.Contains(name, "/") {
		if isProgram(name) {
			return name, nil
		}
		return "", fmt.Errorf("there is no program %s", name)
	}
	for _, dir := range filepath.SplitList(list) {
		if p := filepath.Join(dir, name); isProgram(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("no program %s in %s", name, list)
}

func isProgram(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// Printed keeps the whole of what a command prints, up to 64 MB of each stream, where that is more than a Result
// holds: in files next to each other, which are there only then.
type Printed struct {
	path string // what the files' names start with

	mu    sync.Mutex
	files []string
	cut   bool
}

// NewPrinted returns a Printed whose files' names start with path.
func NewPrinted(path string) *Printed { return &Printed{path: path} }

const (
	stdoutName = ".stdout"
	stderrName = ".stderr"
)

func (p *Printed) add(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = append(p.files, path)
}

// Cut tells whether something that the command printed is in no file and no result: there was too much of it, or the
// disk is full.
func (p *Printed) Cut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

func (p *Printed) setCut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
}

// Remove removes the files, if there are any.
func (p *Printed) Remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
	for _, f := range p.files {
		_ = os.Remove(f)
	}
	p.files = nil
}

// CopyTo writes standard output and then standard error to w: each from its file, or else as the result has it.
func (p *Printed) CopyTo(w io.Writer, r *action.Result) error {
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
