package verify_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/verify"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/memory"
)

const fn = digest.BLAKE3

// faked is an executor in memory, with a cache around it. The action is `make`, with an output a.o and a folder inc.
func faked(t *testing.T) (fake *executetest.Fake, cached execute.Executor, blobs *memory.Blobs, a *action.Action) {
	t.Helper()
	blobs = memory.NewBlobs()
	root, err := (&merkle.Dir{}).Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	fake = &executetest.Fake{Store: blobs, Fn: fn, Commands: map[string]executetest.Command{
		"make": func(_ context.Context, out map[string]string) (int, error) {
			out["a.o"], out["inc/x"] = "object", "x"
			return 0, nil
		},
	}}
	return fake, execute.Cached(fake, execute.CacheOptions{Results: memory.NewResults(), Blobs: blobs, Fn: fn}), blobs,
		&action.Action{Command: action.Command{Args: []string{"make"}, Outputs: []string{"a.o", "inc"}},
			InputRoot: root}
}

// TestMain makes the test's own program a worker, as hexmage is.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "tool" && os.Args[2] == worker.Tool {
		worker.Main(os.Args[3], store.MayBeLink)
		return
	}
	os.Exit(m.Run())
}

// verifier is a Verifier over real processes, with a memory.
type verifier struct {
	*verify.Verifier
	cached execute.Executor
	empty  *action.Action // an action without inputs, outputs or command
}

func newVerifier(t *testing.T, choose func(string) bool) verifier {
	t.Helper()
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	none, err := (&merkle.Dir{}).Put(t.Context(), blobs, fn)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := local.Options{Dir: filepath.Join(root, "tmp"), Store: blobs, Fn: fn, Self: self}
	host, again := local.New(o), local.New(o)
	t.Cleanup(func() { _ = errors.Join(host.Close(), again.Close()) })
	cached := execute.Cached(host, execute.CacheOptions{Results: memory.NewResults(), Blobs: blobs, Fn: fn})
	v := verify.New(verify.Options{Next: cached, Again: again, Store: blobs, Select: choose})
	return verifier{v, cached, &action.Action{InputRoot: none}}
}

// sh is an action that runs a shell script and has one output.
func (v verifier) sh(script, output string) *action.Action {
	a := *v.empty
	a.Command = action.Command{Args: []string{"sh", "-c", script}, Outputs: []string{output}}
	return &a
}

// verify runs the action as a build does, and returns what it says of it.
func (v verifier) verify(t *testing.T, a *action.Action) event.ActionVerified {
	t.Helper()
	ctx, req := t.Context(), &execute.Request{Action: a, Step: "exec.a"}
	if _, ok, err := execute.Lookup(ctx, v, req); ok || err != nil {
		t.Fatalf("an action that is to be verified is not run: %v, %v", ok, err)
	}
	r, err := v.Execute(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if known, ok, err := execute.Lookup(ctx, v.cached, req); err != nil || !ok ||
		!cmp.Equal(known.Files, r.Files, cmp.Comparer(func(x, y action.OutputFile) bool { return x == y })) {
		t.Fatalf("the cache has %v (%v, %v), and the build got %v", known, ok, err, r)
	}
	e, ok := v.Take("exec.a", "")
	if !ok {
		t.Fatal("nothing was said")
	}
	return e
}

func TestVerify(t *testing.T) {
	for name, c := range map[string]struct {
		script, output string
		want           string // path and kind; "" if the outputs are the same
	}{
		"deterministic": {"echo a > o", "o", ""},
		"folder":        {"mkdir -p o/d; echo a > o/d/f; ln -s d o/l", "o", ""},
		"date":          {"date '+made at %H:%M:%S.%N' > o", "o", "o content"},
		"random":        {"head -c 4000 /dev/urandom > o", "o", "o content"},
		"file name":     {"mkdir o; touch o/$(cat /proc/sys/kernel/random/uuid)", "o", "o/"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVerifier(t, nil)
			a := v.sh(c.script, c.output)
			for try := range 2 { // first an unknown result, then a known one
				e := v.verify(t, a)
				if e.ComparedWithCache != (try == 1) {
					t.Errorf("known: %v at try %d", e.ComparedWithCache, try)
				}
				same := c.want == ""
				if same != (e.Verdict == event.Same) || same != (len(e.Differences) == 0) {
					t.Fatalf("%+v", e)
				}
				if same {
					continue
				}
				if d := e.Differences[0]; !strings.HasPrefix(d.Path+" "+d.Kind, c.want) {
					t.Errorf("%+v, want %s", d, c.want)
				}
			}
		})
	}
}

// What is neither content nor size: the steps look at a file outside of their exec roots, which changes between two
// runs.
func TestVerifyKinds(t *testing.T) {
	for name, c := range map[string]struct{ first, second, want string }{
		"missing":   {"mkdir o; touch o/a o/b", "mkdir o; touch o/a", "o/b missing"},
		"extra":     {"mkdir o; touch o/a", "mkdir -p o/b; touch o/a o/b/x", "o/b extra"},
		"mode":      {"echo a > o", "echo a > o; chmod +x o", "o mode"},
		"size":      {"echo a > o", "echo aa > o", "o size"},
		"type":      {"echo a > o", "mkdir o", "o type"},
		"symlink":   {"mkdir o; ln -s a o/l", "mkdir o; ln -s b o/l", "o/l content"},
		"exit code": {"echo a > o", "echo oh >&2; exit 3", " exit code"},
		"not there": {"echo a > o", "true", "o missing"},
		"deep below": {"mkdir -p o/1/2 o/same; echo 1 > o/1/2/3", "mkdir -p o/1/2 o/same; echo 2 > o/1/2/3",
			"o/1/2/3 content"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVerifier(t, nil)
			flag := filepath.Join(t.TempDir(), "flag")
			a := v.sh(fmt.Sprintf("if [ -e %s ]; then %s; else %s; fi", flag, c.second, c.first), "o")
			if _, err := v.cached.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(flag, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			e := v.verify(t, a)
			if len(e.Differences) != 1 || e.Differences[0].Path+" "+e.Differences[0].Kind != c.want {
				t.Errorf("%+v, want %s", e.Differences, c.want)
			}
			if sum := v.Summary(); sum != (event.VerifyFinished{Different: 1}) {
				t.Errorf("%+v", sum)
			}
		})
	}
}

// Of many differences 20 are described, and the others counted.
func TestVerifyManyDifferences(t *testing.T) {
	v := newVerifier(t, nil)
	e := v.verify(t, v.sh("mkdir o; for i in $(seq 33); do cat /proc/sys/kernel/random/uuid > o/$i; done", "o"))
	if len(e.Differences) != 20 || e.More != 13 {
		t.Errorf("%d are described and %d counted, of 33", len(e.Differences), e.More)
	}
}

// Where the first difference is, and in texts which line it is in.
func TestVerifyLocates(t *testing.T) {
	long := strings.Repeat("x", 1000)
	sized := func(size int, at ...int) func(byte) string {
		return func(n byte) string {
			b := make([]byte, size)
			for _, i := range at {
				b[i] = n
			}
			return string(b)
		}
	}
	for name, c := range map[string]struct {
		f    func(n byte) string
		want []string
	}{
		"bytes": {sized(100, 16, 17, 90), []string{"3 of 100 bytes differ; the first difference is at offset 0x10"}},
		"large": {sized(65<<20, 64<<20, 64<<20+20),
			[]string{"2 of 68157440 bytes differ; the first difference is at offset 0x4000000"}},
		"size": {func(n byte) string { return sized(70_000)(0) + long[:n] },
			[]string{"70001 bytes, then 70002 bytes; the first difference is at offset 0x11171"}},
		"line": {func(n byte) string { return fmt.Sprintf("one\ntwo\nthree %d\n", n) },
			[]string{"1 of 16 bytes differ; the first difference is at offset 0xe", "3: three 1", "3: three 2"}},
		"long line": {func(n byte) string { return fmt.Sprint(long, n, long) },
			[]string{"1 of 2001 bytes differ; the first difference is at offset 0x3e8",
				"1: …" + long[:40] + "1" + long[:119] + "…", "1: …" + long[:40] + "2" + long[:119] + "…"}},
		"one line more": {func(n byte) string { return strings.Repeat("a\n", int(n)) },
			[]string{"2 bytes, then 4 bytes; the first difference is at offset 0x2", "2: ", "2: a"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake, cached, blobs, a := faked(t)
			var n byte
			fake.Commands["make"] = func(_ context.Context, out map[string]string) (int, error) {
				n++
				out["a.o"], out["inc/x"] = c.f(n), "x"
				return 0, nil
			}
			v := verify.New(verify.Options{Next: cached, Again: fake, Store: blobs})
			if _, err := v.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
				t.Fatal(err)
			}
			e, _ := v.Take("", "")
			if len(e.Differences) != 1 {
				t.Fatalf("%+v", e)
			}
			d := e.Differences[0]
			if diff := cmp.Diff(c.want, append([]string{d.Detail}, d.Lines...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestVerifyLeavesOut(t *testing.T) {
	v := newVerifier(t, func(step string) bool { return step == "exec.chosen" })
	never := v.sh("date +%N > o", "o")
	never.DoNotCache = true
	elsewhere := v.sh("date +%N > o", "o")
	elsewhere.Command.Platform = map[string]string{action.PropertyExecutor: "elsewhere"}
	effects := v.sh("date +%N > o", "o")
	effects.Command.Platform = map[string]string{action.PropertyEffects: "x"}
	silent := v.sh("true", "o")
	silent.Command.Outputs = nil
	failing := v.sh("exit 4", "o")
	for name, c := range map[string]struct {
		step   string
		a      *action.Action
		reason string
	}{
		"another step": {"exec.other", v.sh("date +%N > o", "o"), ""},
		"no cache":     {"exec.chosen", never, "cache = false"},
		"effects":      {"exec.chosen", effects, "side effects"},
		"elsewhere":    {"exec.chosen", elsewhere, "elsewhere"},
		"no outputs":   {"exec.chosen", silent, "no outputs"},
		"failed":       {"exec.chosen", failing, "exit code 4"},
	} {
		if _, err := v.Execute(t.Context(), &execute.Request{Action: c.a, Step: c.step}); err != nil {
			t.Fatal(err)
		}
		e, ok := v.Take(c.step, "")
		if ok != (c.reason != "") || ok && (e.Verdict != event.Unverified || !strings.Contains(e.Reason, c.reason)) {
			t.Errorf("%s: %+v, %v", name, e, ok)
		}
	}
	// A known result of what cannot be verified is found as ever.
	r, err := v.Execute(t.Context(), &execute.Request{Action: elsewhere, Step: "exec.chosen"})
	if err != nil || !r.Cached {
		t.Errorf("%v, %v", r, err)
	}
	if e, ok := v.Take("exec.chosen", ""); !ok || e.Verdict != event.Unverified {
		t.Errorf("%+v, %v", e, ok)
	}
}

// An exit code that the step allows is one of a result that is remembered, and compared.
func TestVerifyAllowedExitCode(t *testing.T) {
	v := newVerifier(t, nil)
	a := v.sh("date +%N > o; exit 4", "o")
	a.OKExitCodes = []int{4}
	if e := v.verify(t, a); e.Verdict != event.Different {
		t.Errorf("%+v", e)
	}
}

func TestVerifyErrors(t *testing.T) {
	_, cached, blobs, a := faked(t)
	gone := errors.New("the second run could not start")
	v := verify.New(verify.Options{Next: cached, Again: failing{gone}, Store: blobs})
	if r, err := v.Execute(t.Context(), &execute.Request{Action: a}); !errors.Is(err, gone) {
		t.Errorf("%v, %v", r, err)
	}
	if _, ok := v.Take("", ""); ok {
		t.Error("it says that it compared")
	}
}

type failing struct{ err error }

func (f failing) Execute(_ context.Context, r *execute.Request) (*action.Result, error) {
	if !r.DropCheckpoint {
		return nil, errors.New("the second run may continue from a checkpoint")
	}
	return nil, f.err
}

// What says that it varies is compared, and what differs is told, but is no failure. Another exit code is one.
func TestVerifyDeclared(t *testing.T) {
	const random = `head -c 4 /dev/urandom; head -c 96 /dev/zero; head -c 4 /dev/urandom`
	for name, c := range map[string]struct {
		script, varies string
		want           event.Verdict
	}{
		"declared":           {"{ " + random + "; } > o", "it draws lots", event.ExpectedDifference},
		"not declared":       {"{ " + random + "; } > o", "", event.Different},
		"declared, and same": {"echo o > o", "it draws lots", event.Same},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVerifier(t, nil)
			a := v.sh(c.script, "o")
			plain := a.Key(fn)
			if c.varies != "" {
				a.Varies = map[string]string{"o": c.varies}
			}
			if a.Key(fn) != plain {
				t.Error("it is in the key")
			}
			e := v.verify(t, a)
			if e.Verdict != c.want || e.Verdict != event.Same && e.Differences[0].Varies != c.varies {
				t.Fatalf("%+v", e)
			}
			if e.Verdict == event.Same {
				return
			}
			if len(e.Differences) != 1 || e.Differences[0].Offset >= 4 {
				t.Errorf("%+v", e.Differences)
			}
		})
	}
	t.Run("one of two", func(t *testing.T) {
		v := newVerifier(t, nil)
		a := v.sh("mkdir d; for i in d/one d/two o; do { "+random+"; } > $i; done", "d")
		a.Command.Outputs = append(a.Command.Outputs, "o")
		a.Varies = map[string]string{"d": "it draws lots"}
		e := v.verify(t, a)
		var got []string
		for _, d := range e.Differences {
			got = append(got, d.Path+" "+d.Varies)
		}
		if want := []string{"d/one it draws lots", "d/two it draws lots", "o "}; e.Verdict != event.Different ||
			!slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", e.Verdict, got, want)
		}
	})
	t.Run("exit code", func(t *testing.T) {
		v := newVerifier(t, nil)
		flag := filepath.Join(t.TempDir(), "flag")
		a := v.sh(fmt.Sprintf("echo o > o; [ -e %s ] && exit 1; : > %[1]s", flag), "o")
		a.Varies = map[string]string{"o": "it draws lots"}
		if e := v.verify(t, a); e.Verdict != event.Different || e.Differences[0].Kind != "exit code" {
			t.Errorf("%+v", e)
		}
	})
}
