package action_test

import (
	"bytes"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
)

// The encoding is pinned against the generated messages of the Remote Execution API: a server of that API decodes
// ours to the same, and a client of it computes the same keys.

func pb(d digest.Digest) *repb.Digest { return &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size()} }

func wantWire(t *testing.T, what string, got []byte, want proto.Message) {
	t.Helper()
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, wire) {
		return
	}
	have := want.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(got, have); err != nil {
		t.Errorf("%s: ours cannot be decoded: %v", what, err)
		return
	}
	t.Errorf("%s differs:\n ours  %x\n  is   %v\n want  %x\n  is   %v", what, got, have, wire, want)
}

func TestWireAction(t *testing.T) {
	for name, a := range map[string]*action.Action{
		"sample": sample(),
		"empty":  {InputRoot: digest.BLAKE3.Bytes(nil)},
		"do not": {InputRoot: digest.BLAKE3.Bytes([]byte("in")), DoNotCache: true},
	} {
		cmd := &repb.Command{Arguments: a.Command.Args}
		for _, k := range []string{"A", "B", "EMPTY"} {
			if v, ok := a.Command.Env[k]; ok {
				cmd.EnvironmentVariables = append(cmd.EnvironmentVariables,
					&repb.Command_EnvironmentVariable{Name: k, Value: v})
			}
		}
		if len(a.Command.Outputs) > 0 {
			cmd.OutputPaths = []string{"out/a.o", "out/b.o"}
		}
		var platform *repb.Platform
		if len(a.Command.Platform) > 0 {
			platform = &repb.Platform{Properties: []*repb.Platform_Property{{Name: "executor", Value: "local"},
				{Name: "pool"}}}
		}
		//lint:ignore SA1019 Newer servers read the Action's platform, older ones the Command's, so it is in both.
		cmd.Platform = platform
		e := a.Encode(digest.BLAKE3)
		wantWire(t, name+": Command", e.Command, cmd)
		msg := &repb.Action{
			CommandDigest: pb(digest.BLAKE3.Bytes(e.Command)), InputRootDigest: pb(a.InputRoot),
			DoNotCache: a.DoNotCache, Platform: platform,
		}
		wantWire(t, name+": Action", e.Action, msg)
	}
}

func TestWireResult(t *testing.T) {
	for name, r := range results(digest.BLAKE3) {
		msg := &repb.ActionResult{ExitCode: int32(r.ExitCode), StdoutRaw: r.Stdout, StderrRaw: r.Stderr}
		for _, f := range r.Files {
			msg.OutputFiles = append(msg.OutputFiles,
				&repb.OutputFile{Path: f.Path, Digest: pb(f.Digest), IsExecutable: f.Executable})
		}
		for _, d := range r.Dirs {
			out := &repb.OutputDirectory{Path: d.Path, RootDirectoryDigest: pb(d.Root)}
			if !d.Tree.IsZero() {
				out.TreeDigest = pb(d.Tree)
			}
			msg.OutputDirectories = append(msg.OutputDirectories, out)
		}
		msg.ExecutionMetadata = &repb.ExecutedActionMetadata{Worker: r.Worker,
			VirtualExecutionDuration: durationpb.New(r.Duration)}
		wantWire(t, name, r.Encode(), msg)
	}
}

// How long a command took is known of servers' results, too: some say when it began and ended.
func TestDurationOfTimes(t *testing.T) {
	began := time.Date(2026, 11, 28, 9, 0, 0, 5, time.UTC)
	at := func(after time.Duration) *timestamppb.Timestamp { return timestamppb.New(began.Add(after)) }
	for want, m := range map[time.Duration]*repb.ExecutedActionMetadata{
		40 * time.Minute: {Worker: "w", ExecutionStartTimestamp: at(0),
			ExecutionCompletedTimestamp: at(40 * time.Minute)},
		time.Second: {ExecutionStartTimestamp: at(0), ExecutionCompletedTimestamp: at(time.Minute),
			VirtualExecutionDuration: durationpb.New(time.Second)},
		0: {ExecutionStartTimestamp: at(time.Minute), ExecutionCompletedTimestamp: at(0)},
	} {
		b, err := proto.Marshal(&repb.ActionResult{ExecutionMetadata: m})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := action.DecodeResult(b, digest.BLAKE3); err != nil || r.Duration != want {
			t.Errorf("%v: %+v, %v, want %v", m, r, err, want)
		}
	}
	far := &repb.ActionResult{ExecutionMetadata: &repb.ExecutedActionMetadata{ExecutionStartTimestamp: at(0),
		ExecutionCompletedTimestamp: at(200 * 365 * 24 * time.Hour)}}
	if b, err := proto.Marshal(far); err != nil {
		t.Fatal(err)
	} else if r, err := action.DecodeResult(b, digest.BLAKE3); err != nil || r.Duration != 0 {
		t.Errorf("a time that is out of range: %+v, %v", r, err)
	}
}

func TestWireDirectory(t *testing.T) {
	fn := digest.BLAKE3
	empty := fn.Bytes(nil)
	d := &merkle.Dir{
		Files: map[string]*merkle.File{"b": {Digest: fn.Bytes([]byte("b"))},
			"a.sh": {Digest: empty, Executable: true}, "ä": {Digest: empty}},
		Dirs: map[string]*merkle.Dir{"sub": {Files: map[string]*merkle.File{"f": {Digest: empty}}}, "none": {},
			"same": {}},
		Symlinks: map[string]string{"z": "sub/f", "l": "b"},
	}
	sub := &repb.Directory{Files: []*repb.FileNode{{Name: "f", Digest: pb(empty)}}}
	subWire, err := proto.Marshal(sub)
	if err != nil {
		t.Fatal(err)
	}
	root := &repb.Directory{
		Files: []*repb.FileNode{
			{Name: "a.sh", Digest: pb(empty), IsExecutable: true}, {Name: "b", Digest: pb(fn.Bytes([]byte("b")))},
			{Name: "ä", Digest: pb(empty)},
		},
		Directories: []*repb.DirectoryNode{
			{Name: "none", Digest: pb(empty)}, {Name: "same", Digest: pb(empty)},
			{Name: "sub", Digest: pb(fn.Bytes(subWire))},
		},
		Symlinks: []*repb.SymlinkNode{{Name: "l", Target: "b"}, {Name: "z", Target: "sub/f"}},
	}
	dg, blobs := d.Encode(fn)
	if len(blobs) != 3 {
		t.Errorf("%d Directory messages, want 3: equal folders are one", len(blobs))
	}
	wantWire(t, "Directory", blobs[dg], root)
	message, err := d.EncodeTree(fn)
	if err != nil {
		t.Fatal(err)
	}
	wantWire(t, "Tree", message, &repb.Tree{Root: root, Children: []*repb.Directory{{}, sub}})
}
