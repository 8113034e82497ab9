package executetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
)

// Call is one run of a command of Fake.
type Call struct {
	Args   []string
	Env    map[string]string
	Inputs map[string]string // content by slash path; a tree's symlinks are left out

	Outputs        map[string]string // what to write: content by slash path, also below an output that is a folder
	Stdout, Stderr bytes.Buffer
}

// Fake is an Executor that runs Go functions in place of programs.
type Fake struct {
	Store store.Blobs
	Fn    digest.Function
	// Commands are found by argv[0]. They return an exit code, or an error for what keeps them from running.
	Commands map[string]func(ctx context.Context, c *Call) (int, error)

	mu  sync.Mutex
	ran [][]string
}

// Ran returns the arguments of all commands that were started, in order.
func (f *Fake) Ran() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([][]string(nil), f.ran...)
}

// Execute implements execute.Executor.
func (f *Fake) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	if len(a.Command.Args) == 0 {
		return nil, &execute.Error{Op: "start a command", Err: errors.New("it has no arguments")}
	}
	name := a.Command.Args[0]
	command, ok := f.Commands[name]
	if !ok {
		return nil, &execute.Error{Op: "start " + name, Err: fs.ErrNotExist}
	}
	c := &Call{Args: a.Command.Args, Env: a.Command.Env, Inputs: map[string]string{}, Outputs: map[string]string{}}
	root, err := merkle.Load(ctx, execute.Inputs(f.Store, a.Action), a.InputRoot)
	if err != nil {
		return nil, &execute.Error{Op: "read the inputs", Err: err}
	}
	err = root.Walk(func(p string, e merkle.Entry) error {
		if e.File == nil {
			return nil
		}
		r, err := f.Store.Open(ctx, e.File.Digest)
		if err != nil {
			return err
		}
		defer r.Close()
		b, err := io.ReadAll(r)
		c.Inputs[p] = string(b)
		return err
	})
	if err != nil {
		return nil, &execute.Error{Op: "read the inputs", Err: err}
	}
	f.mu.Lock()
	f.ran = append(f.ran, a.Command.Args)
	f.mu.Unlock()
	start := time.Now()
	code, err := command(ctx, c)
	if err != nil {
		return nil, err
	}
	r := &action.Result{ExitCode: code, Stdout: c.Stdout.Bytes(), Stderr: c.Stderr.Bytes(), Worker: "fake",
		Duration: time.Since(start)}
	for _, out := range a.Command.Outputs {
		if err := f.output(ctx, r, out, c.Outputs); err != nil {
			return nil, &execute.Error{Op: "store the outputs", Err: err}
		}
	}
	return r, nil
}

// output stores the output at path p, a file or a folder, if it was written.
func (f *Fake) output(ctx context.Context, r *action.Result, p string, written map[string]string) error {
	if content, ok := written[p]; ok {
		d := f.Fn.Bytes([]byte(content))
		r.Files = append(r.Files, action.OutputFile{Path: p, Digest: d})
		return f.Store.Put(ctx, d, strings.NewReader(content))
	}
	dir := &merkle.Dir{}
	for name, content := range written {
		sub, ok := strings.CutPrefix(name, p+"/")
		if !ok {
			continue
		}
		d := f.Fn.Bytes([]byte(content))
		err := errors.Join(f.Store.Put(ctx, d, strings.NewReader(content)),
			dir.Insert(ctx, nil, sub, merkle.File{Digest: d}))
		if err != nil {
			return err
		}
	}
	if len(dir.Files)+len(dir.Dirs) == 0 {
		return nil
	}
	message, err := dir.EncodeTree(f.Fn)
	if err != nil {
		return err
	}
	d := action.OutputDir{Path: p, Tree: f.Fn.Bytes(message)}
	if err := f.Store.Put(ctx, d.Tree, bytes.NewReader(message)); err != nil {
		return err
	}
	if d.Root, err = dir.Put(ctx, f.Store, f.Fn); err != nil {
		return err
	}
	r.Dirs = append(r.Dirs, d)
	return nil
}

// ProcessAlive tells whether a process of this machine has the text in its command line. It needs Linux's /proc.
func ProcessAlive(text string) (bool, error) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err == nil && len(lines) == 0 {
		err = errors.New("processes cannot be listed: is /proc mounted?")
	}
	for _, p := range lines {
		if b, err := os.ReadFile(p); err == nil && bytes.Contains(b, []byte(text)) {
			return true, nil
		}
	}
	return false, err
}
