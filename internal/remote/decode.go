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

// encode converts the result to the API's message.
func encode(r *action.Result) (*repb.ActionResult, error) {
	m := new(repb.ActionResult)
	return m, proto.Unmarshal(r.Encode(), m)
}

// errUnusable marks a result that hexmage could not have produced.
var errUnusable = errors.New("invalid result")

// decode converts a server's result. Printed text may be in blobs, a folder may lack its root message, and a file may
// carry its content inline. decode reads these from blobs and stores inline content there. It rejects links among
// outputs.
func decode(ctx context.Context, blobs store.Blobs, m *repb.ActionResult, fn digest.Function) (*action.Result, error) {
	//lint:ignore SA1019 Older servers have links here.
	if len(m.GetOutputSymlinks())+len(m.GetOutputFileSymlinks())+len(m.GetOutputDirectorySymlinks()) > 0 {
		return nil, fmt.Errorf("%w: an output is a symlink", errUnusable)
	}
	meta := m.GetExecutionMetadata()
	r := &action.Result{ExitCode: int(m.GetExitCode()), Worker: meta.GetWorker(),
		Duration: meta.GetVirtualExecutionDuration().AsDuration()}
	// the server reports timestamps and no duration
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

// checkPath rejects paths that are not slash-separated and below the exec root.
func checkPath(p string) error {
	if p == "" || path.IsAbs(p) || path.Clean(p) != p || p == ".." || len(p) > 2 && p[:3] == "../" {
		return fmt.Errorf("%w: invalid output path %q", errUnusable, p)
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
		return out, fmt.Errorf("%w: an output folder has neither a tree nor a root", errUnusable)
	}
	dir, err := merkle.LoadTree(ctx, blobs, out.Tree)
	if err != nil {
		return out, err
	}
	out.Root, err = dir.Put(ctx, blobs, fn) // such a server may lack the messages as separate blobs
	return out, err
}

// printed returns the output of a command, inline in the result or from a blob.
func printed(ctx context.Context, blobs store.Blobs, raw []byte, at *repb.Digest, fn digest.Function) ([]byte, error) {
	if len(raw) > 0 || at.GetSizeBytes() == 0 {
		if len(raw) > 2*action.MaxInline {
			return nil, fmt.Errorf("%w: inline output of %d bytes is too large", errUnusable, len(raw))
		}
		return raw, nil
	}
	d, err := parse(at, fn)
	if err != nil {
		return nil, err
	}
	if d.Size() > 2*action.MaxInline {
		return fmt.Appendf(nil, "(%d bytes of output omitted)\n", d.Size()), nil
	}
	return store.ReadBlob(ctx, blobs, d, 2*action.MaxInline)
}
