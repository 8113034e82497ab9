package bench

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/store"
)

// floorRoot is where one action at a time runs that sees its inputs and nothing else, and can change nothing but what
// it makes: a folder, and a thread that is kept to it by the kernel. Inputs are copies, as the action may write
// beside them; many are hard links.
type floorRoot struct {
	dir    string
	thread *sandbox.Worker
	ready  map[string]bool // folders and programs that stand there
}

const manyInputs = 64

// isolate makes as many roots as there are jobs.
func (f *floorRun) isolate(jobs int) error {
	base, err := sandbox.Open()
	if err != nil {
		return err
	}
	f.roots = make(chan *floorRoot, jobs)
	for range jobs {
		dir, err := os.MkdirTemp("new", "root")
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return err
		}
		rules, err := base.Ruleset(sandbox.Access{Read: []string{dir}, Write: []string{dir}, Own: dir, Shared: store.MayBeLink})
		if err != nil {
			return err
		}
		thread, err := sandbox.NewWorker(rules, false, nil)
		rules.Close()
		if err != nil {
			return err
		}
		f.roots <- &floorRoot{dir, thread, map[string]bool{}}
	}
	return nil
}

// apart runs an action in a root, moves what it made to a place in the store, and takes its inputs away again. argv
// has the program, the output and where the inputs are.
func (f *floorRun) apart(argv []string, numbers []int, to string) (sum digest.Digest, err error) {
	r := <-f.roots
	defer func() { f.roots <- r }()
	run := []string{argv[0], "o"}
	if err := r.put(argv[0], argv[0], copyTo); err != nil {
		return sum, err
	}
	put := copyTo
	if len(numbers) > manyInputs {
		put = os.Link
	}
	for k, i := range numbers[2:] {
		run = append(run, f.names[i])
		if err := r.put(argv[2+k], f.names[i], put); err != nil {
			return sum, err
		}
	}
	r.thread.Do(func() { sum, err = f.start(r.dir, run) })
	if err == nil {
		err = os.Rename(filepath.Join(r.dir, "o"), to)
	}
	for _, name := range run[2:] {
		err = errors.Join(err, os.Remove(filepath.Join(r.dir, name)))
	}
	return sum, err
}

// put has a file stand at a name. A program stays.
func (r *floorRoot) put(from, name string, put func(from, to string) error) error {
	if r.ready[name] {
		return nil
	}
	if dir := filepath.Dir(name); !r.ready[dir] {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o755); err != nil {
			return err
		}
		r.ready[dir] = true
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	to := filepath.Join(r.dir, name)
	if r.ready[name] = info.Mode()&0o111 != 0; r.ready[name] {
		return atomicfile.WriteProgram(func() error { return put(from, to) })
	}
	return put(from, to)
}

// copyTo makes a new file with the content and the mode of another.
func copyTo(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return errors.Join(err, t.Close())
}
