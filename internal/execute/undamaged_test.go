package execute_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// damage is an execute.Damage.
type damage struct{ known, found []digest.Digest }

func (d *damage) Known() []digest.Digest          { return d.known }
func (d *damage) Found() ([]digest.Digest, error) { return d.found, nil }

// from is the action of a command with a file deep among its inputs.
func (w world) from(t *testing.T, command, content string) (*action.Action, digest.Digest) {
	t.Helper()
	d := fn.Bytes([]byte(content))
	if err := w.blobs.Put(t.Context(), d, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	root := &merkle.Dir{}
	if err := root.Insert(t.Context(), w.blobs, "a/b/in", merkle.File{Digest: d}); err != nil {
		t.Fatal(err)
	}
	a := w.action(command)
	at, err := root.Put(t.Context(), w.blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	a.InputRoot = at
	return a, d.Unsized()
}

// What was made from something before that was known to be damaged is not looked up; all else is.
func TestKnownDamage(t *testing.T) {
	w := newWorld(t, nil)
	bad, d := w.from(t, "cc", "damaged")
	good, _ := w.from(t, "cc", "fine")
	for _, a := range []*action.Action{bad, good} {
		if _, err := w.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
			t.Fatal(err)
		}
	}
	nobodyKnows := w.action("cc")
	nobodyKnows.InputRoot = fn.Bytes([]byte("a folder of which the store has no message"))
	if _, err := w.x.Execute(t.Context(), &execute.Request{Action: nobodyKnows}); err == nil {
		t.Fatal("it ran without its inputs")
	}
	x := execute.Undamaged(w.x, w.blobs, &damage{known: []digest.Digest{d}})
	for _, test := range []struct {
		a    *action.Action
		want bool
	}{{bad, false}, {good, true}, {bad, false}, {nobodyKnows, false}} {
		if r, ok, err := x.Lookup(t.Context(), &execute.Request{Action: test.a}); err != nil || ok != test.want || ok != (r != nil) {
			t.Errorf("known: %v, want %v, %v", ok, test.want, err)
		}
	}
	if _, err := x.Execute(t.Context(), &execute.Request{Action: bad}); err != nil { // damage that was known before is dealt with
		t.Error(err)
	}
}

// While an action runs, something is found damaged: if it is among its inputs, nothing counts of what the command did.
func TestDamageFoundMeanwhile(t *testing.T) {
	w := newWorld(t, nil)
	seen := &damage{}
	x := execute.Undamaged(w.x, w.blobs, seen)
	var finds []digest.Digest
	for name, code := range map[string]int{"finds": 0, "finds and fails": 1} {
		w.fake.Commands[name] = func(_ context.Context, c *executetest.Call) (int, error) {
			c.Outputs["a.o"], c.Outputs["inc/a.h"] = "object", "header"
			seen.found = append(seen.found, finds...)
			return code, nil
		}
		a, d := w.from(t, name, "damaged "+name)
		_, other := w.from(t, name, "other")
		seen.found, finds = nil, []digest.Digest{other}
		if r, err := x.Execute(t.Context(), &execute.Request{Action: a}); err != nil || r.ExitCode != code {
			t.Errorf("%s: damage elsewhere: %v, %v", name, r, err)
		}
		seen.found, finds = nil, []digest.Digest{other, d}
		if r, err := x.Execute(t.Context(), &execute.Request{Action: a}); !errors.Is(err, store.ErrCorrupt) || r != nil {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
