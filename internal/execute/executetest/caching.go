package executetest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// Caching checks what the executor that wrap makes remembers of what World.Next did.
func Caching(t *testing.T, name string, wrap func(t *testing.T, w World) execute.Caching) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *memoryTest)
	}{
		{"what succeeded", remembers},
		{"what did not", remembersNot},
		{"exit codes that are allowed", remembersAllowed},
		{"what lacks an output", remembersWhole},
		{"what the store cannot tell", remembersUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newMemory(t)
			s.x = wrap(t, World{s.next, s.results, s.blobs, s.fake.Fn})
			is(t, name, s.x)
			c.run(t, s)
		})
	}
}

type memoryTest struct {
	fake    *Fake
	next    *next
	blobs   *memory.Blobs
	results *brokenResults
	x       execute.Caching
	root    digest.Digest
}

func newMemory(t *testing.T) *memoryTest {
	t.Helper()
	blobs, fn := memory.NewBlobs(), digest.BLAKE3
	root, err := (&merkle.Dir{}).Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	fake := &Fake{Store: blobs, Fn: fn, Commands: map[string]func(context.Context, *Call) (int, error){
		"cc": func(_ context.Context, c *Call) (int, error) {
			c.Outputs["a.o"], c.Outputs["inc/sub/a.h"] = "object", "header"
			return 0, nil
		},
		"warns": func(_ context.Context, c *Call) (int, error) {
			c.Outputs["a.o"], c.Outputs["inc/a.h"] = "object", "header"
			return 7, nil
		},
		"forgets": func(context.Context, *Call) (int, error) { return 0, nil },
		"broken":  func(context.Context, *Call) (int, error) { return 0, errors.New("no worker") },
	}}
	return &memoryTest{fake: fake, next: &next{execute: fake.Execute}, blobs: blobs, results: &brokenResults{Results: memory.NewResults()}, root: root}
}

func (s *memoryTest) action(name string) *action.Action {
	return &action.Action{Command: action.Command{Args: []string{name}, Outputs: []string{"a.o", "inc"}}, InputRoot: s.root}
}

func (s *memoryTest) lookup(t *testing.T, a *action.Action) *action.Result {
	t.Helper()
	ran := len(s.fake.Ran())
	r, ok, err := s.x.Lookup(t.Context(), &execute.Request{Action: a})
	if err != nil || ok != (r != nil) {
		t.Fatalf("Lookup: %v, %v, %v", r, ok, err)
	}
	if len(s.fake.Ran()) != ran {
		t.Error("Lookup ran something")
	}
	return r
}

func (s *memoryTest) execute(t *testing.T, a *action.Action) *action.Result {
	t.Helper()
	ran := len(s.fake.Ran())
	r, err := s.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.fake.Ran()) != ran+1 {
		t.Errorf("Execute ran %d actions", len(s.fake.Ran())-ran)
	}
	return r
}

func remembers(t *testing.T, s *memoryTest) {
	a := s.action("cc")
	if r := s.lookup(t, a); r != nil {
		t.Fatalf("known before it ran: %+v", r)
	}
	first := s.execute(t, a)
	got := s.lookup(t, a)
	if got == nil || !reflect.DeepEqual(got.Files, first.Files) || !reflect.DeepEqual(got.Dirs, first.Dirs) {
		t.Fatalf("remembered %+v, want %+v", got, first)
	}
	got.Files[0].Path = "the caller's own"
	if again := s.lookup(t, a); again == nil || again.Files[0].Path != "a.o" {
		t.Errorf("after the caller wrote to its result: %+v", again)
	}
	other := s.action("cc")
	other.Command.Env = map[string]string{"A": "1"}
	if r := s.lookup(t, other); r != nil {
		t.Error("another action has this one's result")
	}
	s.execute(t, a) // although it is known
}

func remembersNot(t *testing.T, s *memoryTest) {
	never := s.action("cc")
	never.DoNotCache = true
	for name, a := range map[string]*action.Action{"failed": s.action("warns"), "did not write its outputs": s.action("forgets"), "is not to be remembered": never} {
		s.execute(t, a)
		if r := s.lookup(t, a); r != nil {
			t.Errorf("an action that %s is remembered: %+v", name, r)
		}
		s.execute(t, a)
	}
	a := s.action("broken")
	if r, err := s.x.Execute(t.Context(), &execute.Request{Action: a}); err == nil || s.lookup(t, a) != nil {
		t.Errorf("an action that could not run: %+v", r)
	}
}

func remembersAllowed(t *testing.T, s *memoryTest) {
	a := s.action("warns")
	a.OKExitCodes = []int{7}
	s.execute(t, a)
	if r := s.lookup(t, a); r == nil || r.ExitCode != 7 {
		t.Errorf("%+v, want the result with exit code 7", r)
	}
	if r := s.lookup(t, s.action("warns")); r != nil {
		t.Errorf("a step that does not allow the exit code gets %+v", r)
	}
}

// remembersWhole has each output lost in turn: then the action has to run again.
func remembersWhole(t *testing.T, s *memoryTest) {
	a := s.action("cc")
	r := s.execute(t, a)
	for _, d := range []digest.Digest{r.Files[0].Digest, r.Dirs[0].Tree, r.Dirs[0].Root} {
		s.blobs.Delete(d)
		if r := s.lookup(t, a); r != nil {
			t.Errorf("without %v: %+v", d, r)
		}
		s.execute(t, a)
		if s.lookup(t, a) == nil {
			t.Errorf("it ran again, and is not known")
		}
	}
}

// remembersUnknown has the store fail, which is an error with its cause, not a result that is not there.
func remembersUnknown(t *testing.T, s *memoryTest) {
	s.results.err = errors.New("the disk is gone")
	var e *execute.Error
	if r, ok, err := s.x.Lookup(t.Context(), &execute.Request{Action: s.action("cc")}); r != nil || ok || !errors.Is(err, s.results.err) || !errors.As(err, &e) {
		t.Errorf("Lookup: %v, %v, %v; want an execute.Error with the cause", r, ok, err)
	}
	if r, err := s.x.Execute(t.Context(), &execute.Request{Action: s.action("cc")}); r != nil || !errors.Is(err, s.results.err) || !errors.As(err, &e) {
		t.Errorf("Execute: %v, %v; want an execute.Error with the cause", r, err)
	}
}

// brokenResults are Results that fail once they have an error.
type brokenResults struct {
	store.Results
	err error
}

func (r *brokenResults) Get(ctx context.Context, key digest.Digest) (*action.Result, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.Results.Get(ctx, key)
}

func (r *brokenResults) Put(ctx context.Context, key digest.Digest, result *action.Result, messages map[digest.Digest][]byte) error {
	if r.err != nil {
		return r.err
	}
	return r.Results.Put(ctx, key, result, messages)
}
