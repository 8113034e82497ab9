package build

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/tree"
)

// complete gives the unit's action what is known only now that its inputs are: the digests of the programs of the host
// that it starts, and how it is remembered. root is its exec root.
func (w *worker) complete(ctx context.Context, u *unit, a *action.Action, root *tree.Dir) error {
	if err := w.executable(ctx, u, root); err != nil {
		return err
	}
	for _, name := range hostPrograms(u) {
		list := "" // as executors look for argv[0]
		if name != u.spec.Args[0] {
			list = u.spec.Env["PATH"]
		}
		at, err := execute.LookPath(name, list)
		if err != nil {
			return &execute.Error{Op: "find a program of this machine", Err: err,
				Remedy: "install it; or name a program of a toolchain or an input by its path, such as \"${toolchain.llvm.dir}/bin/clang\""}
		}
		e, err := w.host(ctx, action.HostPath{Path: at})
		if err != nil {
			return &execute.Error{Op: "read the program " + at, Err: err}
		}
		w.notes.shadows(at, name, list)
		a.Command.Platform[action.PropertyProgram+name] = e.File.Digest.String()
		u.programs = append(u.programs, at)
	}
	if u.spec.Depfile == "" || a.DoNotCache && w.o.Fresh {
		return nil
	}
	r, err := w.reads(ctx, u, a, root)
	if err == nil {
		a.Reads = r
	}
	return err
}

// hostPrograms are the programs of this machine that the unit's command starts, by name or absolute path. What else they
// start in turn is anyone's guess.
func hostPrograms(u *unit) []string {
	var names []string
	s := u.spec
	where := s.Platform[action.PropertyExecutor]
	if where != "" && where != "local" || len(s.Args) == 0 {
		return nil // the names are those of another machine's programs
	}
	if name := s.Args[0]; s.Platform[action.PropertyTool] == "" && (!strings.Contains(name, "/") || filepath.IsAbs(name)) {
		names = append(names, name)
	}
	return append(names, s.Programs...)
}

// executable refuses a program of the workspace that cannot be started, before anything tries to.
func (w *worker) executable(ctx context.Context, u *unit, root *tree.Dir) error {
	if len(u.spec.Args) == 0 || !strings.Contains(u.spec.Args[0], "/") {
		return nil
	}
	name := path.Clean(u.spec.Args[0])
	for _, in := range u.spec.Inputs {
		if in.Path != name || in.Host == nil {
			continue
		}
		e, err := root.Lookup(ctx, w.store, name)
		switch {
		case err != nil:
			return err
		case e.Dir != nil, e.File != nil && !e.File.Executable:
			return &InputError{Path: in.Host.Path, NotProgram: true}
		}
	}
	return nil
}
