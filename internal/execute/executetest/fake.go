package executetest

import (
	"bytes"
	"context"
	"errors"
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

// Command simulates a command. It adds outputs to the map, and returns the exit code, or an error if the command could
// not run. The map contains the content of each file by slash path, including files in output folders.
type Command func(ctx context.Context, outputs map[string]string) (int, error)

// Fake is an Executor that runs Go functions instead of programs.
type Fake struct {
	Store    store.Blobs
	Fn       digest.Function
	Commands map[string]Command // by argv[0]

	mu  sync.Mutex
	ran []string
}

// Ran returns the names of all commands that started, in order.
func (f *Fake) Ran() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.ran...)
}

// Execute implements execute.Executor.
func (f *Fake) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	name := a.Command.Args[0]
	command, ok := f.Commands[name]
	if !ok {
		return nil, &execute.Error{Op: "start " + name, Err: fs.ErrNotExist}
	}
	f.mu.Lock()
	f.ran = append(f.ran, name)
	f.mu.Unlock()
	start, written := time.Now(), map[string]string{}
	code, err := command(ctx, written)
	if err != nil {
		return nil, err
	}
	r := &action.Result{ExitCode: code, Worker: "fake", Duration: time.Since(start)}
	for _, out := range a.Command.Outputs {
		if err := f.output(ctx, r, out, written); err != nil {
			return nil, &execute.Error{Op: "store the outputs", Err: err}
		}
	}
	return r, nil
}

// output stores the output at path p, a file or a folder, if it was written.
func (f *Fake) output(ctx context.Context, r *action.Result, p string, written map[string]string) error {
	dir := &merkle.Dir{}
	for name, content := range written {
		sub, ok := strings.CutPrefix(name, p+"/")
		if name != p && !ok {
			continue
		}
		d := f.Fn.Bytes([]byte(content))
		if err := f.Store.Put(ctx, d, strings.NewReader(content)); err != nil {
			return err
		}
		if name == p {
			r.Files = append(r.Files, action.OutputFile{Path: p, Digest: d})
			return nil
		}
		if err := dir.Insert(ctx, nil, sub, merkle.File{Digest: d}); err != nil {
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
	d.Root, err = dir.Put(ctx, f.Store, f.Fn)
	r.Dirs = append(r.Dirs, d)
	return err
}

// ProcessAlive reports whether this machine runs a process whose command line contains the text. It works only on
// Linux, because it reads /proc.
func ProcessAlive(text string) (bool, error) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err == nil && len(lines) == 0 {
		err = errors.New("cannot list processes; mount /proc")
	}
	for _, p := range lines {
		if b, err := os.ReadFile(p); err == nil && bytes.Contains(b, []byte(text)) {
			return true, nil
		}
	}
	return false, err
}
