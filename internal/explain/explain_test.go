package explain_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

const fn = digest.BLAKE3

// made returns an action with these input files ("path" or "path*" for an executable one → content), whose messages
// are in the store.
func made(t *testing.T, blobs store.Blobs, files map[string]string, change func(*action.Action)) *action.Action {
	t.Helper()
	root := &merkle.Dir{}
	for p, content := range files {
		f := merkle.File{Digest: fn.Bytes([]byte(content)), Executable: strings.HasSuffix(p, "*")}
		if err := root.Insert(t.Context(), blobs, strings.TrimSuffix(p, "*"), f); err != nil {
			t.Fatal(err)
		}
	}
	in, dirs := root.Encode(fn)
	for d, b := range dirs {
		put(t, blobs, d, b)
	}
	a := &action.Action{Command: action.Command{Args: []string{"cc", "-c", "a.c"},
		Env:     map[string]string{"A": "1", "B": "2"},
		Outputs: []string{"a.o"},
		Platform: map[string]string{"executor": "local",
			action.PropertyProgram + "cc": fn.Bytes([]byte("cc")).String()}}, InputRoot: in}
	if change != nil {
		change(a)
	}
	return a
}

func put(t *testing.T, blobs store.Blobs, d digest.Digest, b []byte) {
	t.Helper()
	if err := blobs.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
}

func TestCompare(t *testing.T) {
	files := map[string]string{"a.c": "1", "src/x/b.c": "2", "src/y/c.c": "3", "toolchains/llvm/bin/cc": "cc",
		"toolchains/sdk/lib": "q"}
	with := func(more map[string]string, without ...string) map[string]string {
		all := map[string]string{}
		for p, c := range files {
			all[p] = c
		}
		for _, p := range without {
			delete(all, p)
		}
		for p, c := range more {
			all[p] = c
		}
		return all
	}
	short := func(s string) string { return fn.Bytes([]byte(s)).Short() }
	for name, c := range map[string]struct {
		files  map[string]string
		change func(*action.Action)
		want   []string
		reason string
	}{
		"the same": {files: files},
		"a file": {files: with(map[string]string{"src/x/b.c": "two"}),
			want: []string{"input src/x/b.c changed: " + short("2") + " (1 bytes) → " + short("two") +
				" (3 bytes)   from workspace lib/x/b.c"}, reason: "lib/x/b.c changed"},
		"a new file": {files: with(map[string]string{"src/x/d.c": ""}),
			want:   []string{"input src/x/d.c is new: " + short("") + " (0 bytes)   from workspace lib/x/d.c"},
			reason: "lib/x/d.c is new"},
		"a file gone": {files: with(nil, "a.c"),
			want:   []string{"input a.c is gone: " + short("1") + " (1 bytes)   from step.gen.code.outputs.c"},
			reason: "a.c is gone"},
		"executable": {files: with(map[string]string{"a.c*": "1"}, "a.c"),
			want: []string{"input a.c changed: " + short("1") + " (1 bytes) → " + short("1") +
				" (1 bytes), executable   from step.gen.code.outputs.c"}, reason: "a.c changed"},
		"a toolchain": {files: with(map[string]string{"toolchains/llvm/bin/cc": "new", "a.c": "x"}),
			reason: "toolchain llvm changed, and 1 more"},
		"no toolchain": {files: with(nil, "toolchains/llvm/bin/cc", "toolchains/sdk/lib"),
			reason: "toolchain llvm is gone, and 1 more"},
		"arguments": {files: files,
			change: func(a *action.Action) { a.Command.Args = []string{"cc", "-O2", "-g", "a.c"} },
			want:   []string{"argument 1 changed: -c → -O2", "argument 2 is new: -g"},
			reason: "argument -c is now -O2, and 1 more"},
		"fewer arguments": {files: files, change: func(a *action.Action) { a.Command.Args = a.Command.Args[:1] },
			want:   []string{"argument 1 is gone: -c", "argument 2 is gone: a.c"},
			reason: "argument -c is gone, and 1 more"},
		"variables": {files: files,
			change: func(a *action.Action) { a.Command.Env = map[string]string{"A": "", "C": "3"} },
			want:   []string{`variable A changed: 1 → ""`, "variable B is gone: 2", "variable C is new: 3"},
			reason: "variable A changed, and 2 more"},
		"outputs": {files: files, change: func(a *action.Action) { a.Command.Outputs = []string{"b.o"} },
			want: []string{"output a.o is gone", "output b.o is new"}, reason: "output a.o is gone, and 1 more"},
		"property": {files: files, change: func(a *action.Action) { a.Command.Platform["executor"] = "elsewhere" },
			want: []string{"property executor changed: local → elsewhere"}, reason: "property executor changed"},
		"program": {files: files, change: func(a *action.Action) {
			a.Command.Platform[action.PropertyProgram+"cc"] = fn.Bytes([]byte("new cc")).String()
		}, want: []string{"program cc changed: " + short("cc") + " → " + short("new cc")},
			reason: "program cc changed"},
		"caching": {files: files, change: func(a *action.Action) { a.DoNotCache = true },
			want: []string{"caching changed: on → off"}, reason: "caching changed"},
	} {
		blobs := memory.NewBlobs()
		before, now := made(t, blobs, files, nil), made(t, blobs, c.files, c.change)
		got := explain.Compare(t.Context(), blobs, explain.Made{Action: before}, explain.Made{Action: now}, false)
		got.Place(&action.Spec{Inputs: []action.Input{
			{Path: "src", Host: &action.HostPath{Path: "lib"}},
			{Path: "a.c", Artifact: &addrs.Output{
				Instance: addrs.Instance{Step: addrs.Step{Kind: "gen", Name: "code"}}, Name: "c"}},
		}})
		var lines []string
		for _, d := range got.Differences {
			lines = append(lines, d.String())
		}
		if d := cmp.Diff(c.want, lines); c.want != nil && d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if got.Reason() != c.reason {
			t.Errorf("%s: reason %q, want %q", name, got.Reason(), c.reason)
		}
		if (before.Key(fn) != now.Key(fn)) != (len(got.Differences) > 0) || len(got.Unknown) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Of more differences than the limit, the others are counted.
func TestLimit(t *testing.T) {
	blobs := memory.NewBlobs()
	now := made(t, blobs, nil, func(a *action.Action) { a.Command.Args = make([]string, 1100) })
	before := made(t, blobs, map[string]string{"x": "1"}, nil)
	got := explain.Compare(t.Context(), blobs, explain.Made{Action: before}, explain.Made{Action: now}, false)
	if len(got.Differences) != 1000 || got.More != 101 {
		t.Errorf("%d and %d more", len(got.Differences), got.More)
	}
}

// What is gone from the store is said to be unknown; the rest is told.
func TestGone(t *testing.T) {
	blobs, full := memory.NewBlobs(), memory.NewBlobs()
	before := made(t, full, map[string]string{"a": "1", "sub/b": "1"}, nil)
	now := made(t, blobs, map[string]string{"a": "2", "sub/b": "2"}, func(a *action.Action) { a.Command.Args = nil })
	got := explain.Compare(t.Context(), blobs, explain.Made{Action: before}, explain.Made{Action: now}, false)
	if len(got.Unknown) != 1 || len(got.Differences) != 3 || !strings.Contains(got.Unknown[0], "the inputs") {
		t.Errorf("%+v", got)
	}
	e := before.Encode(fn)
	if _, _, err := explain.Load(t.Context(), blobs, nil, e.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an action that is not there: %v", err)
	}
	put(t, blobs, e.Key, e.Action)
	if _, _, err := explain.Load(t.Context(), blobs, nil, e.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an action without its command: %v", err)
	}
	put(t, blobs, fn.Bytes(e.Command), e.Command)
	a, _, err := explain.Load(t.Context(), blobs, nil, e.Key)
	if err != nil || a.Key(fn) != e.Key {
		t.Errorf("%+v, %v", a, err)
	}
	blobs = memory.NewBlobs() // also when all of it is beside the result
	results := memory.NewResults()
	if err := results.Put(t.Context(), e.Key, &action.Result{},
		map[digest.Digest][]byte{e.Key: e.Action, fn.Bytes(e.Command): e.Command}); err != nil {
		t.Fatal(err)
	}
	if a, _, err = explain.Load(t.Context(), blobs, results, e.Key); err != nil || a.Key(fn) != e.Key {
		t.Errorf("beside: %+v, %v", a, err)
	}
}

// TestOutline does not look into toolchains.
func TestOutline(t *testing.T) {
	blobs := memory.NewBlobs()
	before := made(t, blobs, map[string]string{"a.c": "1", "toolchains/sdk/lib/q": "q"}, nil)
	now := made(t, blobs, map[string]string{"a.c": "2", "toolchains/sdk/lib/q": "r"}, nil)
	whole := explain.Compare(t.Context(), blobs, explain.Made{Action: before}, explain.Made{Action: now}, false)
	outline := explain.Compare(t.Context(), blobs, explain.Made{Action: before}, explain.Made{Action: now}, true)
	if len(whole.Differences) != 2 || len(whole.Differences[0].Inside) != 1 {
		t.Errorf("%+v", whole)
	}
	whole.Differences[0].Inside = nil
	if diff := cmp.Diff(whole, outline); diff != "" {
		t.Error(diff)
	}
}
