package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/debug"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/simulated/phone"
)

// debugCmd is `hexmage device debug PIPELINE [STEP]`.
type debugCmd struct {
	Pipeline string `arg:"" help:"Pipeline: the name of a file in pipelines/ (without .hcl) or of a folder in pipelines/."`
	Step     string `arg:"" optional:"" help:"Debug this step of kind run. Write the step as run.NAME, and a step of a module as module.MODULE.run.NAME. Default: the only step of kind run."`
	Port     int    `placeholder:"N" help:"Wait for the debugger on port N of this machine. Default: a free port."`
	Serial   string `short:"s" placeholder:"SERIAL" help:"Use this device. SERIAL is a serial from 'hexmage device list', a name from devices.hcl, HOST:PORT, or ssh://USER@HOST for a Linux board. Default: the device that the pipeline names."`
}

// Help returns the examples of `hexmage device debug --help`.
func (*debugCmd) Help() string {
	return `Builds the inputs of the step, copies them to the device, and starts the program of the step. The program
stops before its first instruction. hexmage prints an LLDB command, which you run in another terminal to debug the
program. Then hexmage waits until the program ends or you press Ctrl-C.

On a real phone, LLDB connects to the NDK's lldb-server. On the simulated phone, LLDB connects to qemu. See
docs/debug.md.

Examples:

    hexmage device debug qwen3-aot-v79                                   debug on the device of the default profile
    hexmage device debug qwen3-aot-v79 --port 5039                       debug, with port 5039 for LLDB
    hexmage device debug qwen3-aot-v79 --json                            print JSON for an editor
    hexmage device debug qwen3-aot-v79 --profile device -s R5CXC1AAAAA   debug on a phone`
}

// Run debugs a program on a device.
func (c *debugCmd) Run(ctx context.Context, a *app) error {
	s := &debugging{c: c, a: a}
	if c.Port < 0 || c.Port > 65535 {
		return usageError("invalid --port %d; use a number from 1 to 65535", c.Port)
	}
	a.Serial = c.Serial
	if err := s.choose(); err != nil {
		return err
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return err
	}
	defer e.close(false)
	s.engine = e
	if err := s.build(ctx); err != nil {
		return err
	}
	if n := s.ndk(); n != nil {
		root, err := s.tree(ctx, n.Output("dir"))
		if err != nil {
			return err
		}
		s.lldb, s.server = debug.InNDK(root)
	}
	s.lldb = cmp.Or(s.lldb, "lldb")
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return s.run(ctx)
}

// debugging is the state of one `hexmage device debug`.
type debugging struct {
	c      *debugCmd
	a      *app
	plan   *planned       // of the step and its inputs
	step   *plan.Instance // the run step
	engine *engineParts
	roots  map[addrs.Output]digest.Digest // built trees

	request *execute.Request // the step's program on the device
	store   store.Blobs      // contains the request's inputs
	target  debug.Target
	lldb    string // the command
	server  string // lldb-server for a phone, or ""
}

// choose finds the run step.
func (s *debugging) choose() error {
	at, key := addrs.CutKey(s.c.Step)
	var steps []string
	if at != "" {
		steps = []string{at}
	}
	p, err := s.a.plan(s.c.Pipeline, steps)
	if err != nil {
		return err
	}
	var found []*plan.Instance
	var names []string
	step, _ := addrs.ParseStep(at) // a.plan has rejected invalid addresses
	for _, n := range p.Instances {
		if n.At.Kind == kindRun && (s.c.Step == "" || s.c.Step == n.At.Short() || key == "" && step.Covers(n.At.Step)) {
			found, names = append(found, n), append(names, n.At.Short())
		}
	}
	switch {
	case len(found) == 0 && s.c.Step != "":
		return usageError("%s is not a step of kind run; `hexmage show %s` lists the steps", s.c.Step, s.c.Pipeline)
	case len(found) == 0:
		return usageError("pipeline %s lacks a `run` step in this profile; add one, or choose another profile with "+
			"--profile", s.c.Pipeline)
	case len(found) > 1:
		return usageError("pipeline %s has several run steps; choose one of %s",
			s.c.Pipeline, strings.Join(names, ", "))
	}
	s.step = found[0]
	if s.plan, err = p.Select(s.step.At.Step); err != nil {
		return engineError(err)
	}
	return s.a.runnable(s.plan, "the step")
}

// kindRun is the kind of steps that start a program on a device.
const kindRun = "run"

// maker is a step whose output is pushed.
type maker struct {
	of   *plan.Instance
	path string // in the run's folder
}

// makers returns the steps whose outputs are pushed.
func (s *debugging) makers() (all []maker) {
	for _, spec := range s.step.Specs {
		for _, in := range spec.Inputs {
			at, pushed := strings.CutPrefix(in.Path+"/", runner.PushDir+"/")
			if !pushed || in.Artifact == nil {
				continue
			}
			if n := s.plan.Instance(in.Artifact.Instance); n != nil && n.At.Kind != addrs.Toolchain {
				all = append(all, maker{n, path.Clean(at)})
			}
		}
	}
	return all
}

// symbols is the output of a step with its unstripped programs.
const symbols = "symbols"

// trees returns the folders with symbols, sources and the NDK.
func (s *debugging) trees() (all []addrs.Output) {
	add := func(n *plan.Instance, output string) {
		if n != nil && n.Classes[output] == action.Tree && installedAt(n) == "" &&
			!slices.Contains(all, n.Output(output)) {
			all = append(all, n.Output(output))
		}
	}
	add(s.ndk(), "dir")
	for _, m := range s.makers() {
		add(m.of, symbols)
		for _, spec := range m.of.Specs {
			for _, in := range spec.Inputs {
				if in.Artifact != nil {
					add(s.plan.Instance(in.Artifact.Instance), in.Artifact.Name)
				}
			}
		}
	}
	return all
}

// ndk returns the pipeline's NDK, or nil.
func (s *debugging) ndk() *plan.Instance {
	for _, n := range toolchainInstances(s.plan.Plan) {
		if n.At.Name == "ndk" {
			return n
		}
	}
	return nil
}

// build builds the inputs of the step.
func (s *debugging) build(ctx context.Context) error {
	var needs []addrs.Step
	for _, at := range s.step.Needs() {
		needs = append(needs, at.Step)
	}
	if len(needs) == 0 {
		return nil
	}
	p, err := s.plan.Select(needs...)
	if err != nil {
		return engineError(err)
	}
	res, err := s.a.buildRoots(ctx, s.engine, p, s.trees(), true)
	s.roots = res.Roots
	return err
}

// tree returns the folder of an output, or "".
func (s *debugging) tree(ctx context.Context, o addrs.Output) (string, error) {
	if n := s.plan.Instance(o.Instance); n != nil && installedAt(n) != "" {
		return installedAt(n), nil
	}
	root, ok := s.roots[o]
	if !ok {
		return "", nil
	}
	dir, err := s.engine.Trees.Path(ctx, s.engine.Blobs, root)
	if err != nil {
		return "", engineError(err)
	}
	return dir, nil
}

// prepare makes the step's action, and lays out its programs with their symbols.
func (s *debugging) prepare(ctx context.Context) error {
	o := s.engine.options()
	s.plan.extend(&o)
	seen, err := engine.Preview(ctx, s.plan.Plan, o, func(step, _ string) bool { return step == s.step.At.Short() })
	if err != nil {
		return engineError(err)
	}
	for _, v := range seen.Actions {
		if v.Instance.At != s.step.At || v.Spec == nil || v.Spec.Platform[action.PropertyExecutor] != runner.Executor {
			continue
		}
		if v.Err != nil {
			return engineError(fmt.Errorf("%s: %w", s.step.At.Short(), v.Err))
		}
		if v.Action == nil {
			return usageError("%s needs the result of %s, which hexmage does not keep; remove cache = false from %[2]s",
				s.step.At.Short(), strings.Join(v.Waits, ", "))
		}
		s.step, s.store = v.Instance, seen.Store
		s.request = &execute.Request{Action: v.Action, Step: s.step.At.Short(), Name: v.Spec.Name}
		break // the first of several runs
	}
	if s.request == nil {
		return engineError(fmt.Errorf("step %s does not start a program on a device; choose another "+
			"step", s.step.At.Short()))
	}
	return s.programs(ctx)
}

// programs lays out the pushed programs and libraries, with their symbols if a step has them.
func (s *debugging) programs(ctx context.Context) error {
	dir, err := os.MkdirTemp(s.engine.Scratch, "debug")
	if err != nil {
		return engineError(err)
	}
	s.target.Folder = dir
	found, err := s.pushed(ctx, dir)
	if err != nil {
		return err
	}
	with, err := s.withSymbols(ctx)
	if err != nil {
		return err
	}
	for at, p := range found {
		i := slices.IndexFunc(with, func(other *debug.Program) bool { return other.Info && other.SameCode(p) })
		if i < 0 {
			continue
		}
		found[at] = with[i]
		if err := errors.Join(os.Remove(p.Path), os.Symlink(with[i].Path, p.Path)); err != nil {
			return engineError(err)
		}
	}
	name := path.Clean(s.request.Command.Args[0])
	if found[name] == nil {
		return usageError("step %s: program %s is not among the pushed files; begin argv with a pushed program",
			s.step.At.Short(), s.request.Command.Args[0])
	}
	for _, at := range slices.Sorted(maps.Keys(found)) {
		if here := filepath.Join(dir, filepath.FromSlash(at)); at == name {
			s.target.Program = here
		} else {
			s.target.Libraries = append(s.target.Libraries, here)
		}
	}
	s.warn(name, found)
	return s.sources(ctx, found)
}

// pushed writes the pushed programs and libraries to the folder, and returns them by their paths in the run's folder.
func (s *debugging) pushed(ctx context.Context, dir string) (map[string]*debug.Program, error) {
	found := map[string]*debug.Program{}
	sub, err := merkle.Ref(s.request.InputRoot).Sub(ctx, s.store, runner.PushDir)
	if errors.Is(err, merkle.ErrNotExist) {
		return found, nil
	}
	if err == nil {
		if root, ok := sub.Ref(); ok {
			sub, err = merkle.Load(ctx, s.store, root)
		}
	}
	if err == nil {
		err = sub.Walk(func(at string, e merkle.Entry) error {
			if e.File == nil {
				return nil
			}
			r, err := s.store.Open(ctx, e.File.Digest)
			if err != nil {
				return err
			}
			head := make([]byte, 20)
			_, err = io.ReadFull(r, head)
			r.Close()
			if err != nil || !debug.IsProgram(head) {
				return nil
			}
			to := filepath.Join(dir, filepath.FromSlash(at))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := store.Link(ctx, s.store, e.File.Digest, to, e.File.Executable); err != nil {
				return err
			}
			p, err := debug.Read(to)
			if p != nil {
				found[at] = p
			}
			return err
		})
	}
	if err != nil {
		return nil, engineError(fmt.Errorf("list the files that step %s pushes: %w", s.step.At.Short(), err))
	}
	return found, nil
}

// withSymbols returns the programs and libraries of the outputs with symbols.
func (s *debugging) withSymbols(ctx context.Context) (all []*debug.Program, err error) {
	for _, m := range s.makers() {
		dir, err := s.tree(ctx, m.of.Output(symbols))
		if err != nil {
			return nil, err
		}
		if dir == "" {
			continue
		}
		err = filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			p, err := debug.Read(at)
			if p != nil {
				all = append(all, p)
			}
			return err
		})
		if err != nil {
			return nil, engineError(fmt.Errorf("%s: %w", m.of.Output(symbols), err))
		}
	}
	return all, nil
}

// warn reports a program without debug information.
func (s *debugging) warn(name string, found map[string]*debug.Program) {
	for _, p := range found {
		if p.Info {
			return
		}
	}
	s.a.say("%s has no debug information, so LLDB shows functions, but no lines or variables. Compile the program "+
		"with -g. If the step strips the program, add an output %q with the unstripped files (docs/debug.md)",
		name, symbols)
}

// sources finds the sources of the programs.
func (s *debugging) sources(ctx context.Context, found map[string]*debug.Program) error {
	for _, m := range s.makers() {
		var folders []string
		for at, p := range found {
			if p.Info && (at == m.path || strings.HasPrefix(at, m.path+"/") || m.path == ".") {
				folders = append(folders, p.Folders...)
			}
		}
		inputs := map[string]string{}
		for _, spec := range m.of.Specs {
			for _, in := range spec.Inputs {
				switch {
				case len(folders) == 0 || inputs[in.Path] != "":
				case in.Host != nil:
					inputs[in.Path] = absolute(s.a.here(), filepath.FromSlash(in.Host.Path))
				case in.Artifact != nil:
					dir, err := s.tree(ctx, *in.Artifact)
					if err != nil {
						return err
					}
					if dir != "" {
						inputs[in.Path] = filepath.Join(dir, filepath.FromSlash(in.Sub))
					}
				}
			}
		}
		maps.DeleteFunc(inputs, func(_, here string) bool { _, err := os.Stat(here); return err != nil })
		for _, m := range debug.Sources(folders, inputs) {
			if !slices.Contains(s.target.Sources, m) {
				s.target.Sources = append(s.target.Sources, m)
			}
		}
	}
	return nil
}

// run starts the program on a device.
func (s *debugging) run(ctx context.Context) error {
	o := s.engine.devices
	o.Store = s.store
	device := runner.New(o)
	defer device.Close()
	isData(s.a.Env.Stderr) // of the program
	bar := s.a.progressLine(s.a.Live, 0)
	s.request.Progress = func(done, total int64, text string) { bar.bytes(text+" ")(done, total) }
	err := device.Debug(ctx, s.request, runner.Debugging{
		Server: s.serverOn, Port: s.c.Port, Output: s.a.Env.Stderr,
		With: func(ctx context.Context, at runner.Stopped) error {
			bar.end()
			return s.print(ctx, at)
		},
	})
	bar.end()
	var exit *exitError
	if refused := (*execute.Error)(nil); errors.As(err, &refused) {
		if refused.Remedy != "" {
			err = fmt.Errorf("%w\nto do: %s", err, refused.Remedy)
		}
		if refused.Refused {
			return &exitError{Code: ExitFailed, Err: err}
		}
	}
	if err == nil || errors.As(err, &exit) {
		return err
	}
	return engineError(err)
}

// serverOn returns the debug server of the device.
func (s *debugging) serverOn(i devinfo.Info) (session.Server, error) {
	if i.Simulated {
		return session.Server{Env: phone.DebugStub(session.DebugSocket)}, nil
	}
	if s.server == "" {
		return session.Server{}, errors.New("lldb-server for AArch64 is missing; declare toolchain \"ndk\" in the " +
			"pipeline, or use --profile device")
	}
	st, err := os.Stat(s.server)
	if err != nil {
		return session.Server{}, err
	}
	return session.LLDBServer(push.File{Open: func() (io.ReadCloser, error) { return os.Open(s.server) },
		Size: st.Size()}), nil
}

// stopped describes a stopped program for debuggers, as --json prints it.
type stopped struct {
	Device    string          `json:"device"`
	Address   string          `json:"address"`
	Program   string          `json:"program"` // path of the program with its symbols
	SourceMap []debug.Mapping `json:"source_map"`
	Commands  []string        `json:"commands"` // commands for LLDB
	LLDB      []string        `json:"lldb"`     // LLDB's command line, which runs Commands
}

// print explains how to connect, and waits until the program or the user ends the session.
func (s *debugging) print(ctx context.Context, at runner.Stopped) error {
	commands := s.target.Commands(at.Address)
	argv := debug.Argv(s.lldb, commands)
	text := fmt.Sprintf("device     %s\naddress    %s\nprogram    %s\n", at.Device, at.Address, s.target.Program)
	for _, m := range s.target.Sources {
		text += fmt.Sprintf("sources    %s is %s\n", m.From, m.To)
	}
	text += fmt.Sprintf("lldb       %s\nend        Ctrl-C, or the end of the program\n", action.Quote(argv))
	if err := s.a.show(stopped{at.Device.String(), at.Address, s.target.Program, s.target.Sources, commands, argv},
		"%s", text); err != nil {
		return err
	}
	defer s.a.interrupts.notify(nil)() // one Ctrl-C ends it
	select {
	case <-ctx.Done():
	case <-at.Ended:
	}
	return nil
}
