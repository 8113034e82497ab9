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
)

// program is a program of this machine that actions run.
type program struct {
	sync.Once
	at     string // its path
	digest string // of the file
	err    error
}

// program finds and hashes a program of this machine, once a build for each name.
func (w *worker) program(ctx context.Context, name, list string) *program {
	known, _ := w.programs.LoadOrStore(name+"\x00"+list, &program{})
	p := known.(*program)
	p.Do(func() {
		if p.at, p.err = execute.LookPath(name, list); p.err != nil {
			p.err = &execute.Error{Op: "start " + name, Err: p.err,
				Remedy: "install the program, or use the path of a program in a toolchain or an input, such as " +
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

// complete adds to the unit's action the parts that depend on its inputs: digests of the host programs it runs, its
// side effects, and its cache mode. root is its exec root, and entries are its inputs.
func (w *worker) complete(ctx context.Context, u *unit, a *action.Action, root *merkle.Dir,
	entries []merkle.Entry) error {
	if err := w.executable(ctx, u, root); err != nil {
		return err
	}
	for _, name := range hostPrograms(u) {
		list := "" // the search path that executors use for argv[0]
		if name != u.spec.Args[0] {
			list = u.spec.Env["PATH"]
		}
		p := w.program(ctx, name, list)
		if p.err != nil {
			return p.err
		}
		a.Command.Platform[action.PropertyProgram+name] = p.digest
	}
	if u.instance.plan.SideEffects {
		a.Command.Platform[action.PropertyEffects] = w.last.name(u)
	}
	if u.spec.Depfile == "" {
		return nil
	}
	r, err := w.reads(ctx, u, a, root, entries)
	if err == nil {
		a.Reads = r
	}
	return err
}

// hostPrograms returns the host programs that the unit's command starts, by name or absolute path. It cannot know which
// programs these start in turn.
func hostPrograms(u *unit) []string {
	var names []string
	s := u.spec
	where := s.Platform[action.PropertyExecutor]
	if where != "" && where != action.ExecutorLocal || len(s.Args) == 0 {
		return nil // the names refer to another machine
	}
	if name := s.Args[0]; s.Platform[action.PropertyTool] == "" &&
		(!strings.Contains(name, "/") || filepath.IsAbs(name)) {
		names = append(names, name)
	}
	return append(names, s.Programs...)
}

// executable rejects a workspace program that is not executable, before an executor tries it.
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
