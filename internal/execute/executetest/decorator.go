package executetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
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
	"github.com/hexmage/hexmage/internal/store/memory"
)

// World holds everything that an Executor needs to wrap another Executor in a test.
type World struct {
	Next    execute.Executor
	Results store.Results
	Blobs   *memory.Blobs
	Fn      digest.Function
}

// next is an executor that does what a test says.
type next struct {
	execute func(context.Context, *execute.Request) (*action.Result, error)
}

func (n *next) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	return n.execute(ctx, a)
}

// decorated is a decorator over a next, and a request for it.
type decorated struct {
	next    *next
	x       execute.Executor
	request *execute.Request
}

// Decorator tests an Executor that the function wrap returns. The Executor must pass requests to World.Next, and return
// the results and errors of World.Next. In the test no result is cached, and no other process runs the action.
func Decorator(t *testing.T, name string, wrap func(t *testing.T, w World) execute.Executor) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, decorated)
	}{
		{"request and result", passesResult},
		{"errors", passesErrors},
		{"end of the context", passesEnd},
		{"actions at once", passesAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, decorate(t, name, wrap)) })
	}
}

// Start tests an Executor that the function wrap returns. The Executor must pass Request.Start to World.Next. If Start
// fails, the Executor must return the error.
func Start(t *testing.T, name string, wrap func(t *testing.T, w World) execute.Executor) {
	d := decorate(t, name, wrap)
	for _, want := range []error{nil, errors.New("the caller rejects the action")} {
		var got, started *execute.Request
		d.request.Start = func(r *execute.Request) error {
			started = r
			return want
		}
		d.next.execute = func(_ context.Context, a *execute.Request) (*action.Result, error) {
			got = a
			if err := a.Begin(); err != nil {
				return nil, err
			}
			return result(), nil
		}
		if r, err := d.x.Execute(t.Context(), d.request); err != want || (r != nil) != (want == nil) || started != got {
			t.Errorf("got result %v and error %v, want error %v and a call of Start", r, err, want)
		}
	}
}

func decorate(t *testing.T, name string, wrap func(t *testing.T, w World) execute.Executor) decorated {
	t.Helper()
	blobs, fn := memory.NewBlobs(), digest.BLAKE3
	root, err := (&merkle.Dir{}).Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	token := map[string]secret.Text{"TOKEN": {{Ref: "var.token"}}}
	secrets, err := secret.NewSet(token, nil, secret.Values{"var.token": hidden})
	if err != nil {
		t.Fatal(err)
	}
	command := action.Command{Args: []string{"cc"}, Outputs: []string{"a.o"}}
	d := decorated{next: &next{}, request: &execute.Request{
		Step: "exec.a", Name: "cc", Force: true, Secrets: secrets,
		Action:  &action.Action{Command: command, InputRoot: root},
		Printed: execute.NewOutputLog(filepath.Join(t.TempDir(), "printed")), Tree: &merkle.Dir{},
	}}
	if err := blobs.Put(t.Context(), fn.Bytes([]byte("object")), strings.NewReader("object")); err != nil {
		t.Fatal(err)
	}
	d.x = wrap(t, World{d.next, memory.NewResults(), blobs, fn})
	is(t, name, d.x)
	return d
}

// same checks that the next executor gets the request.
func (d decorated) same(t *testing.T, got *execute.Request) {
	t.Helper()
	want := d.request
	if got.Action != want.Action || got.Step != want.Step || got.Name != want.Name || got.Secrets != want.Secrets ||
		got.Printed != want.Printed || got.Tree != want.Tree {
		t.Errorf("the next executor gets %+v, want %+v", got, want)
	}
}

// result returns a result that has all that an executor fills in.
func result() *action.Result {
	object := action.OutputFile{Path: "a.o", Digest: digest.BLAKE3.Bytes([]byte("object")), Executable: true}
	return &action.Result{
		Files: []action.OutputFile{object}, Stdout: []byte("out"), Stderr: []byte("err"),
		Worker: "there", Duration: time.Minute, Root: "/exec", Hints: []string{"look there"},
	}
}

// soon is how long a test waits for an event that needs no time.
const soon = 10 * time.Second

func passesResult(t *testing.T, d decorated) {
	var told []string
	d.request.Spans = func(name string, _ time.Time, _ time.Duration) { told = append(told, name) }
	d.request.Progress = func(_, _ int64, text string) { told = append(told, text) }
	for _, code := range []int{0, 3, -1} {
		want := result()
		want.ExitCode = code
		d.next.execute = func(_ context.Context, a *execute.Request) (*action.Result, error) {
			d.same(t, a)
			a.Report(1, 2, "half")
			a.Span("run")()
			r := result()
			r.ExitCode = code
			return r, nil
		}
		told = nil
		before := fmt.Sprintf("%+v", *d.request.Action)
		got, err := d.x.Execute(t.Context(), d.request)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got result %+v and error %v, want %+v", got, err, want)
		}
		if after := fmt.Sprintf("%+v", *d.request.Action); after != before {
			t.Errorf("the executor changed the action to %s, want %s", after, before)
		}
		if len(told) < 2 || told[0] != "half" || told[1] != "run" {
			t.Errorf("the caller's listeners got %q, want \"half\" and \"run\"", told)
		}
	}
}

func passesErrors(t *testing.T, d decorated) {
	for _, want := range []error{
		&execute.Error{Op: "find a worker", Retryable: true, Refused: true, Err: errors.New("all are gone")},
		&execute.TimeoutError{Limit: time.Minute, Result: result()},
		&execute.Error{Op: "read the inputs", Err: store.ErrNotFound},
		errors.New("the build is over"),
	} {
		d.next.execute = func(context.Context, *execute.Request) (*action.Result, error) { return nil, want }
		if r, err := d.x.Execute(t.Context(), d.request); err != want || r != nil {
			t.Errorf("got result %v and error %v, want no result and error %v", r, err, want)
		}
	}
}

// passesEnd ends the context while the next executor works.
func passesEnd(t *testing.T, d decorated) {
	over := errors.New("the build is over")
	ctx, stop := context.WithCancelCause(t.Context())
	d.next.execute = func(ctx context.Context, _ *execute.Request) (*action.Result, error) {
		stop(over)
		select {
		case <-ctx.Done():
		case <-time.After(soon):
			t.Error("the context of the next executor does not end")
		}
		return nil, context.Cause(ctx)
	}
	if r, err := d.x.Execute(ctx, d.request); !errors.Is(err, over) || r != nil {
		t.Errorf("got result %v and error %v, want no result and the cause of the context", r, err)
	}
}

// passesAtOnce runs several actions. Each waits until all have started.
func passesAtOnce(t *testing.T, d decorated) {
	const n = 4
	var wg sync.WaitGroup
	var started atomic.Int32
	all := make(chan bool)
	d.next.execute = func(context.Context, *execute.Request) (*action.Result, error) {
		if started.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
		case <-time.After(soon):
			t.Error("an action waits for the end of another action")
		}
		return result(), nil
	}
	for i := range n {
		wg.Go(func() {
			own := *d.request.Action
			own.Command.Env = map[string]string{"N": fmt.Sprint(i)}
			if r, err := d.x.Execute(t.Context(), &execute.Request{Action: &own}); err != nil || r.ExitCode != 0 {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	wg.Wait()
}
