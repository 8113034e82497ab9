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

// Large inputs that are files of the host are not copied: the command sees the file itself in its exec root, by a
// mount that only its thread has, and that lets nobody write. For everybody else, hexmage too, an empty file stands
// there: it must not be taken for the content. (It is a file, as folders tell the kind of what is in them without a
// look at what is mounted.) A symlink would do without mounts, but a command that packs or copies its inputs would
// take the link for the content; and a hard link would let a command write to a file of the user's, and change what
// the file system says of it.

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
		return false, nil // whoever copies it finds out whether its content is another too
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

// checkHostRefs returns an error if a file that was read in place is not what it was.
func (s *execRoot) checkHostRefs() error {
	var errs []error
	for _, b := range s.hostRefs {
		if err := b.ref.Check(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// host returns where hexmage itself, which does not see mounts, reads what the command sees at path in the exec root.
func (s *execRoot) host(path string) string {
	for _, b := range s.hostRefs {
		if s.path(b.rel) == path {
			return b.ref.Path
		}
	}
	return path
}

// giveBack is for after the command ran. It fails if a file changed meanwhile: nobody knows what the command read.
func (x *Executor) giveBack(ctx context.Context, a *action.Action, s *execRoot, exitCode int) error {
	if len(s.hostRefs) == 0 {
		return nil
	}
	if err := s.checkHostRefs(); err != nil {
		return &execute.Error{Op: "keep the inputs as they are", Err: err,
			Remedy: "let nothing write to the file while the step runs, which only reads its inputs; large files of " +
				"the workspace are read where they are"}
	}
	for _, b := range s.hostRefs {
		if !a.Succeeded(exitCode) {
			break // of what failed no output counts, and what it printed says more
		}
		if now, err := stat.Lstat(s.path(b.rel)); err != nil || now != b.is {
			at := strings.TrimPrefix(b.rel, "root/")
			return &execute.Error{Op: "store the outputs", Refused: true,
				Err:    fmt.Errorf("the command moved or removed its input %s, or a folder that it is in", at),
				Remedy: "let the command copy it instead (cp, not mv)"}
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

// showHostRefs puts symlinks to the files in the places of inputs that were read in place, for people to look at.
func (s *execRoot) showHostRefs() {
	for _, b := range s.hostRefs {
		if p := s.path(b.rel); b.is.Exists() && os.Remove(p) == nil {
			_ = os.Symlink(b.ref.Path, p)
		}
	}
}
