package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/store"
)

// hexmage does not copy large inputs that are files of the host. The command sees the file in its exec root by a
// read-only mount in the namespace of its thread. Other processes, hexmage too, see an empty file there, and must not
// read it. The mount point is a file, because folder listings show the type of the mount point. A symlink would need no
// mount, but a command that packs or copies its inputs would copy the link. A hard link would let a command write to
// the user's file and change its metadata.

// hostRef is an input that is a file of the host.
type hostRef struct {
	ref  store.Ref
	file merkle.File
	rel  string     // slash path below the execRoot's folder
	is   stat.Stamp // of what stands there instead
}

// useHostFile puts what stands for an input at the slash path below the execRoot's folder, if it is one that can be
// read in place.
func (l *layout) useHostFile(f merkle.File, rel string) (bool, error) {
	if f.Digest.Size() < store.MinRef || f.Executable || l.isOutput(strings.TrimPrefix(rel, "root/")) ||
		!l.x.canMount() {
		return false, nil
	}
	files, ok := l.x.o.Store.(store.Local)
	if !ok {
		return false, nil
	}
	ref, ok := files.Ref(f.Digest)
	if !ok {
		return false, nil
	}
	if ref.Check() != nil {
		return false, nil // the copy detects changed content
	}
	at := l.s.path(rel)
	stand, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)
	if err != nil {
		return false, err
	}
	stand.Close()
	st, err := stat.Lstat(at)
	if err != nil {
		return false, err
	}
	l.s.hostRefs = append(l.s.hostRefs, hostRef{ref, f, rel, st})
	return true, nil
}

// isOutput tells whether the command may put something else at the slash path of the exec root, or leave there what
// it finds.
func (l *layout) isOutput(at string) bool {
	if at == l.a.Command.Platform[action.PropertyStdout] {
		return true
	}
	for _, o := range l.a.Command.Outputs {
		if o = path.Clean(o); at == o || o == "." || strings.HasPrefix(at, o+"/") {
			return true
		}
	}
	return false
}

// mounts shows the files to the command.
func (s *execRoot) mounts() []sandbox.Mount {
	mounts := make([]sandbox.Mount, len(s.hostRefs))
	for i, b := range s.hostRefs {
		mounts[i] = sandbox.Mount{File: b.ref.Path, At: s.path(b.rel), Stamp: b.ref.Stamp}
	}
	return mounts
}

// checkHostRefs returns an error if a file that was read in place has changed.
func (s *execRoot) checkHostRefs() error {
	var errs []error
	for _, b := range s.hostRefs {
		if err := b.ref.Check(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// host returns the path at which hexmage, which does not see the mounts, finds the command's file at path.
func (s *execRoot) host(path string) string {
	for _, b := range s.hostRefs {
		if s.path(b.rel) == path {
			return b.ref.Path
		}
	}
	return path
}

// giveBack ends the use of host files after the command. It fails if a file changed: the command may have read both
// versions.
func (x *Executor) giveBack(ctx context.Context, a *action.Action, s *execRoot, exitCode int) error {
	if len(s.hostRefs) == 0 {
		return nil
	}
	if err := s.checkHostRefs(); err != nil {
		return &execute.Error{Op: "check the inputs after the command", Err: err,
			Remedy: "do not change the file while the step runs: commands read large files directly from the workspace"}
	}
	for _, b := range s.hostRefs {
		if !a.Succeeded(exitCode) {
			break // the command failed, and its own message says more
		}
		if now, err := stat.Lstat(s.path(b.rel)); err != nil || now != b.is {
			at := strings.TrimPrefix(b.rel, "root/")
			return &execute.Error{Op: "store the outputs", Refused: true,
				Err:    fmt.Errorf("the command moved or removed its input %s", at),
				Remedy: "make the command copy the input (cp, not mv)"}
		}
	}
	// An output may be a symlink to an input, or to a folder with one.
	root, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		return err
	}
	l := layout{x: x, a: a, s: s}
	for _, o := range a.Command.Outputs {
		to, err := filepath.EvalSymlinks(filepath.Join(s.root(), filepath.FromSlash(o)))
		if err != nil {
			continue // it is not there, which merkle.Capture reports
		}
		for i := range s.hostRefs {
			b := &s.hostRefs[i]
			at := filepath.Join(root, filepath.FromSlash(b.rel))
			if b.is == (stat.Stamp{}) || at != to && !strings.HasPrefix(at, to+string(filepath.Separator)) {
				continue
			}
			if err := os.Remove(at); err != nil {
				return err
			}
			if err := l.file(ctx, b.file, at, false); err != nil {
				return err
			}
			b.is = stat.Stamp{}
		}
	}
	return nil
}
