package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/remote"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// farm is a machine whose actions run at a server, and what runs here, which writes "here" into each output.
type farm struct {
	*machine
	s      *server
	x      *remote.Executor
	inputs *store.HostFiles
	here   *executetest.Fake
}

const fn = digest.SHA256

func newFarm(t *testing.T, change func(*remote.Options), runs ...func(*repb.ExecuteRequest, operations) error) *farm {
	t.Helper()
	f := &farm{s: serve(t, fn)}
	f.s.runs = runs
	f.machine = newMachine(t, f.s, false, func(o *remote.Options) {
		o.Execute, o.Fallback, o.IdleTimeout = true, remote.FallbackLocal, time.Second
		if change != nil {
			change(o)
		}
	})
	f.here = &executetest.Fake{Store: f.blobs, Fn: fn, Commands: map[string]executetest.Command{
		"cc": func(_ context.Context, out map[string]string) (int, error) {
			out["out"] = "here"
			return 0, nil
		},
	}}
	f.inputs = store.WithHostFiles(f.blobs)
	f.x = remote.NewExecutor(f.client, remote.ExecutorOptions{Inputs: f.inputs, Blobs: f.blobs, Next: f.here})
	return f
}

// action compiles a file, with a toolchain of large and small files in many folders.
func (f *farm) action(t *testing.T, source string) *action.Action {
	t.Helper()
	tools := &merkle.Dir{}
	add := func(d *merkle.Dir, p string, b []byte) {
		if err := f.machine.here.Put(t.Context(), fn.Bytes(b), strings.NewReader(string(b))); err != nil {
			t.Fatal(err)
		}
		if err := d.Insert(t.Context(), nil, p, merkle.File{Digest: fn.Bytes(b)}); err != nil {
			t.Fatal(err)
		}
	}
	add(tools, "bin/cc", storetest.Bytes(1, 3<<20))
	for i := range 50 {
		add(tools, fmt.Sprintf("lib/%d/f", i%7)+fmt.Sprint(i), fmt.Appendf(nil, "lib %d", i))
	}
	ref, err := tools.Put(t.Context(), f.machine.here, fn)
	if err != nil {
		t.Fatal(err)
	}
	root := &merkle.Dir{Dirs: map[string]*merkle.Dir{
		"toolchains": {Dirs: map[string]*merkle.Dir{"cc": merkle.Ref(ref)}}}}
	add(root, "a.c", []byte(source))
	a := &action.Action{Command: action.Command{Args: []string{"cc", "a.c"}, Outputs: []string{"out"},
		Platform: map[string]string{}}}
	a.InputRoot, a.Directories = root.Encode(fn)
	return a
}

func ended(code int) string {
	return fmt.Sprintf("warned\n\nhexmage: the command ended with %d in /w/hexmage/root\n", code)
}

// done sends the end of an operation.
func done(to operations, r *repb.ExecuteResponse) error {
	response, err := anypb.New(r)
	if err != nil {
		return err
	}
	return to.Send(&longrunningpb.Operation{Name: "op", Done: true,
		Result: &longrunningpb.Operation_Response{Response: response}})
}

// began says that an action runs.
func began(to operations) error {
	meta, err := anypb.New(&repb.ExecuteOperationMetadata{Stage: repb.ExecutionStage_EXECUTING})
	if err != nil {
		return err
	}
	return to.Send(&longrunningpb.Operation{Name: "op", Metadata: meta})
}

// there is a result of an action that wrote "there".
func there(code int) *repb.ActionResult {
	d := fn.Bytes([]byte("there"))
	return &repb.ActionResult{ExitCode: int32(code), StderrRaw: []byte(ended(code)),
		OutputFiles: []*repb.OutputFile{{Path: "out", Digest: &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()},
			Contents: []byte("there")}}}
}

func works(_ *repb.ExecuteRequest, to operations) error {
	return done(to, &repb.ExecuteResponse{Result: there(0)})
}

func fails(c codes.Code) func(*repb.ExecuteRequest, operations) error {
	return func(_ *repb.ExecuteRequest, to operations) error {
		return done(to, &repb.ExecuteResponse{Status: status.New(c, "so it says").Proto()})
	}
}

// out is what the action wrote.
func (f *farm) out(t *testing.T, a *action.Action) string {
	t.Helper()
	r, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Files) != 1 || r.Files[0].Path != "out" || r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	b, err := store.ReadBlob(t.Context(), f.machine.here, r.Files[0].Digest, 100)
	if err != nil {
		t.Fatalf("what it wrote is not here: %v", err)
	}
	if string(b) == "there" &&
		(string(r.Stderr) != "warned\n" || r.Root != "/w/hexmage/root" || !strings.HasPrefix(r.Worker, "team")) {
		t.Errorf("%+v, %q", r, r.Stderr)
	}
	return string(b)
}

// TestTranslated: none of our properties is sent along, all that an action needs is there, and what servers want of
// messages is so.
func TestTranslated(t *testing.T) {
	var f *farm
	f = newFarm(t, func(o *remote.Options) {
		o.Namespace, o.Platform = "a", map[string]string{"pool": "large", "OSFamily": "linux"}
	}, func(r *repb.ExecuteRequest, to operations) error {
		read := func(d *repb.Digest, m proto.Message) {
			b, err := f.s.content(f.s.digest(r.GetDigestFunction(), d))
			if err != nil || proto.Unmarshal(b, m) != nil {
				t.Errorf("%v is not there: %v", m, err)
			}
		}
		var a repb.Action
		var c repb.Command
		var root, beside, inputs repb.Directory
		read(r.GetActionDigest(), &a)
		read(a.GetCommandDigest(), &c)
		read(a.GetInputRootDigest(), &root)
		read(root.GetDirectories()[0].GetDigest(), &beside)
		if c.GetWorkingDirectory() != "hexmage/root" || !slices.Equal(c.GetOutputPaths(), []string{"out", "said"}) ||
			a.GetTimeout().AsDuration() != 91*time.Second || a.GetDoNotCache() || string(a.GetSalt()) != "a" ||
			r.GetSkipCacheLookup() {
			t.Errorf("%v, %v", &c, &a)
		}
		for i, d := range beside.GetDirectories() {
			if want := []string{"root", "tmp"}; d.GetName() != want[i] {
				t.Errorf("%v", &beside)
			}
		}
		read(beside.GetDirectories()[0].GetDigest(), &inputs)
		//lint:ignore SA1019 Both are looked at by somebody.
		for _, p := range []*repb.Platform{a.GetPlatform(), c.GetPlatform()} {
			if got := fmt.Sprint(p.Properties); len(p.Properties) != 2 || !strings.Contains(got, "OSFamily") ||
				!strings.Contains(got, "large") {
				t.Errorf("the platform is %s", got)
			}
		}
		args := c.GetArguments()
		for _, want := range []string{"<a.c", ">said", "rm -f ./said"} {
			if !strings.Contains(args[2], want) {
				t.Errorf("%q is not in %s", want, args[2])
			}
		}
		if want := []string{"B=2", "LANG=C.UTF-8", "PATH=" + execute.HostPath, "cc", "a.c"}; !slices.Equal(args[4:],
			want) {
			t.Errorf("%q, want %q", args[4:], want)
		}
		return works(r, to)
	})
	a := f.action(t, "int a;")
	a.Limit, a.Command.Env = 90100*time.Millisecond, map[string]string{"B": "2", "HOME": "/home/me"}
	a.Command.Outputs = []string{"said", "out"}
	a.Command.Platform = map[string]string{action.PropertyStdin: "a.c", action.PropertyStdout: "said"}
	if got := f.out(t, a); got != "there" {
		t.Error(got)
	}
	if f.s.count("Execute") != 1 || len(f.here.Ran()) > 0 {
		t.Error("it did not run there")
	}
	f.said.want(t)
}

// TestTool: an action that runs a built-in tool brings hexmage's own program, and says where it is; others do not.
func TestTool(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hexmage")
	content := storetest.Bytes(7, 3<<20)
	if err := os.WriteFile(program, content, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, own := range []bool{true, false} {
		var f *farm
		f = newFarm(t, nil, func(r *repb.ExecuteRequest, to operations) error {
			var a repb.Action
			var c repb.Command
			for d, m := range map[*repb.Digest]proto.Message{r.GetActionDigest(): &a} {
				b, err := f.s.content(f.s.digest(r.GetDigestFunction(), d))
				if err != nil || proto.Unmarshal(b, m) != nil {
					t.Error(err)
				}
			}
			b, err := f.s.content(f.s.digest(r.GetDigestFunction(), a.GetCommandDigest()))
			if err != nil || proto.Unmarshal(b, &c) != nil {
				t.Error(err)
			}
			args := c.GetArguments()
			if got := slices.Contains(args, "../hexmage"); got != own ||
				strings.Contains(args[2], `HEXMAGE_SELF="$d/hexmage"`) != own {
				t.Errorf("own %v: %q", own, args)
			}
			return works(r, to)
		})
		f.x = remote.NewExecutor(f.client, remote.ExecutorOptions{Inputs: f.inputs, Blobs: f.blobs, Self: program})
		a := f.action(t, "int a;")
		if own {
			a.Command.Args = []string{action.ToolArg0, "tool", "copy"}
			a.Command.Platform[action.PropertyTool] = "copy/1"
		}
		f.out(t, a)
		if _, err := f.s.content(fn.Bytes(content)); (err == nil) != own {
			t.Errorf("own %v: the program: %v", own, err)
		}
	}
}

// TestStays: what cannot go runs here, and is counted with why; where nobody runs it here it is refused.
func TestStays(t *testing.T) {
	secrets, err := secret.NewSet(map[string]secret.Text{"TOKEN": {{Ref: "var.t"}}}, nil,
		secret.Values{"var.t": "hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	property := func(name, value string) func(*execute.Request) {
		return func(r *execute.Request) { r.Command.Platform[name] = value }
	}
	outputs := func(paths ...string) func(*execute.Request) {
		return func(r *execute.Request) { r.Command.Outputs = paths }
	}
	for name, c := range map[string]struct {
		change func(*execute.Request)
		says   string
	}{
		"secrets":    {func(r *execute.Request) { r.Secrets = secrets }, "the action uses secrets"},
		"a secret":   {property(action.PropertySecret+"TOKEN", "var.t"), "the action uses secrets"},
		"local":      {func(r *execute.Request) { r.LocalOnly = true }, "stay on this machine"},
		"network":    {property(action.PropertyNetwork, "true"), "the action may use the network"},
		"host":       {property(action.PropertyHost, "apt"), "the action depends on this machine"},
		"program":    {property(action.PropertyProgram+"sh", "x"), "the action starts the host program sh"},
		"addresses":  {property(action.PropertyAddresses, action.AddressesFixed), "fixed memory addresses"},
		"checkpoint": {property(action.PropertyCheckpoint, "ck"), "resumes from a checkpoint"},
		"effects":    {property(action.PropertyEffects, "x"), "the action has side effects"},
		"executor":   {property(action.PropertyExecutor, "elsewhere"), `needs the executor "elsewhere"`},
		"unknown":    {property("colour", "red"), "do not know the property colour"},
		"processor": {property(action.PropertyCPULevel, "x86-64-v3"),
			`the remote's platform lacks cpu_level = "x86-64-v3"`},
		"toolchain": {func(r *execute.Request) {
			d := &merkle.Dir{Files: map[string]*merkle.File{"f": {Digest: fn.Bytes(nil)}}}
			if err := d.Insert(t.Context(), nil, action.HostFile, merkle.File{Digest: fn.Bytes(nil)}); err != nil {
				t.Fatal(err)
			}
			root := &merkle.Dir{Dirs: map[string]*merkle.Dir{"toolchains": {Dirs: map[string]*merkle.Dir{"own": d}}}}
			r.InputRoot, r.Directories = root.Encode(fn)
		}, "toolchain own uses files of this machine"},
		"output in output": {outputs("out", "out/x"), "is inside output"},
		"output outside":   {outputs("../out"), "is outside the working folder"},
		"odd program":      {func(r *execute.Request) { r.Command.Args = []string{"a=b"} }, "contains ="},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFarm(t, nil, works)
			f.here.Commands["a=b"] = f.here.Commands["cc"]
			r := &execute.Request{Action: f.action(t, "int a;")}
			c.change(r)
			if err := f.machine.here.Put(t.Context(), fn.Bytes(nil), strings.NewReader("")); err != nil {
				t.Fatal(err)
			}
			if _, err := f.x.Execute(t.Context(), r); err != nil || len(f.here.Ran()) != 1 {
				t.Errorf("it did not run here: %v", err)
			}
			if got := f.x.Summary(); !strings.Contains(got, "team: 0; on this machine: 1 (1: ") ||
				!strings.Contains(got, c.says) {
				t.Errorf("the summary is %q, without %q", got, c.says)
			}
			f.said.want(t)
			alone := remote.NewExecutor(f.client, remote.ExecutorOptions{Inputs: f.inputs, Blobs: f.blobs})
			var refused *execute.Error
			if _, err := alone.Execute(t.Context(), r); !errors.As(err, &refused) || !refused.Refused ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want that it is refused", err)
			}
			if n := f.s.count("Execute") + f.s.count("BatchUpdateBlobs"); n > 0 {
				t.Errorf("the server was asked %d times", n)
			}
		})
	}
}

// TestInfrastructure: what is the server's trouble is tried again where that may help, and then is done here, or is
// an error.
func TestInfrastructure(t *testing.T) {
	stops := func(_ *repb.ExecuteRequest, to operations) error {
		return status.Error(codes.ResourceExhausted, "no room")
	}
	noEnd := func(_ *repb.ExecuteRequest, to operations) error {
		return done(to, &repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: 127,
			StderrRaw: []byte("sh: not found")}})
	}
	forgets := func(_ *repb.ExecuteRequest, to operations) error {
		r := there(0)
		r.OutputFiles[0].Contents = nil
		return done(to, &repb.ExecuteResponse{Result: r})
	}
	anew := func(r *repb.ExecuteRequest, to operations) error {
		if r.GetSkipCacheLookup() {
			return works(r, to)
		}
		return forgets(r, to)
	}
	type runs = []func(*repb.ExecuteRequest, operations) error
	for _, c := range []struct {
		name  string
		runs  runs
		calls int
		out   string
		says  []string
	}{
		{"passes", runs{fails(codes.Unavailable), fails(codes.Internal), works}, 3, "there", nil},
		{"the call fails, and passes", runs{stops, works}, 2, "there", nil},
		{"stays", runs{fails(codes.Internal)}, 3, "here",
			[]string{"remote team could not run an action", "so it says"}},
		{"no use in trying again", runs{fails(codes.InvalidArgument)}, 1, "here",
			[]string{"could not run", "so it says"}},
		{"its own time limit", runs{fails(codes.DeadlineExceeded)}, 1, "here", []string{"could not run", "so it says"}},
		{"no shell", runs{noEnd}, 3, "here", []string{"did not finish", "sh: not found"}},
		{"has no output", runs{anew}, 2, "there", nil},
		{"never has", runs{forgets}, 3, "here", []string{"could not run"}},
		{"runs nothing", nil, 0, "here", []string{"does not run actions"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFarm(t, nil, c.runs...)
			if got := f.out(t, f.action(t, "int a;")); got != c.out {
				t.Errorf("it ran %s, want %s", got, c.out)
			}
			if n := f.s.count("Execute"); n != c.calls {
				t.Errorf("it was asked for %d times, want %d", n, c.calls)
			}
			f.said.want(t, c.says...)
			if c.out == "there" {
				return
			}
			for i := range 5 {
				if got := f.out(t, f.action(t, fmt.Sprint(i))); got != "here" {
					t.Error(got)
				}
			}
			if n := f.s.count("Execute"); n > 3*max(c.calls, 0) {
				t.Errorf("six actions that fail there were sent %d times", n)
			}
			f.said.want(t, c.says...)
			g := newFarm(t, func(o *remote.Options) { o.Fallback = remote.FallbackFail }, c.runs...)
			var e *execute.Error
			if r, err := g.x.Execute(t.Context(), &execute.Request{Action: g.action(t, "int a;")}); !errors.As(err,
				&e) || e.Refused || r != nil || !strings.Contains(e.Remedy, "--remote off") || len(g.here.Ran()) > 0 {
				t.Errorf("%v, %v; want an error alone", r, err)
			}
		})
	}
}

// TestLost: what a server has lost meanwhile is sent once more.
func TestLost(t *testing.T) {
	var f *farm
	f = newFarm(t, nil, works, func(*repb.ExecuteRequest, operations) error {
		f.s.change(func() { clear(f.s.blobs) })
		return status.Error(codes.FailedPrecondition, "a blob is missing")
	}, works)
	f.out(t, f.action(t, "int a;"))
	if got := f.out(t, f.action(t, "int b;")); got != "there" {
		t.Error(got)
	}
	if _, err := f.s.content(fn.Bytes(storetest.Bytes(1, 3<<20))); err != nil {
		t.Errorf("the toolchain is not sent again: %v", err)
	}
	f.said.want(t)
}

// TestLostMeanwhile: that an action failed is not believed where the server lost an input of it meanwhile, also in
// the end; where it did not, it is.
func TestLostMeanwhile(t *testing.T) {
	for name, how := range map[string]struct {
		result *repb.ActionResult
		loses  int // times
		calls  int
		out    string
	}{
		"it fails": {there(1), 1, 2, "there"},
		"it is not found": {&repb.ActionResult{ExitCode: 127,
			StderrRaw: []byte("\nhexmage: the command ended with no program in /w\n")}, 2, 3, "there"},
		"each time": {there(1), 3, 3, "here"}, "nothing is lost": {there(1), 0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lost := fn.Bytes(storetest.Bytes(1, 3<<20))
			var f *farm
			fails := func(r *repb.ExecuteRequest, to operations) error {
				if n := f.s.puts[lost]; n != f.s.count("Execute") && how.loses > 0 {
					t.Errorf("in call %d it had been sent %d times", f.s.count("Execute"), n)
				}
				if how.loses > 0 {
					f.s.change(func() { delete(f.s.blobs, lost) })
				}
				return done(to, &repb.ExecuteResponse{Result: how.result})
			}
			runs := append(slices.Repeat([]func(*repb.ExecuteRequest, operations) error{fails}, max(1, how.loses)),
				works)
			f = newFarm(t, nil, runs...)
			r, err := f.x.Execute(t.Context(), &execute.Request{Action: f.action(t, "int a;")})
			if err != nil || f.s.count("Execute") != how.calls {
				t.Fatalf("%+v, %v, after %d calls", r, err, f.s.count("Execute"))
			}
			if how.out == "" {
				if r.ExitCode != 1 {
					t.Errorf("%+v", r)
				}
			} else if got, err := store.ReadBlob(t.Context(), f.blobs, r.Files[0].Digest, 100); err != nil ||
				string(got) != how.out || r.ExitCode != 0 {
				t.Errorf("%s, %v, %+v", got, err, r)
			}
			if how.out == "here" {
				f.said.want(t, "remote team could not run an action", "lost inputs")
			} else {
				f.said.want(t)
			}
		})
	}
}

// TestStreamBreaks: a stream that breaks is taken up again; where the server does not know of it, the action is sent
// again.
func TestStreamBreaks(t *testing.T) {
	breaks := func(_ *repb.ExecuteRequest, to operations) error {
		if err := began(to); err != nil {
			return err
		}
		return status.Error(codes.Unavailable, "the server goes away")
	}
	for knows, calls := range map[bool]int{true: 1, false: 2} {
		f := newFarm(t, nil, breaks, works)
		if knows {
			f.s.waits = func(name string, to operations) error {
				if name != "op" {
					t.Errorf("%q is waited for", name)
				}
				return works(nil, to)
			}
		}
		if got := f.out(t, f.action(t, "int a;")); got != "there" || f.s.count("Execute") != calls ||
			f.s.count("WaitExecution") != 1 {
			t.Errorf("knows %v: %s; %d, %d calls", knows, got, f.s.count("Execute"), f.s.count("WaitExecution"))
		}
		f.said.want(t)
	}
}

// TestCachedFailure: that others failed is not believed; that it fails once more is. What is to run is never taken
// from the server's cache.
func TestCachedFailure(t *testing.T) {
	cached := func(r *repb.ExecuteRequest, to operations) error {
		if r.GetSkipCacheLookup() {
			return status.Error(codes.InvalidArgument, "the second call comes first")
		}
		return done(to, &repb.ExecuteResponse{Result: there(1), CachedResult: true})
	}
	for _, code := range []int{0, 1} {
		f := newFarm(t, nil, cached, func(r *repb.ExecuteRequest, to operations) error {
			if !r.GetSkipCacheLookup() {
				t.Error("it may be cached again")
			}
			return done(to, &repb.ExecuteResponse{Result: there(code)})
		})
		r, err := f.x.Execute(t.Context(), &execute.Request{Action: f.action(t, "int a;")})
		if err != nil || r.ExitCode != code || f.s.count("Execute") != 2 {
			t.Errorf("%+v, %v, after %d calls", r, err, f.s.count("Execute"))
		}
		f.said.want(t)
	}
	for _, says := range []string{"sh: killed", "\nhexmage: the command ended with no program in /w\n"} {
		f := newFarm(t, nil, func(_ *repb.ExecuteRequest, to operations) error {
			return done(to, &repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: 127, StderrRaw: []byte(says)},
				CachedResult: true})
		}, works)
		if got := f.out(t, f.action(t, "int a;")); got != "there" || f.s.count("Execute") != 2 {
			t.Errorf("%q: it ran %s, after %d calls", says, got, f.s.count("Execute"))
		}
	}
	for name, change := range map[string]func(*execute.Request){"fresh": func(r *execute.Request) { r.Force = true },
		"not cached": func(r *execute.Request) { r.DoNotCache = true }} {
		f := newFarm(t, nil, func(r *repb.ExecuteRequest, to operations) error {
			if !r.GetSkipCacheLookup() {
				t.Errorf("%s: it may be cached", name)
			}
			return works(r, to)
		})
		r := &execute.Request{Action: f.action(t, "int a;")}
		change(r)
		if _, err := f.x.Execute(t.Context(), r); err != nil {
			t.Error(err)
		}
	}
}

// TestDeadWorker: an action whose worker is gone ends with its time limit, and with the server's connection where it
// has none.
func TestDeadWorker(t *testing.T) {
	dies := func(_ *repb.ExecuteRequest, to operations) error {
		if err := began(to); err != nil {
			return err
		}
		<-to.Context().Done()
		return to.Context().Err()
	}
	f := newFarm(t, nil, dies)
	a := f.action(t, "int a;")
	a.Limit = 200 * time.Millisecond
	start := time.Now()
	var late *execute.TimeoutError
	if r, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); !errors.As(err, &late) ||
		late.Limit != a.Limit || r != nil || time.Since(start) > 5*time.Second {
		t.Errorf("%v, %v after %v", r, err, time.Since(start))
	}
	if f.s.count("CancelOperation") != 1 {
		t.Error("the server is not told that nobody waits")
	}
	f.said.want(t)

	f = newFarm(t, nil, dies)
	time.AfterFunc(time.Second, func() {
		f.s.change(func() { f.s.denies["GetCapabilities"] = status.Error(codes.Unavailable, "it goes down") })
	})
	if got := f.out(t, f.action(t, "int a;")); got != "here" {
		t.Error(got)
	}
	f.said.want(t, "remote team is disabled", "it goes down")
}

// TestTravelsOnce: of many actions at the same time, each blob is sent by one, and later ones do not even ask for it.
func TestTravelsOnce(t *testing.T) {
	f := newFarm(t, nil, works)
	var all sync.WaitGroup
	for i := range 12 {
		a := f.action(t, fmt.Sprint("int a;", i))
		all.Go(func() {
			if _, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.s.mu.Lock()
	for d, n := range f.s.puts {
		if n > 1 {
			t.Errorf("%s was sent %d times", d.Short(), n)
		}
	}
	sent := len(f.s.puts)
	f.s.mu.Unlock()
	if sent < 12+50 {
		t.Errorf("%d blobs were sent", sent)
	}
	if got := f.x.Summary(); got != "actions on remote team: 12; on this machine: 0" {
		t.Error(got)
	}
}

// TestExecutedSpellings: what servers say in other words is understood, and is in our own words afterwards.
func TestExecutedSpellings(t *testing.T) {
	f := newFarm(t, nil, works)
	put := func(b []byte) *repb.Digest {
		d := f.s.has(b, fn)
		return &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()}
	}
	sub := func(n string) *merkle.Dir {
		return &merkle.Dir{Files: map[string]*merkle.File{n: {Digest: f.s.has([]byte(n), fn)}}}
	}
	dir := &merkle.Dir{Dirs: map[string]*merkle.Dir{"a": sub("x"), "b": sub("y")},
		Symlinks: map[string]string{"l": "a/x"}}
	root, _ := dir.Encode(fn)
	b, err := dir.EncodeTree(fn)
	if err != nil {
		t.Fatal(err)
	}
	var tree repb.Tree
	if err := proto.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(tree.Children)
	other, err := proto.Marshal(&tree)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("line\n", 50_000)
	f.s.runs = []func(*repb.ExecuteRequest, operations) error{func(_ *repb.ExecuteRequest, to operations) error {
		return done(to, &repb.ExecuteResponse{Result: &repb.ActionResult{
			StdoutDigest: put([]byte(long)), StderrDigest: put([]byte(long + ended(0))),
			OutputDirectories: []*repb.OutputDirectory{{Path: "d", TreeDigest: put(other)},
				{Path: "nobody's", TreeDigest: put(other)}},
			OutputFiles: []*repb.OutputFile{{Path: "z", Digest: put([]byte("z"))},
				{Path: "a", Digest: put([]byte("a")), IsExecutable: true}},
		}})
	}}
	a := f.action(t, "int a;")
	a.Command.Outputs = []string{"d", "a", "z"}
	r, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Dirs) != 1 || r.Dirs[0].Root != root || r.Dirs[0].Tree != fn.Bytes(b) || len(r.Files) != 2 ||
		r.Files[0].Path != "a" || !r.Files[0].Executable {
		t.Errorf("%+v", r)
	}
	for _, printed := range [][]byte{r.Stdout, r.Stderr} {
		if len(printed) > action.MaxInline || !strings.HasPrefix(string(printed), "line\n") ||
			strings.Contains(string(printed), "ended with") {
			t.Errorf("%d bytes", len(printed))
		}
	}
	f.s.change(func() { clear(f.s.blobs) })
	if whole, err := merkle.LoadOutput(t.Context(), f.machine.here, r.Dirs[0]); err != nil ||
		whole.Dirs["b"].Files["y"] == nil {
		t.Errorf("it is not here: %v", err)
	}
	f.said.want(t)
}

// TestPrintsAFile: what an action prints may be what a file of this machine has.
func TestPrintsAFile(t *testing.T) {
	f := newFarm(t, nil, works)
	path, text := filepath.Join(t.TempDir(), "f"), storetest.Bytes(1, 1<<20)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var files *store.HostFiles
	far := remote.NewBlobs(f.machine.here, f.client, func(d digest.Digest) bool { return files.Knows(d) })
	files = store.WithHostFiles(far)
	files.Add(fn.Bytes(text), path)
	x := remote.NewExecutor(f.client, remote.ExecutorOptions{Inputs: files, Blobs: far, Next: f.here})
	d := f.s.has(text, fn)
	f.s.runs = []func(*repb.ExecuteRequest, operations) error{func(_ *repb.ExecuteRequest, to operations) error {
		r := there(0)
		r.StdoutDigest = &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()}
		r.OutputFiles[0].Digest, r.OutputFiles[0].Contents = r.StdoutDigest, nil
		return done(to, &repb.ExecuteResponse{Result: r})
	}}
	for _, property := range []string{"", "out"} { // printed into the output, too
		a := f.action(t, "int a;")
		if property != "" {
			a.Command.Platform[action.PropertyStdout] = property
		}
		r, err := x.Execute(t.Context(), &execute.Request{Action: a})
		if err != nil || r.Worker == "fake" || len(r.Files) != 1 || r.Files[0].Digest != d || len(r.Stdout) == 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	f.said.want(t)
}
