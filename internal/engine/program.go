package engine

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
)

// program is a program of this machine that actions start.
type program struct {
	sync.Once
	at     string // where it is
	digest string // of the file
	err    error
}

// program finds and reads a program of this machine, once for each name of a build.
func (w *worker) program(ctx context.Context, name, list string) *program {
	known, _ := w.programs.LoadOrStore(name+"\x00"+list, &program{})
	p := known.(*program)
	p.Do(func() {
		if p.at, p.err = execute.LookPath(name, list); p.err != nil {
			p.err = &execute.Error{Op: "find a program of this machine", Err: p.err,
				Remedy: "install it; or name a program of a toolchain or an input by its path, such as " +
					"\"${toolchain.llvm.dir}/bin/clang\""}
			return
		}
		e, err := w.host(ctx, action.HostPath{Path: p.at})
		if err != nil {
			p.err = &execute.Error{Op: "read the program " + p.at, Err: err}
			return
		}
		w.inputs.shadows(p.at, name, list)
		p.digest = e.File.Digest.String()
	})
	return p
}

// complete gives the unit's action what is known only now that its inputs are: the digests of the programs of the
// host that it starts, whose effects it has, and how it is remembered. root is its exec root, and entries are its
// inputs.
func (w *worker) complete(ctx context.Context, u *unit, a *action.Action, root *merkle.Dir,
	entries []merkle.Entry) error {
	if err := w.executable(ctx, u, root); err != nil {
		return err
	}
	for _, name := range hostPrograms(u) {
		list := "" // as executors look for argv[0]
		if name != u.spec.Args[0] {
			list = u.spec.Env["PATH"]
		}
		p := w.program(ctx, name, list)
		if p.err != nil {
			return p.err
		}
		a.Command.Platform[action.PropertyProgram+name] = p.digest
	}
	if u.instance.plan.Cache == plan.CacheInputs {
		a.Command.Platform[action.PropertyEffects] = w.last.name(u)
	}
	if u.spec.Depfile == "" || a.DoNotCache && w.fresh(u) {
		return nil
	}
	r, err := w.reads(ctx, u, a, root, entries)
	if err == nil {
		a.Reads = r
	}
	return err
}

// hostPrograms are the programs of this machine that the unit's command starts, by name or absolute path. What else
// they start in turn is anyone's guess.
func hostPrograms(u *unit) []string {
	var names []string
	s := u.spec
	where := s.Platform[action.PropertyExecutor]
	if where != "" && where != action.ExecutorLocal || len(s.Args) == 0 {
		return nil // the names are those of another machine's programs
	}
	if name := s.Args[0]; s.Platform[action.PropertyTool] == "" &&
		(!strings.Contains(name, "/") || filepath.IsAbs(name)) {
		names = append(names, name)
	}
	return append(names, s.Programs...)
}

// executable refuses a program of the workspace that cannot be started, before anything tries to.
func (w *worker) executable(ctx context.Context, u *unit, root *merkle.Dir) error {
	if len(u.spec.Args) == 0 || !strings.Contains(u.spec.Args[0], "/") {
		return nil
	}
	name := path.Clean(u.spec.Args[0])
	for _, in := range u.spec.Inputs {
		if in.Path != name || in.Host == nil {
			continue
		}
		e, err := root.Lookup(ctx, w.blobs, name)
		switch {
		case err != nil:
			return err
		case e.Dir != nil, e.File != nil && !e.File.Executable:
			return &InputError{Path: in.Host.Path, NotProgram: true}
		}
	}
	return nil
}
