package execute_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

const fn = digest.BLAKE3

type world struct {
	blobs   *memory.Blobs
	results *memory.Results
	fake    *executetest.Fake
	x       execute.Executor
	root    digest.Digest
}

func newWorld(t *testing.T, installed func(digest.Digest) bool) world {
	t.Helper()
	blobs := memory.NewBlobs()
	root, err := (&merkle.Dir{}).Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	fake := &executetest.Fake{Store: blobs, Fn: fn, Commands: map[string]executetest.Command{
		"cc": func(_ context.Context, out map[string]string) (int, error) {
			out["a.o"] = "object"
			out["inc/sub/a.h"] = "header"
			out["inc/b.h"] = "other"
			return 0, nil
		},
	}}
	results := memory.NewResults()
	return world{blobs, results, fake,
		execute.Cached(fake, execute.CacheOptions{Results: results, Blobs: blobs, Fn: fn, Installed: installed}), root}
}

func (w world) action(name string) *action.Action {
	return &action.Action{Command: action.Command{Args: []string{name}, Outputs: []string{"a.o", "inc"}},
		InputRoot: w.root}
}

func (w world) hit(t *testing.T, a *action.Action) bool {
	t.Helper()
	r, ok, err := execute.Lookup(t.Context(), w.x, &execute.Request{Action: a})
	if err != nil || ok != (r != nil) {
		t.Fatalf("Lookup: %v, %v, %v", r, ok, err)
	}
	return ok
}

// Only a result that a later build can use is remembered: with an exit code that is allowed, and all outputs.
func TestCached(t *testing.T) {
	w := newWorld(t, nil)
	w.fake.Commands["warns"] = func(_ context.Context, out map[string]string) (int, error) {
		out["a.o"], out["inc/a.h"] = "object", "header"
		return 7, nil
	}
	w.fake.Commands["forgets"] = func(context.Context, map[string]string) (int, error) { return 0, nil }
	never, allowed, other := w.action("cc"), w.action("warns"), w.action("cc")
	never.DoNotCache = true
	allowed.OKExitCodes = []int{7}
	for _, c := range []struct {
		name       string
		a          *action.Action
		remembered bool
	}{
		{"not to be remembered", never, false}, {"failed", w.action("warns"), false},
		{"outputs are missing", w.action("forgets"), false},
		{"exit code allowed", allowed, true}, {"succeeded", w.action("cc"), true},
	} {
		for range 2 { // Force runs the action, although its result may be known
			ran := len(w.fake.Ran())
			r, err := w.x.Execute(t.Context(), &execute.Request{Action: c.a, Force: true})
			if err != nil || len(w.fake.Ran()) != ran+1 {
				t.Fatalf("%s: %v, %v; ran %d actions", c.name, r, err, len(w.fake.Ran())-ran)
			}
			got, ok, err := execute.Lookup(t.Context(), w.x, &execute.Request{Action: c.a})
			if err != nil || ok != c.remembered || ok && !reflect.DeepEqual(got.Files, r.Files) {
				t.Errorf("%s: Lookup returns %+v, %v, %v", c.name, got, ok, err)
			}
		}
	}
	if w.hit(t, w.action("warns")) {
		t.Error("an action that does not allow the exit code has a result")
	}
	if other.Command.Env = map[string]string{"A": "1"}; w.hit(t, other) {
		t.Error("another action has this action's result")
	}
}

// What its key was made of is beside the result, or else in the store.
func TestCachedKeepsMessages(t *testing.T) {
	w := newWorld(t, nil)
	small, large := w.action("cc"), w.action("cc")
	large.Command.Env = map[string]string{"PAD": strings.Repeat("x", 20<<10)}
	for _, a := range []*action.Action{small, large} {
		if _, err := w.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
			t.Fatal(err)
		}
		e := a.Encode(fn)
		own := []digest.Digest{e.Key, fn.Bytes(e.Command)}
		messages, err := w.results.Messages(t.Context(), e.Key)
		missing, merr := w.blobs.Missing(t.Context(), own)
		if err := errors.Join(err, merr); err != nil {
			t.Fatal(err)
		}
		if a == large && (len(missing) > 0 || len(messages) > 0) ||
			a != large && (len(missing) != 2 || string(messages[own[0]]) != string(e.Action) ||
				string(messages[own[1]]) != string(e.Command)) {
			t.Errorf("%d messages are beside the result of %v, and %v are not in the store", len(messages), e.Key,
				missing)
		}
	}
}

// Each blob that a result needs is lost in turn: then the action has to run again.
func TestCachedIncomplete(t *testing.T) {
	w := newWorld(t, nil)
	a := w.action("cc")
	r, err := w.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := merkle.LoadTree(t.Context(), w.blobs, r.Dirs[0].Tree)
	if err != nil {
		t.Fatal(err)
	}
	_, messages := dir.Encode(fn)
	parts := map[string]digest.Digest{"a.o": r.Files[0].Digest, "Tree": r.Dirs[0].Tree,
		"a.h": fn.Bytes([]byte("header")), "b.h": fn.Bytes([]byte("other"))}
	for d := range messages {
		parts["Directory "+d.Short()] = d
	}
	if len(parts) != 6 {
		t.Fatalf("parts %v", parts)
	}
	for name, d := range parts {
		w.blobs.Delete(d)
		fresh := execute.Cached(w.fake, execute.CacheOptions{Results: resultOf{a.Key(fn), r}, Blobs: w.blobs, Fn: fn})
		if _, ok, err := execute.Lookup(t.Context(), fresh, &execute.Request{Action: a}); ok || err != nil {
			t.Errorf("without %s: hit %v, %v", name, ok, err)
		}
		if _, err := w.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
			t.Fatal(err)
		}
		if !w.hit(t, a) {
			t.Errorf("without %s: running it again did not mend it", name)
		}
	}
	w.blobs.Damage(r.Dirs[0].Tree, []byte("damaged"))
	fresh := execute.Cached(w.fake, execute.CacheOptions{Results: resultOf{a.Key(fn), r}, Blobs: w.blobs, Fn: fn})
	if _, ok, err := execute.Lookup(t.Context(), fresh, &execute.Request{Action: a}); ok || err != nil {
		t.Errorf("with a damaged Tree: hit %v, %v", ok, err)
	}
}

func TestCachedInstalledTreeIsNotTakenApart(t *testing.T) {
	var asked []digest.Digest
	w := newWorld(t, func(d digest.Digest) bool { asked = append(asked, d); return true })
	a := w.action("cc")
	r, err := w.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	w.blobs.Delete(fn.Bytes([]byte("header")))
	if !w.hit(t, a) || len(asked) != 1 || asked[0] != r.Dirs[0].Root {
		t.Errorf("a tree that is installed was looked for in the store; asked for %v", asked)
	}
	w.blobs.Delete(r.Dirs[0].Tree)
	if w.hit(t, a) {
		t.Error("a hit without the Tree blob")
	}
}

// A cache that others can write to may lie about which folder a Tree is of.
func TestCachedForgedTree(t *testing.T) {
	w := newWorld(t, nil)
	a := w.action("cc")
	r, err := w.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := (&merkle.Dir{}).EncodeTree(fn)
	if err != nil {
		t.Fatal(err)
	}
	r.Dirs[0].Tree = fn.Bytes(empty)
	if err := w.blobs.Put(t.Context(), fn.Bytes(empty), strings.NewReader(string(empty))); err != nil {
		t.Fatal(err)
	}
	x := execute.Cached(w.fake, execute.CacheOptions{Results: resultOf{a.Key(fn), r}, Blobs: w.blobs, Fn: fn})
	if _, ok, err := execute.Lookup(t.Context(), x, &execute.Request{Action: a}); ok || err != nil {
		t.Errorf("hit %v, %v", ok, err)
	}
}

func TestCachedOverABrokenStore(t *testing.T) {
	w := newWorld(t, nil)
	broken := errors.New("the disk is gone")
	a := w.action("cc")
	a.Command.Env = map[string]string{"PAD": strings.Repeat("x", 20<<10)}
	r, err := execute.Cached(w.fake,
		execute.CacheOptions{Results: w.results, Blobs: brokenStore{w.blobs, broken}, Fn: fn}).Execute(t.Context(),
		&execute.Request{Action: a})
	if !errors.Is(err, broken) || !errors.As(err, new(*execute.Error)) {
		t.Errorf("%v, %v; want an execute.Error with the cause", r, err)
	}
	x := execute.Cached(w.fake, execute.CacheOptions{Results: brokenResults{w.results, broken}, Blobs: w.blobs, Fn: fn})
	a = w.action("cc")
	_, err = x.Execute(t.Context(), &execute.Request{Action: a})
	_, ok, lerr := execute.Lookup(t.Context(), x, &execute.Request{Action: a})
	for _, err := range []error{err, lerr} {
		if !errors.Is(err, broken) || !errors.As(err, new(*execute.Error)) || ok {
			t.Errorf("%v; want an execute.Error with the cause", err)
		}
	}
}

// resultOf is a cache with one result.
type resultOf struct {
	key digest.Digest
	r   *action.Result
}

func (c resultOf) Get(_ context.Context, key digest.Digest) (*action.Result, error) {
	if key != c.key {
		return nil, store.ErrNotFound
	}
	return c.r, nil
}

func (resultOf) Put(context.Context, digest.Digest, *action.Result, map[digest.Digest][]byte) error {
	return nil
}

func (resultOf) Messages(context.Context, digest.Digest) (map[digest.Digest][]byte, error) {
	return nil, store.ErrNotFound
}

type brokenStore struct {
	store.Blobs
	err error
}

func (s brokenStore) Put(context.Context, digest.Digest, io.Reader) error { return s.err }

type brokenResults struct {
	store.Results
	err error
}

func (r brokenResults) Get(context.Context, digest.Digest) (*action.Result, error) { return nil, r.err }

func (r brokenResults) Put(context.Context, digest.Digest, *action.Result, map[digest.Digest][]byte) error {
	return r.err
}
