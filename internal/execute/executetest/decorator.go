package executetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
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

// World is what decorators are made of.
type World struct {
	Next    execute.Caching
	Results store.Results
	Blobs   *memory.Blobs
	Fn      digest.Function
}

// Passes says what a decorator keeps to itself on purpose.
type Passes struct {
	NoLookup bool // it does not ask the next one for results: it knows by itself, or not at all
}

// next is an executor that does what a test says.
type next struct {
	execute func(context.Context, *execute.Request) (*action.Result, error)
	lookup  func(context.Context, *execute.Request) (*action.Result, bool, error)
}

func (n *next) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	return n.execute(ctx, a)
}

func (n *next) Lookup(ctx context.Context, a *execute.Request) (*action.Result, bool, error) {
	if n.lookup == nil {
		return nil, false, nil
	}
	return n.lookup(ctx, a)
}

// decorated is a decorator over a next, and an action for it.
type decorated struct {
	next   *next
	x      execute.Executor
	action *execute.Request
}

// Decorator checks what wrap's executor passes on to World.Next and back. It has nothing of its own to say: nothing
// is damaged, known or under way elsewhere.
func Decorator(t *testing.T, name string, wrap func(t *testing.T, w World) execute.Executor, passes Passes) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, decorated)
	}{
		{"result", passesResult},
		{"errors", passesErrors},
		{"listeners", passesListeners},
		{"end of the context", passesEnd},
		{"actions at once", passesAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, decorate(t, name, wrap)) })
	}
	if !passes.NoLookup {
		t.Run("lookup", func(t *testing.T) { passesLookup(t, decorate(t, name, wrap)) })
	}
}

func decorate(t *testing.T, name string, wrap func(t *testing.T, w World) execute.Executor) decorated {
	t.Helper()
	blobs, fn := memory.NewBlobs(), digest.BLAKE3
	root, err := (&merkle.Dir{}).Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := secret.NewSet(map[string]secret.Text{"TOKEN": {{Ref: "var.token"}}}, nil, secret.Values{"var.token": hidden})
	if err != nil {
		t.Fatal(err)
	}
	d := decorated{next: &next{}, action: &execute.Request{Step: "exec.a", Name: "cc", Secrets: secrets, Action: &action.Action{Command: action.Command{Args: []string{"cc"}, Outputs: []string{"a.o"}}, InputRoot: root}}}
	if err := blobs.Put(t.Context(), fn.Bytes([]byte("object")), strings.NewReader("object")); err != nil {
		t.Fatal(err)
	}
	d.action.Seal(fn)
	d.x = wrap(t, World{d.next, memory.NewResults(), blobs, fn})
	is(t, name, d.x)
	return d
}

// result has something in every field that an executor fills.
func result() *action.Result {
	return &action.Result{
		Files: []action.OutputFile{{Path: "a.o", Digest: digest.BLAKE3.Bytes([]byte("object")), Executable: true}}, Stdout: []byte("out"), Stderr: []byte("err"),
		Worker: "there", Duration: time.Minute, Root: "/exec", Hints: []string{"look there"},
	}
}

// soon is how long a test waits for what needs no time.
const soon = 10 * time.Second

func passesResult(t *testing.T, d decorated) {
	for _, code := range []int{0, 3, -1} {
		d.next.execute = func(_ context.Context, a *execute.Request) (*action.Result, error) {
			if a.Action != d.action.Action || a.Step != "exec.a" || a.Name != "cc" || a.Secrets != d.action.Secrets {
				t.Errorf("the next executor gets %+v, want the action as it is", a)
			}
			r := result()
			r.ExitCode = code
			return r, nil
		}
		before := fmt.Sprintf("%+v", *d.action.Action)
		want := result()
		want.ExitCode = code
		got, err := d.x.Execute(t.Context(), d.action)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		if after := fmt.Sprintf("%+v", *d.action.Action); after != before {
			t.Errorf("the action was changed: %s, before: %s", after, before)
		}
	}
}

func passesErrors(t *testing.T, d decorated) {
	for _, want := range []error{
		&execute.Error{Op: "find a worker", Retryable: true, Refused: true, Remedy: "plug it in", Err: errors.New("there is none")},
		&execute.TimeoutError{Limit: time.Minute, Result: result()},
		&execute.Error{Op: "read the inputs", Err: store.ErrNotFound},
		errors.New("the build is over"),
	} {
		d.next.execute = func(context.Context, *execute.Request) (*action.Result, error) { return nil, want }
		if r, err := d.x.Execute(t.Context(), d.action); err != want || r != nil {
			t.Errorf("%v, %v; want the error as it is, %v, alone", r, err, want)
		}
	}
}

func passesListeners(t *testing.T, d decorated) {
	var spans, progress []string
	d.action.Spans = func(name string, _ time.Time, _ time.Duration) { spans = append(spans, name) }
	d.action.Progress = func(_, _ int64, text string) { progress = append(progress, text) }
	d.action.Printed, d.action.Tree = execute.NewPrinted(filepath.Join(t.TempDir(), "printed")), &merkle.Dir{}
	d.next.execute = func(_ context.Context, a *execute.Request) (*action.Result, error) {
		a.Span("run")()
		a.Report(1, 2, "half")
		if a.Printed != d.action.Printed || a.Tree != d.action.Tree {
			t.Errorf("the next executor gets %+v, want the request as it is", a)
		}
		return result(), nil
	}
	if _, err := d.x.Execute(t.Context(), d.action); err != nil {
		t.Fatal(err)
	}
	for what, told := range map[string]bool{fmt.Sprintf("spans %q", spans): len(spans) > 0 && spans[0] == "run", fmt.Sprintf("progress %q", progress): len(progress) > 0 && progress[0] == "half"} {
		if !told {
			t.Errorf("who asked is told of %s", what)
		}
	}
}

// passesEnd has the context end while the next executor works.
func passesEnd(t *testing.T, d decorated) {
	over := errors.New("the build is over")
	ctx, stop := context.WithCancelCause(t.Context())
	d.next.execute = func(ctx context.Context, _ *execute.Request) (*action.Result, error) {
		stop(over)
		select {
		case <-ctx.Done():
		case <-time.After(soon):
			t.Error("the next executor's context does not end")
		}
		return nil, context.Cause(ctx)
	}
	if r, err := d.x.Execute(ctx, d.action); !errors.Is(err, over) || r != nil {
		t.Errorf("%v, %v; want the context's cause alone", r, err)
	}
}

// passesAtOnce has as many actions under way as there are: each waits for all others.
func passesAtOnce(t *testing.T, d decorated) {
	const n = 4
	var mu sync.Mutex
	var once sync.Once
	begun, all := map[*execute.Request]bool{}, make(chan bool)
	d.next.execute = func(_ context.Context, a *execute.Request) (*action.Result, error) {
		mu.Lock()
		if begun[a] = true; len(begun) == n {
			once.Do(func() { close(all) })
		}
		mu.Unlock()
		select {
		case <-all:
		case <-time.After(soon):
			t.Error("an action waits for the end of another one")
		}
		return result(), nil
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			own := *d.action.Action
			a := &execute.Request{Action: &own}
			a.Command.Env = map[string]string{"N": fmt.Sprint(i)}
			if r, err := d.x.Execute(t.Context(), a); err != nil || r.ExitCode != 0 {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	wg.Wait()
}

func passesLookup(t *testing.T, d decorated) {
	x, ok := d.x.(execute.Lookup)
	if !ok {
		t.Fatalf("a %T hides what the next executor remembers", d.x)
	}
	for _, want := range []struct {
		r   *action.Result
		ok  bool
		err error
	}{{nil, false, nil}, {result(), true, nil}, {nil, false, &execute.Error{Op: "look", Err: errors.New("the disk is gone")}}} {
		d.next.lookup = func(ctx context.Context, a *execute.Request) (*action.Result, bool, error) {
			if a.Action != d.action.Action || a.Step != "exec.a" || a.Name != "cc" {
				t.Errorf("the next executor gets %+v, want the action as it is", a)
			}
			a.Report(1, 2, "half")
			return want.r, want.ok, want.err
		}
		told := 0
		d.action.Progress = func(int64, int64, string) { told++ }
		r, ok, err := x.Lookup(t.Context(), d.action)
		if r != want.r || ok != want.ok || err != want.err || told != 1 {
			t.Errorf("Lookup: %v, %v, %v; want %v, %v, %v", r, ok, err, want.r, want.ok, want.err)
		}
	}
}
