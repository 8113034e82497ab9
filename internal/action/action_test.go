package action_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
)

func sample() *action.Action {
	return &action.Action{
		Command: action.Command{
			Args:     []string{"toolchains/llvm/bin/clang++", "-c", "src/a.cpp", ""},
			Env:      map[string]string{"B": "2", "A": "1", "EMPTY": ""},
			Outputs:  []string{"out/b.o", "out/a.o", "out/b.o"},
			Platform: map[string]string{"pool": "", "executor": "local"},
		},
		InputRoot: digest.BLAKE3.Bytes(nil),
	}
}

// Everything that decides what a command does is in the key; the order in which it was said is not.
func TestKey(t *testing.T) {
	base := sample().Key(digest.BLAKE3)
	for name, change := range map[string]func(*action.Action){
		"argument": func(a *action.Action) { a.Command.Args[1] = "-S" },
		"argument order": func(a *action.Action) {
			a.Command.Args[1], a.Command.Args[2] = a.Command.Args[2],
				a.Command.Args[1]
		},
		"argument boundary": func(a *action.Action) { a.Command.Args = []string{strings.Join(a.Command.Args, " ")} },
		"last argument":     func(a *action.Action) { a.Command.Args = a.Command.Args[:3] },
		"variable":          func(a *action.Action) { a.Command.Env["A"] = "2" },
		"empty variable":    func(a *action.Action) { delete(a.Command.Env, "EMPTY") },
		"output":            func(a *action.Action) { a.Command.Outputs[0] = "out/c.o" },
		"platform":          func(a *action.Action) { a.Command.Platform["executor"] = "elsewhere" },
		"inputs":            func(a *action.Action) { a.InputRoot = digest.BLAKE3.Bytes([]byte("x")) },
		"caching":           func(a *action.Action) { a.DoNotCache = true },
	} {
		a := sample()
		change(a)
		if a.Key(digest.BLAKE3) == base {
			t.Errorf("%s: the key is the same", name)
		}
	}
	a := sample()
	a.Command.Outputs = []string{"out/a.o", "out/b.o"}
	if a.Key(digest.BLAKE3) != base {
		t.Error("the order of outputs is in the key")
	}
	for range 20 { // maps have no order
		if e := sample().Encode(digest.BLAKE3); e.Key != base || e.Key != digest.BLAKE3.Bytes(e.Action) {
			t.Fatal("the same action has another key")
		}
	}
	if sample().Key(digest.SHA256) == base {
		t.Error("both functions give one key")
	}
}

func TestResultRoundTrip(t *testing.T) {
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		for name, r := range results(fn) {
			got, err := action.DecodeResult(r.Encode(), fn)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if diff := cmp.Diff(r, got, cmp.Comparer(func(a, b digest.Digest) bool { return a == b })); diff != "" {
				t.Errorf("%s differs (-encoded +decoded):\n%s", name, diff)
			}
		}
	}
}

func results(fn digest.Function) map[string]*action.Result {
	d := fn.Bytes([]byte("d"))
	return map[string]*action.Result{
		"empty":     {},
		"exit code": {ExitCode: 1}, "negative exit code": {ExitCode: -9},
		"full": {
			Files: []action.OutputFile{{Path: "a", Digest: d},
				{Path: "b/c", Digest: fn.Bytes(nil), Executable: true}},
			Dirs:     []action.OutputDir{{Path: "d", Tree: d, Root: d}, {Path: "no tree", Root: d}},
			ExitCode: 255, Stdout: []byte("\x00\xff"), Stderr: []byte("e"), Worker: "board Alpha7",
			Duration: 3*time.Hour + 1,
		},
	}
}

func TestMalformedResult(t *testing.T) {
	d := digest.BLAKE3.Bytes([]byte("d"))
	file := func(f action.OutputFile) []byte { return (&action.Result{Files: []action.OutputFile{f}}).Encode() }
	for name, b := range map[string][]byte{
		"text":      []byte("hello"),
		"cut":       file(action.OutputFile{Path: "a", Digest: d})[:20],
		"no path":   file(action.OutputFile{Digest: d}),
		"no digest": {2<<3 | 2, 3, 1<<3 | 2, 1, 'a'},
		"malformed hash": bytes.Replace(file(action.OutputFile{Path: "a", Digest: d}), []byte(d.Hex()[:4]),
			[]byte("zzzz"), 1),
		"folder, no root": {3<<3 | 2, 3, 1<<3 | 2, 1, 'a'},
	} {
		if r, err := action.DecodeResult(b, digest.BLAKE3); err == nil {
			t.Errorf("%s: decoded %v", name, r)
		}
	}
}

func FuzzDecodeResult(f *testing.F) {
	for _, r := range results(digest.BLAKE3) {
		f.Add(r.Encode())
	}
	f.Add([]byte{2<<3 | 2, 3, 1<<3 | 2, 1, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := action.DecodeResult(b, digest.BLAKE3)
		if err != nil {
			return
		}
		again, err := action.DecodeResult(r.Encode(), digest.BLAKE3)
		if err != nil {
			t.Fatalf("%+v cannot be read back: %v", r, err)
		}
		if !bytes.Equal(again.Encode(), r.Encode()) {
			t.Fatalf("%+v comes back as %+v", r, again)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	a := sample()
	for b.Loop() {
		a.Encode(digest.BLAKE3)
	}
}
