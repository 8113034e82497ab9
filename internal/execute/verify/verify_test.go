package verify_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/verify"
	"github.com/hexmage/hexmage/internal/merkle"
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
	fake = &executetest.Fake{Store: blobs, Fn: fn, Commands: map[string]func(context.Context, *executetest.Call) (int, error){
		"make": func(_ context.Context, c *executetest.Call) (int, error) {
			c.Outputs["a.o"], c.Outputs["inc/x"] = "object", "x"
			return 0, nil
		},
	}}
	return fake, execute.Cached(fake, execute.CacheOptions{Results: memory.NewResults(), Blobs: blobs, Fn: fn}), blobs,
		&action.Action{Command: action.Command{Args: []string{"make"}, Outputs: []string{"a.o", "inc"}}, InputRoot: root}
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
	host := local.New(local.Options{Dir: filepath.Join(root, "tmp"), Store: blobs, Fn: fn})
	cached := execute.Cached(host, execute.CacheOptions{Results: memory.NewResults(), Blobs: blobs, Fn: fn})
	v := verify.New(verify.Options{Next: cached, Again: local.New(local.Options{Dir: filepath.Join(root, "tmp"), Store: blobs, Fn: fn}), Store: blobs, Roots: filepath.Join(root, "tmp"), Select: choose})
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
	if known, ok, err := execute.Lookup(ctx, v.cached, req); err != nil || !ok || !cmp.Equal(known.Files, r.Files, cmp.Comparer(func(x, y action.OutputFile) bool { return x == y })) {
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
		want           string // path kind; "" is the same
		detail         string
		hint           string
	}{
		"deterministic":  {"echo a > o", "o", "", "", ""},
		"folder":         {"mkdir -p o/d; echo a > o/d/f; ln -s d o/l", "o", "", "", ""},
		"nanoseconds":    {"echo hello > o; date +%N >> o", "o", "o content", "", "digits"},
		"seconds":        {"date +%s.%N > o", "o", "o content", "", "seconds since 1970"},
		"date":           {"date '+made on %Y-%m-%d at %H:%M:%S.%N' > o", "o", "o content", "", "time of day"},
		"exec root":      {"echo $HEXMAGE_ROOT > o", "o", "", "", "exec root"},
		"working folder": {"mkdir o; pwd > o/w", "o", "", "", "exec root"},
		"uuid":           {"cat /proc/sys/kernel/random/uuid > o", "o", "o content", "", "UUID"},
		"random":         {"head -c 4000 /dev/urandom > o", "o", "o content", "of 4000 bytes differ", ""},
		"order":          {"date +%N > r; (cat r; seq 100 | sort -R --random-source=/dev/urandom) | sed 1d > o", "o", "o content", "", "another order"},
		"file name":      {"mkdir o; touch o/$(cat /proc/sys/kernel/random/uuid)", "o", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVerifier(t, nil)
			a := v.sh(c.script, c.output)
			for try := range 2 { // first an unknown result, then a known one
				e := v.verify(t, a)
				if e.Known != (try == 1) {
					t.Errorf("known: %v at try %d", e.Known, try)
				}
				same := name == "deterministic" || name == "folder"
				if same != (e.Verdict == event.Same) || same != (len(e.Differences) == 0) {
					t.Fatalf("%+v", e)
				}
				if same {
					continue
				}
				d := e.Differences[0]
				if c.want != "" && d.Path+" "+d.Kind != c.want {
					if !(d.Kind == "size" && strings.HasSuffix(c.want, "content")) {
						t.Errorf("%s %s, want %s", d.Path, d.Kind, c.want)
					}
				}
				if !strings.Contains(d.Detail, c.detail) || !strings.Contains(strings.Join(d.Hints, "\n"), c.hint) {
					t.Errorf("%+v; want %q and the hint %q", d, c.detail, c.hint)
				}
			}
		})
	}
}

// What is neither content nor size: the steps look at a file outside of their exec roots, which changes between two runs.
func TestVerifyKinds(t *testing.T) {
	for name, c := range map[string]struct{ first, second, want string }{
		"missing":    {"mkdir o; touch o/a o/b", "mkdir o; touch o/a", "o/b missing"},
		"extra":      {"mkdir o; touch o/a", "mkdir -p o/b; touch o/a o/b/x", "o/b extra"},
		"mode":       {"echo a > o", "echo a > o; chmod +x o", "o mode"},
		"size":       {"echo a > o", "echo aa > o", "o size"},
		"type":       {"echo a > o", "mkdir o", "o type"},
		"symlink":    {"mkdir o; ln -s a o/l", "mkdir o; ln -s b o/l", "o/l content"},
		"exit code":  {"echo a > o", "echo oh >&2; exit 3", " exit code"},
		"not there":  {"echo a > o", "true", "o missing"},
		"deep below": {"mkdir -p o/1/2 o/same; echo 1 > o/1/2/3", "mkdir -p o/1/2 o/same; echo 2 > o/1/2/3", "o/1/2/3 content"},
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

// What differs within files that have parts.
func TestVerifyLocates(t *testing.T) {
	counted := func(f func(n int64) []byte) func(context.Context, *executetest.Call) (int, error) {
		var n atomic.Int64
		return func(_ context.Context, c *executetest.Call) (int, error) {
			c.Outputs["a.o"] = string(f(n.Add(1)))
			c.Outputs["inc/x"] = "x"
			return 0, nil
		}
	}
	zipped := func(n int64) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range []string{"a", "b"} {
			h := &zip.FileHeader{Name: name}
			if name == "b" {
				h.Modified = time.Unix(1_700_000_000+10*n, 0)
			}
			f, err := w.CreateHeader(h)
			if err == nil {
				_, err = f.Write([]byte("content"))
			}
			if err != nil {
				panic(err)
			}
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
		return b.Bytes()
	}
	ar := func(n int64) []byte {
		member := func(name string, when int64, content string) string {
			return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n%s", name+"/", when, 0, 0, 0o644, len(content), content)
		}
		return []byte("!<arch>\n" + member("one.o", 0, "1111") + member("two.o", 1_700_000_000+n, fmt.Sprintf("222%d", n)))
	}
	for name, c := range map[string]struct {
		f    func(int64) []byte
		want []string
	}{
		"zip":  {zipped, []string{"b: time in the archive"}},
		"ar":   {ar, []string{"two.o, header: 1 range, the first at +0x19", "two.o: 1 range, the first at +0x3"}},
		"line": {func(n int64) []byte { return fmt.Appendf(nil, "one\ntwo\nthree %d\n", n) }, []string{"3: three 1", "3: three 2"}},
		"large": {func(n int64) []byte {
			b := make([]byte, 65<<20)
			b[64<<20] = byte(n)
			b[64<<20+20] = byte(n)
			return b
		}, []string{"2 of 68157440 bytes differ, in 2 ranges, the first at 0x4000000"}},
		"no ELF": {func(n int64) []byte { return fmt.Appendf(nil, "\x7fELF\x02\x01\x01 %d", n) }, []string{"1 of 9 bytes differ, in 1 range, the first at 0x8"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake, cached, blobs, a := faked(t)
			fake.Commands["make"] = counted(c.f)
			v := verify.New(verify.Options{Next: cached, Again: fake, Store: blobs})
			if _, err := v.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
				t.Fatal(err)
			}
			e, _ := v.Take("", "")
			if len(e.Differences) != 1 {
				t.Fatalf("%+v", e)
			}
			d := e.Differences[0]
			got := append(append([]string{}, d.Parts...), d.Lines...)
			if len(got) == 0 {
				got = []string{d.Detail}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// An ELF file of the Go tools, which are always there, with changed bytes at known places.
func TestVerifySections(t *testing.T) {
	dir := t.TempDir()
	source := "package main\n\nvar stamp = [4]int64{7_777_777, 8_888_888, 9_999_999, 6_666_666}\n\nfunc main() { println(stamp[0]) }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", "prog", "main.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	prog, err := os.ReadFile(filepath.Join(dir, "prog"))
	if err != nil {
		t.Fatal(err)
	}
	stamp := bytes.Index(prog, binary.LittleEndian.AppendUint64(nil, 7_777_777))
	fake, cached, blobs, a := faked(t)
	n := 0
	fake.Commands["make"] = func(_ context.Context, c *executetest.Call) (int, error) {
		b := bytes.Clone(prog)
		b[stamp+8] += byte(n)
		b[stamp+24] += byte(n)
		n++
		c.Outputs["a.o"], c.Outputs["inc/x"] = string(b), "x"
		return 0, nil
	}
	v := verify.New(verify.Options{Next: cached, Again: fake, Store: blobs})
	if _, err := v.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
		t.Fatal(err)
	}
	e, _ := v.Take("", "")
	if len(e.Differences) != 1 || len(e.Differences[0].Parts) != 1 {
		t.Fatalf("%+v", e)
	}
	if part := e.Differences[0].Parts[0]; !strings.HasPrefix(part, ".data: 2 ranges, ") && !strings.HasPrefix(part, ".noptrdata: 2 ranges, ") || !strings.HasSuffix(part, `(in "main.stamp")`) {
		t.Errorf("%q", part)
	}
}

// The host's own compiler, where there is one, and what makes its output differ most often.
func TestVerifyELF(t *testing.T) {
	if _, err := execute.LookPath("gcc", ""); err != nil {
		t.Skip("no gcc on this machine")
	}
	v := newVerifier(t, nil)
	a := v.sh(`printf 'const char stamp[] = __TIME__;\nint main(void) { return stamp[0]; }\n' > t.c; gcc -o o t.c; s=$(date +%s); while [ $(date +%s) = $s ]; do sleep 0.05; done`, "o")
	e := v.verify(t, a)
	if len(e.Differences) != 1 {
		t.Fatalf("%+v", e)
	}
	d := e.Differences[0]
	if parts := strings.Join(d.Parts, "\n"); !strings.Contains(parts, ".rodata: ") || !strings.Contains(parts, `(in "stamp")`) {
		t.Errorf("parts %q", d.Parts)
	}
	if !strings.Contains(strings.Join(d.Hints, "\n"), "time of day") {
		t.Errorf("hints %q", d.Hints)
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
		"effects":      {"exec.chosen", effects, "effects beside"},
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

func (f failing) Execute(context.Context, *execute.Request) (*action.Result, error) {
	return nil, f.err
}

// What says that it varies is compared, and what differs is told, but is no failure. Another exit code is one.
func TestVerifyDeclared(t *testing.T) {
	const random = `head -c 4 /dev/urandom; head -c 96 /dev/zero; head -c 4 /dev/urandom`
	for name, c := range map[string]struct {
		script, varies string
		want           event.Verdict
	}{
		"declared":           {"{ " + random + "; } > o", "it draws lots", event.Declared},
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
			if len(e.Differences) != 1 || len(e.Differences[0].Parts) != 2 || !strings.HasPrefix(e.Differences[0].Parts[0], "0x0: ") || !strings.HasPrefix(e.Differences[0].Parts[1], "0x64: ") {
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
		if want := []string{"d/one it draws lots", "d/two it draws lots", "o "}; e.Verdict != event.Different || !slices.Equal(got, want) {
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
