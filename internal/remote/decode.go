package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// encode is the result as a server takes it.
func encode(r *action.Result) (*repb.ActionResult, error) {
	m := new(repb.ActionResult)
	return m, proto.Unmarshal(r.Encode(), m)
}

// errUnusable is of a result that says what ours do not.
var errUnusable = errors.New("it is no result of hexmage's")

// decode is what a server says of a result, however it spells it: what was printed may be in blobs, a folder without
// its root, a file's content in place. blobs has them, and takes what comes in place. Links among outputs are
// refused.
func decode(ctx context.Context, blobs store.Blobs, m *repb.ActionResult, fn digest.Function) (*action.Result, error) {
	//lint:ignore SA1019 Older servers have links here.
	if len(m.GetOutputSymlinks())+len(m.GetOutputFileSymlinks())+len(m.GetOutputDirectorySymlinks()) > 0 {
		return nil, fmt.Errorf("an output is a link: %w", errUnusable)
	}
	meta := m.GetExecutionMetadata()
	r := &action.Result{ExitCode: int(m.GetExitCode()), Worker: meta.GetWorker(),
		Duration: meta.GetVirtualExecutionDuration().AsDuration()}
	// a server that says when, not how long
	if began, ended := meta.GetExecutionStartTimestamp(), meta.GetExecutionCompletedTimestamp(); r.Duration == 0 &&
		began != nil && ended != nil {
		r.Duration = max(0, ended.AsTime().Sub(began.AsTime()))
	}
	if len(r.Worker) > maxText || r.Duration < 0 {
		return nil, errUnusable
	}
	for _, f := range m.GetOutputFiles() {
		d, err := parse(f.GetDigest(), fn)
		if err == nil {
			err = checkPath(f.GetPath())
		}
		if err == nil && len(f.GetContents()) > 0 {
			err = blobs.Put(ctx, d, bytes.NewReader(f.GetContents()))
		}
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", f.GetPath(), err)
		}
		r.Files = append(r.Files, action.OutputFile{Path: f.GetPath(), Digest: d, Executable: f.GetIsExecutable()})
	}
	for _, f := range m.GetOutputDirectories() {
		out, err := decodeFolder(ctx, blobs, f, fn)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", f.GetPath(), err)
		}
		r.Dirs = append(r.Dirs, out)
	}
	var err error
	if r.Stdout, err = printed(ctx, blobs, m.GetStdoutRaw(), m.GetStdoutDigest(), fn); err != nil {
		return nil, err
	}
	r.Stderr, err = printed(ctx, blobs, m.GetStderrRaw(), m.GetStderrDigest(), fn)
	return r, err
}

func parse(d *repb.Digest, fn digest.Function) (digest.Digest, error) {
	return digest.New(fn, d.GetHash(), d.GetSizeBytes())
}

// checkPath refuses what is no slash path below the exec root.
func checkPath(p string) error {
	if p == "" || path.IsAbs(p) || path.Clean(p) != p || p == ".." || len(p) > 2 && p[:3] == "../" {
		return fmt.Errorf("%q is no path of an output: %w", p, errUnusable)
	}
	return nil
}

func decodeFolder(ctx context.Context, blobs store.Blobs, f *repb.OutputDirectory,
	fn digest.Function) (out action.OutputDir, err error) {
	out.Path = f.GetPath()
	if err := checkPath(out.Path); err != nil {
		return out, err
	}
	if f.GetTreeDigest() != nil {
		if out.Tree, err = parse(f.GetTreeDigest(), fn); err != nil {
			return out, err
		}
	}
	if f.GetRootDirectoryDigest() != nil {
		out.Root, err = parse(f.GetRootDirectoryDigest(), fn)
		return out, err
	}
	if out.Tree.IsZero() {
		return out, fmt.Errorf("neither its tree nor its root is named: %w", errUnusable)
	}
	dir, err := merkle.LoadTree(ctx, blobs, out.Tree)
	if err != nil {
		return out, err
	}
	out.Root, err = dir.Put(ctx, blobs, fn) // such a server need not have the messages one by one
	return out, err
}

// printed is what a command printed: as it stands in the result, or in a blob.
func printed(ctx context.Context, blobs store.Blobs, raw []byte, at *repb.Digest, fn digest.Function) ([]byte, error) {
	if len(raw) > 0 || at.GetSizeBytes() == 0 {
		if len(raw) > 2*action.MaxInline {
			return nil, fmt.Errorf("it printed %d bytes: %w", len(raw), errUnusable)
		}
		return raw, nil
	}
	d, err := parse(at, fn)
	if err != nil {
		return nil, err
	}
	if d.Size() > 2*action.MaxInline {
		return fmt.Appendf(nil, "(%d bytes were printed; they are too many to show)\n", d.Size()), nil
	}
	return store.ReadBlob(ctx, blobs, d, 2*action.MaxInline)
}
