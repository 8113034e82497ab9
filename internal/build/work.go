package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/tree"
)

// worker does what a unit needs: it makes the action, looks for its result, has it executed.
type worker struct {
	*assembler
	o Options
}

// do is called by many goroutines at once, each with a unit of its own.
func (w *worker) do(ctx context.Context, u *unit, say func(message)) outcome {
	if u.spec == nil {
		return w.expand(ctx, u)
	}
	root, literals, err := w.root(ctx, u.node, u.spec.Inputs)
	if err != nil {
		return w.broken(u, err)
	}
	a := u.action()
	digest, dirs := root.Encode(w.fn)
	a.InputRoot = digest
	key := a.Key(w.fn)
	start := time.Now()
	if !w.o.Fresh {
		res, ok, err := w.o.Executor.Lookup(ctx, a)
		if err != nil {
			return w.broken(u, err)
		}
		if ok {
			return w.finish(u, a, res, outcome{kind: event.Cached, key: key.Hex(), took: time.Since(start)})
		}
	}
	if err := errors.Join(w.keep(ctx, literals), w.keep(ctx, dirs)); err != nil {
		return w.broken(u, err)
	}
	say(message{u: u, started: true})
	ctx = execute.WithProgress(ctx, func(done, total int64, text string) {
		say(message{u: u, progress: event.NodeProgress{ID: u.id, Done: done, Total: total, Unit: "bytes", Text: text}})
	})
	start = time.Now()
	res, err := w.run(ctx, u, a)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return w.broken(u, err)
	}
	return w.finish(u, a, res, outcome{kind: event.Executed, key: key.Hex(), took: time.Since(start), worker: res.Worker})
}

// run executes the action, again as often as the step allows when it could not run for a reason that may pass.
func (w *worker) run(ctx context.Context, u *unit, a *action.Action) (*action.Result, error) {
	for try := 0; ; try++ {
		res, err := w.o.Executor.Execute(ctx, a)
		var e *execute.Error
		if err == nil || try >= u.node.plan.Retries || !errors.As(err, &e) || !e.Retryable || ctx.Err() != nil {
			return res, err
		}
	}
}

// action is the unit's action, but for the digest of its inputs.
func (u *unit) action() *action.Action {
	s := u.spec
	a := &action.Action{
		Command:    action.Command{Args: s.Args, Env: s.Env, Platform: map[string]string{}},
		Timeout:    s.Timeout,
		DoNotCache: s.NoCache,
	}
	for k, v := range s.Platform {
		if k != action.PropertyPool { // how many run at once changes no result
			a.Command.Platform[k] = v
		}
	}
	if s.Stdin != "" {
		a.Command.Platform[action.PropertyStdin] = s.Stdin
	}
	for _, o := range s.Outputs {
		a.Command.Outputs = append(a.Command.Outputs, o.Path)
	}
	return a
}

// finish checks a result and takes its outputs.
func (w *worker) finish(u *unit, a *action.Action, res *action.Result, o outcome) outcome {
	if res.ExitCode != 0 && !slices.Contains(u.spec.OKExitCodes, res.ExitCode) {
		o.kind = event.Failed
		o.failure = w.failure(u, fmt.Sprintf("exit code %d", res.ExitCode), res)
		return o
	}
	o.out = outputs{}
	for _, f := range res.Files {
		o.out[f.Path] = tree.Entry{File: &tree.File{Digest: f.Digest, Executable: f.Executable}}
	}
	for _, d := range res.Dirs {
		o.out[d.Path] = tree.Entry{Dir: tree.Ref(d.Root)}
	}
	for _, want := range u.spec.Outputs {
		e, ok := o.out[want.Path]
		problem := ""
		switch {
		case !ok:
			problem = fmt.Sprintf("the command ended with exit code %d but did not write its output %s", res.ExitCode, want.Path)
		case want.Tree != (e.Dir != nil):
			problem = fmt.Sprintf("output %s should be a %s, but the command wrote a %s", want.Path, kindOf(want.Tree), kindOf(!want.Tree))
		}
		if problem != "" {
			o.kind = event.Failed
			o.failure = w.failure(u, problem, res)
			o.failure.Hints = append(o.failure.Hints, "correct the path in the step's `output` block, or make the command write it; paths are relative to the folder the command starts in")
			return o
		}
	}
	if o.kind == event.Executed {
		o.warning = warnings(res.Stderr)
	}
	return o
}

func kindOf(isTree bool) string {
	if isTree {
		return "folder"
	}
	return "file"
}

// warnings are the lines with which a command that succeeded warns: those that begin with "warning: ".
func warnings(stderr []byte) string {
	var found []string
	for _, line := range strings.Split(string(stderr), "\n") {
		if text, ok := strings.CutPrefix(line, "warning: "); ok && len(found) < 10 {
			found = append(found, text)
		}
	}
	return strings.Join(found, "\n")
}

// broken is the outcome of a unit that could not run.
func (w *worker) broken(u *unit, err error) outcome {
	f := w.failure(u, err.Error(), nil)
	f.Engine = true
	var e *execute.Error
	if errors.As(err, &e) && e.Remedy != "" {
		f.Hints = append(f.Hints, e.Remedy)
	}
	return outcome{kind: event.Failed, failure: f, err: err}
}

// failure describes what went wrong. The whole kept output goes to a log file, its end into the report.
func (w *worker) failure(u *unit, summary string, res *action.Result) *event.Failure {
	n := u.node.plan
	f := &event.Failure{Summary: summary, Where: n.Where, Source: n.Source}
	if u.spec != nil {
		f.Command = u.spec.Args
	}
	if res == nil {
		return f
	}
	f.ExitCode = res.ExitCode
	all := bytes.Join([][]byte{res.Stdout, res.Stderr}, nil)
	f.Output = tail(all, 40)
	if n.Explain != nil {
		f.Hints = n.Explain(u.spec.Name, all)
	}
	if w.o.LogDir != "" && len(all) > 0 {
		name := strings.Map(func(r rune) rune {
			if r == '/' || r == '"' || r == '[' || r == ']' {
				return '-'
			}
			return r
		}, n.At.Short()+"-"+u.spec.Name) + ".log"
		path := filepath.Join(w.o.LogDir, name)
		if os.MkdirAll(w.o.LogDir, 0o755) == nil && os.WriteFile(path, all, 0o644) == nil {
			f.Log = path
		}
	}
	return f
}

func tail(b []byte, lines int) string {
	s := strings.TrimRight(string(b), "\n")
	parts := strings.Split(s, "\n")
	if len(parts) <= lines {
		return s
	}
	return fmt.Sprintf("… %d lines before …\n", len(parts)-lines) + strings.Join(parts[len(parts)-lines:], "\n")
}

// expand makes a node's specs from the trees and values it waited for.
func (w *worker) expand(ctx context.Context, u *unit) outcome {
	n := u.node.plan
	if n.Resolve != nil {
		values := map[addrs.Output][]byte{}
		for _, v := range n.AwaitValues {
			b, err := w.value(ctx, v)
			if err != nil {
				return w.broken(u, err)
			}
			values[v] = b
		}
		node, err := n.Resolve(values)
		if err != nil {
			return outcome{kind: event.Failed, failure: w.failure(u, err.Error(), nil)}
		}
		return outcome{node: node}
	}
	listing := map[string][]string{}
	for _, in := range n.Await {
		e, err := w.entry(ctx, u.node, in, nil)
		if err == nil && e.Dir == nil {
			err = fmt.Errorf("%s is no folder", in.Path)
		}
		if err != nil {
			return w.broken(u, err)
		}
		if listing[in.Path], err = w.list(ctx, e.Dir); err != nil {
			return w.broken(u, err)
		}
	}
	specs, outs, err := n.Expand(listing)
	if err != nil {
		return outcome{kind: event.Failed, failure: w.failure(u, err.Error(), nil)}
	}
	return outcome{specs: specs, outs: outs}
}

// list returns the slash paths of all files in the folder, sorted.
func (w *worker) list(ctx context.Context, d *tree.Dir) ([]string, error) {
	root := &tree.Dir{}
	if err := root.Merge(ctx, w.store, "", d); err != nil {
		return nil, err
	}
	digest, blobs := root.Encode(w.fn)
	if err := w.keep(ctx, blobs); err != nil {
		return nil, err
	}
	whole, err := tree.Load(ctx, w.store, digest)
	if err != nil {
		return nil, err
	}
	var files []string
	err = whole.Walk(func(p string, e tree.Entry) error {
		if e.File != nil {
			files = append(files, p)
		}
		return nil
	})
	sort.Strings(files)
	return files, err
}

// maxValue is how long a value output may be, in bytes.
const maxValue = 1 << 20

// value reads the content of a value output.
func (w *worker) value(ctx context.Context, o addrs.Output) ([]byte, error) {
	e, err := w.artifact(ctx, o)
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, fmt.Errorf("%s is no file", o)
	}
	if n := e.File.Digest.Size(); n > maxValue {
		return nil, fmt.Errorf("%s has %d bytes; a value may have %d", o, n, maxValue)
	}
	rc, err := w.store.Open(ctx, e.File.Digest)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return io.ReadAll(rc)
}
