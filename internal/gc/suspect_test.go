package gc_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// remember puts a result for an action with these inputs, whose messages lie beside the result, in the store, or nowhere.
func (c *cache) remember(t *testing.T, arg, where string, inputs map[string]string, output string) *action.Action {
	t.Helper()
	root := &merkle.Dir{}
	for p, content := range inputs {
		if err := root.Insert(t.Context(), c.blobs, p, merkle.File{Digest: c.put(t, content)}); err != nil {
			t.Fatal(err)
		}
	}
	at, dirs := root.Encode(c.fn)
	a := &action.Action{Command: action.Command{Args: []string{arg}, Outputs: []string{"o"}}, InputRoot: at}
	r := &action.Result{Files: []action.OutputFile{{Path: "o", Digest: c.put(t, output)}}}
	e := a.Encode(c.fn)
	messages := map[digest.Digest][]byte{e.Key: e.Action, c.fn.Bytes(e.Command): e.Command}
	for d, b := range dirs {
		messages[d] = b
	}
	switch where {
	case "in the store":
		for _, b := range messages {
			c.put(t, string(b))
		}
		messages = nil
	case "nowhere":
		messages = nil
	}
	if err := c.results.Put(t.Context(), e.Key, r, messages); err != nil {
		t.Fatal(err)
	}
	return a
}

// A result that a command made while one of its inputs was damaged is whole and wrong. Repairing drops it, once, and nothing else.
func TestRepairDropsWhatMayBeWrong(t *testing.T) {
	for _, found := range []string{"by verify", "by a build", "in a tree"} {
		t.Run(found, func(t *testing.T) {
			c := open(t, t.TempDir())
			with := map[string]string{"src/a": "damaged later", "b": "fine"}
			var wrong, right []*action.Action
			for _, where := range []string{"beside", "in the store"} {
				wrong = append(wrong, c.remember(t, "1 "+where, where, with, "wrong"))
				wrong = append(wrong, c.remember(t, "deep "+where, where, map[string]string{"x/y/z": "damaged later"}, "wrong, too"))
				right = append(right, c.remember(t, "2 "+where, where, map[string]string{"src/a": "fine"}, "right"))
				right = append(right, c.remember(t, "3 "+where, where, nil, "right"))
			}
			// What was made from the wrong output is right for that: its key is of it.
			right = append(right, c.remember(t, "next", "beside", map[string]string{"o": "wrong"}, "right for this"))
			unknown := c.remember(t, "unknown", "nowhere", with, "wrong")
			snapshot := filepath.Join(c.root, "state", "snapshot", "x")
			if err := errors.Join(os.MkdirAll(filepath.Dir(snapshot), 0o755), os.WriteFile(snapshot, nil, 0o644)); err != nil {
				t.Fatal(err)
			}

			if v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{}); err != nil || len(v.Problems) > 0 {
				t.Fatalf("nothing is wrong, and found %+v, %v", v.Problems, err)
			}
			d := c.fn.Bytes([]byte("damaged later"))
			damaged := 1
			switch found {
			case "by verify":
				flip(t, c.blobs.Path(d))
			case "by a build":
				flip(t, c.blobs.Path(d))
				rc, err := c.blobs.Open(t.Context(), d)
				if err == nil {
					_, err = io.ReadAll(rc)
					rc.Close()
				}
				if err == nil || c.has(t, "damaged later") {
					t.Fatal("it was not found")
				}
				damaged = 0
			case "in a tree": // of which src/ in `with` is one that is unpacked
				sub := &merkle.Dir{}
				if err := sub.Insert(t.Context(), c.blobs, "a", merkle.File{Digest: d}); err != nil {
					t.Fatal(err)
				}
				root, err := sub.Put(t.Context(), c.blobs, c.fn)
				if err != nil {
					t.Fatal(err)
				}
				dir, err := c.trees.Path(t.Context(), c.blobs, root)
				if err != nil {
					t.Fatal(err)
				}
				if !sameFile(t, filepath.Join(dir, "a"), c.blobs.Path(d)) { // files are cloned here
					flip(t, c.blobs.Path(d))
				}
				flip(t, filepath.Join(dir, "a"))
				damaged = 2
			}
			for _, repair := range []bool{false, true} {
				v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{Repair: repair})
				if err != nil || v.Suspect != len(wrong)+1 || len(v.Problems) != v.Suspect+damaged {
					t.Fatalf("repair %v: %d suspect, %s, %v", repair, v.Suspect, wrongs(v), err)
				}
			}
			known := func(a *action.Action) bool {
				_, err := c.results.Get(t.Context(), a.Key(c.fn))
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Fatal(err)
				}
				return err == nil
			}
			if slices.ContainsFunc(append(wrong, unknown), known) {
				t.Error("a result that may be wrong is still there")
			}
			for _, a := range right {
				if !known(a) {
					t.Errorf("the result of %q is gone", a.Command.Args)
				}
			}
			if _, err := os.Lstat(snapshot); err == nil {
				t.Error("the snapshot is still there")
			}
			// What is made anew is right, and stays.
			again := c.remember(t, "1 beside", "beside", with, "right now")
			for range 2 {
				if v, err := gc.Verify(t.Context(), c.root, gc.VerifyOptions{Repair: true}); err != nil || len(v.Problems) > 0 {
					t.Errorf("after the repair: %s, %v", wrongs(v), err)
				}
			}
			if !known(again) {
				t.Error("what was made anew is gone")
			}
		})
	}
}

func wrongs(v gc.Verified) string {
	var lines []string
	for _, p := range v.Problems {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", p.Path, p.Text, p.Repaired))
	}
	return strings.Join(lines, "\n")
}
